package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/talk"
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// conversationColumns are what [talk.Scan] reads.
const conversationColumns = talk.Columns

// enterConversation finds or makes the contact's conversation and takes two places in
// its order, the second of which it returns. It is the first statement of a record:
// whoever waits for the row here also commits after its holder, so that places are in
// commit order. A person who has the contact has them on every channel, and who opted out did
// so on all of them.
const enterConversation = `
INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at, paused_until, opted_out_at)
VALUES ($1, $2, $3, $4, 2, $5, (
    SELECT max(c.paused_until) FROM conversations c WHERE c.tenant_id = $2 AND c.subscriber_id = $4 AND c.paused_from = 0), (
    SELECT max(c.opted_out_at) FROM conversations c WHERE c.tenant_id = $2 AND c.subscriber_id = $4))
ON CONFLICT (tenant_id, subscriber_id, channel) DO UPDATE
SET last_seq = conversations.last_seq + 2
RETURNING last_seq, ` + conversationColumns

// updateEntered keeps what a message changes of its conversation.
const updateEntered = `
UPDATE conversations SET history_from = $2, offering = $3, offering_chosen = $4 WHERE id = $1`

const selectConversationByKey = `
SELECT ` + conversationColumns + ` FROM conversations
WHERE tenant_id = $1 AND subscriber_id = $2 AND channel = $3`

const selectConversation = `
SELECT ` + conversationColumns + ` FROM conversations WHERE id = $1`

// holdConversation is the first statement of whatever decides about a contact where others
// write at the same time: what is read behind it cannot change until the transaction ends.
// Locks go conversation, turn, outbox.
const holdConversation = `
SELECT 1 FROM conversations WHERE id = $1 FOR NO KEY UPDATE`

const selectConversationOf = `
SELECT ` + conversationColumns + ` FROM conversations WHERE id = (SELECT conversation_id FROM turns WHERE id = $1)`

// forgetReserved takes back what an inline turn noted as the contact's last text before
// its response was written, unless a text went out since: it was not written. What was
// there before is a gap ago at least, or the turn had not been settled inline.
const forgetReserved = `
UPDATE conversations SET last_sent_at = NULL
FROM turns t WHERE t.id = $1 AND t.conversation_id = conversations.id AND conversations.last_sent_at = t.settled_at`

const moveHandoffSaid = `
UPDATE conversations SET handoff_said_at = $2 WHERE id = $1`

const moveNotified = `
UPDATE conversations SET notified_at = $2 WHERE id = $1`

// Conversation reads a contact's conversation. [ErrNoConversation] when there is none.
func (db *DB) Conversation(ctx context.Context, key contact.Key) (conversation.Conversation, error) {
	c, err := talk.Scan(db.Read().QueryRowContext(ctx, selectConversationByKey,
		key.TenantID, string(key.SubscriberID), string(key.Channel)))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoConversation
	}
	if err != nil {
		return conversation.Conversation{}, fmt.Errorf("read conversation: %w", database.Explain(err))
	}
	return c, nil
}

// entered is a conversation that a message has taken its places in.
type entered struct {
	conversation.Conversation
	seq int64 // the turn's; its message has the place before
}

// lock holds a conversation until the transaction ends, and reads it. [turn.ErrNotOwner]
// when there is none, for nobody owns its turns.
func lock(tx *groupcommit.Tx, id string) (conversation.Conversation, error) {
	if err := tx.Lock(holdConversation, id); err != nil {
		return conversation.Conversation{}, err
	}
	c, err := talk.Scan(tx.QueryRow(selectConversation, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = turn.ErrNotOwner
	}
	return c, err
}

// lockOf is the same for whoever knows only a turn of the conversation.
func lockOf(tx *groupcommit.Tx, turnID string) (conversation.Conversation, error) {
	if err := queue.LockConversation(tx, turnID); err != nil {
		return conversation.Conversation{}, err
	}
	c, err := talk.Scan(tx.QueryRow(selectConversationOf, turnID))
	if errors.Is(err, sql.ErrNoRows) {
		err = turn.ErrNotOwner
	}
	return c, err
}

func enter(tx *groupcommit.Tx, key contact.Key, now time.Time) (e entered, err error) {
	id, err := database.NewID()
	if err != nil {
		return e, err
	}
	e.Conversation, err = talk.Scan(tx.QueryRow(enterConversation,
		id, key.TenantID, string(key.Channel), string(key.SubscriberID), column.Micros(now)), &e.seq)
	return e, err
}

// judge says what a message's request proves about its contact, and keeps what that
// changes: the token's state, where history starts, and the offering that a bound
// request names. It returns the generation of the contact's tokens too.
func (e *entered) judge(tx *groupcommit.Tx, a turn.Arrival, now time.Time) (token.Arrival, int64, error) {
	arrived, generation, err := tokens.Arrive(tx, a.Key, a.Token, now)
	if err != nil {
		return arrived, 0, err
	}
	before := e.Conversation
	if arrived.Starts {
		e.HistoryFrom = e.seq - 1
	}
	if a.Offering != "" && arrived.Binding.Reads() { // an unbound request says nothing about the contact
		e.Offering, e.Chosen = a.Offering, false
	}
	if e.Conversation != before {
		_, err = tx.Exec(updateEntered, e.ID, e.HistoryFrom, e.Offering, column.Flag(e.Chosen))
	}
	return arrived, generation, err
}
