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
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// conversationColumns are what scanConversation reads.
const conversationColumns = `id, tenant_id, channel, subscriber_id, last_sent_at, paused_until, offering, stage, intent, needs_person`

// enterConversation finds or makes the contact's conversation and takes two places in
// its order, the second of which it returns. It is the first statement of a record:
// whoever waits for the row here also commits after its holder, so that places are in
// commit order. A named offering moves the conversation's.
const enterConversation = `
INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, offering, created_at)
VALUES ($1, $2, $3, $4, 2, $5, $6)
ON CONFLICT (tenant_id, subscriber_id, channel) DO UPDATE
SET last_seq = conversations.last_seq + 2,
    offering = CASE WHEN excluded.offering <> '' THEN excluded.offering ELSE conversations.offering END
RETURNING last_seq, ` + conversationColumns

const selectConversationByKey = `
SELECT ` + conversationColumns + ` FROM conversations
WHERE tenant_id = $1 AND subscriber_id = $2 AND channel = $3`

const selectConversation = `
SELECT ` + conversationColumns + ` FROM conversations WHERE id = $1`

const selectLastSent = `
SELECT last_sent_at FROM conversations WHERE id = $1`

// moveLastSent does not move it back by less than the longest gap, 10 s: two texts may
// be noted out of order. More than that is a clock that was set back.
const moveLastSent = `
UPDATE conversations SET last_sent_at = $2
WHERE id = $1 AND (last_sent_at IS NULL OR last_sent_at < $2 OR last_sent_at > $2 + 10000000)`

// forgetReserved takes back what an inline turn noted as the contact's last text before
// its response was written, unless a text went out since: it was not written. What was
// there before is a gap ago at least, or the turn had not been settled inline.
const forgetReserved = `
UPDATE conversations SET last_sent_at = NULL
FROM turns t WHERE t.id = $1 AND t.conversation_id = conversations.id AND conversations.last_sent_at = t.settled_at`

const markNeedsPerson = `
UPDATE conversations SET needs_person = 1 WHERE id = $1 AND needs_person = 0`

// Conversation reads a contact's conversation. [ErrNoConversation] when there is none.
func (db *DB) Conversation(ctx context.Context, key contact.Key) (conversation.Conversation, error) {
	c, err := scanConversation(db.Read().QueryRowContext(ctx, selectConversationByKey,
		key.TenantID, string(key.SubscriberID), string(key.Channel)))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNoConversation
	}
	if err != nil {
		return conversation.Conversation{}, fmt.Errorf("read conversation: %w", sqlitefile.Explain(err))
	}
	return c, nil
}

func enter(tx *groupcommit.Tx, key contact.Key, offering string, now time.Time) (c conversation.Conversation, seq int64, err error) {
	id, err := database.NewID()
	if err != nil {
		return c, 0, err
	}
	c, err = scanConversation(tx.QueryRow(enterConversation,
		id, key.TenantID, string(key.Channel), string(key.SubscriberID), offering, column.Micros(now)), &seq)
	return c, seq, err
}

// scanConversation reads conversationColumns, after whatever columns go before them.
func scanConversation(r database.Row, before ...any) (c conversation.Conversation, err error) {
	err = r.Scan(append(before,
		&c.ID, &c.Key.TenantID, &c.Key.Channel, &c.Key.SubscriberID, column.Instant(&c.LastSentAt), column.Instant(&c.PausedUntil),
		&c.Offering, &c.Stage, &c.Intent, &c.NeedsPerson)...)
	return c, err
}
