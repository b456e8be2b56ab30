package queue

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/said"
)

const selectSaid = `
SELECT replies, coalesce(outcome, '') FROM turns WHERE id = $1 AND role = 'agent'`

const selectReplyRows = `
SELECT payload, sent, status FROM outbox
WHERE turn_id = $1 AND kind = 'reply' ORDER BY part`

const updateSaid = `
UPDATE turns SET text = $2, in_history = CASE WHEN bound = 1 THEN $3 ELSE 0 END
WHERE id = $1 AND role = 'agent'`

// moveLastSent does not move it back: two texts may be noted out of order. A time later than
// now, $3, is of before the clock was set back, and is no reason to keep it.
const moveLastSent = `
UPDATE conversations SET last_sent_at = $2
WHERE id = $1 AND (last_sent_at IS NULL OR last_sent_at < $2 OR last_sent_at > $3)`

const markNeedsPerson = `
UPDATE conversations SET needs_person = 1 WHERE id = $1 AND needs_person = 0`

// forgetHandoffSaid takes back that a contact was told of a handoff when the row that
// should have told it ends without having done so.
const forgetHandoffSaid = `
UPDATE conversations SET handoff_said_at = NULL
FROM turns t WHERE t.id = $1 AND t.conversation_id = conversations.id AND conversations.handoff_said_at = t.settled_at`

// MoveLastSent notes when a text went out to the contact, at the latest now: the clock may have
// been set back since.
func MoveLastSent(tx *groupcommit.Tx, conversationID string, at, now time.Time) error {
	sent, latest := at.UnixMicro(), now.UnixMicro() // by the time of day, which is what is kept
	_, err := tx.Exec(moveLastSent, conversationID, min(sent, latest), latest)
	return err
}

// refreshSaid brings what a turn adds to history up to date after one of its rows
// entered or left a final state.
func refreshSaid(tx *groupcommit.Tx, turnID string) error {
	var replies []string
	var outcome conversation.Outcome
	if err := LockConversation(tx, turnID); err != nil {
		return err
	}
	if err := tx.QueryRow(selectSaid, turnID).Scan(column.JSON(&replies), &outcome); err != nil {
		return err
	}
	rows, err := Rows(tx, turnID)
	if err != nil {
		return err
	}
	text := said.Joined(said.Of(replies, rows))
	_, err = tx.Exec(updateSaid, turnID, text, column.Flag(text != "" && said.Remembered(outcome)))
	return err
}

// Rows reads texts, progress and status of a turn's reply rows, in order.
func Rows(tx *groupcommit.Tx, turnID string) ([]outbox.Row, error) {
	rows, err := tx.Query(selectReplyRows, turnID)
	return database.Collect(rows, err, func(r database.Row) (o outbox.Row, err error) {
		err = r.Scan(column.JSON(&o.Payload), &o.Payload.Sent, &o.Status)
		return o, err
	})
}
