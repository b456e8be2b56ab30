package queue

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const withdrawRow = `
UPDATE outbox SET status = 'discarded' WHERE id = $1 AND status = 'pending'`

// unsendNudge is of a nudge of which nothing went out.
const unsendNudge = `
UPDATE nudges SET state = 'cancelled', reason = $3 WHERE conversation_id = $1 AND state = 'sent' AND nudge_id = $2`

// selectRecalled reads what may have called off a nudge whose row was released.
const selectRecalled = `
SELECT c.last_seq > o.seq, c.paused_until, c.tag_active
FROM outbox o JOIN conversations c ON c.id = o.conversation_id WHERE o.id = $1`

// Withdraw gives up what is unsent of a conversation's nudges and in no worker's hand, with its
// actions. The caller has locked the conversation.
func Withdraw(tx *groupcommit.Tx, conversationID string, reason nudge.Reason) error {
	found, err := tx.Query(selectUnsent, conversationID)
	rows, err := database.Collect(found, err, Scan)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if r.Recallable() {
			if err := withdraw(tx, r, reason); err != nil {
				return err
			}
		}
	}
	return nil
}

// withdraw discards a row that is pending.
func withdraw(tx *groupcommit.Tx, r outbox.Row, reason nudge.Reason) error {
	changed, err := database.Affected(tx.Exec(withdrawRow, r.ID))
	if err != nil || changed == 0 {
		return err // claimed meanwhile: its worker asks before it sends
	}
	r.Status = outbox.Discarded
	if err := acts.Release(tx, r, nil); err != nil {
		return err
	}
	if err := unsaid(tx, r.TurnID); err != nil {
		return err
	}
	return unsend(tx, r, reason)
}

// unsend notes that a nudge was called off after all, unless something of it went out.
func unsend(tx *groupcommit.Tx, r outbox.Row, reason nudge.Reason) error {
	if r.Payload.Sent > 0 || r.Payload.Unknown > 0 {
		return nil
	}
	_, err := tx.Exec(unsendNudge, r.ConversationID, r.TurnID, string(reason))
	return err
}

// recall looks at a nudge's row that its worker has released. One that would be tried again is
// given up when the contact has written since: their reply would wait behind it. (Who writes at
// the same time may be missed; the row's next worker asks once more before it sends.)
func recall(tx *groupcommit.Tx, r outbox.Row, now time.Time) error {
	if !r.Recallable() || r.Status != outbox.Pending && r.Status != outbox.Discarded {
		return nil
	}
	f := nudge.Facts{Now: now, MessageAt: r.Payload.NudgeUntil.Add(-nudge.Window)}
	var c conversation.Conversation
	if err := tx.QueryRow(selectRecalled, r.ID).Scan(&f.Wrote, column.Instant(&c.PausedUntil), &c.TagActive); err != nil {
		return err
	}
	if r.Status == outbox.Pending {
		if f.Wrote {
			return Withdraw(tx, r.ConversationID, nudge.ContactReplied)
		}
		return nil
	}
	if f.Paused = c.Paused(now); c.TagActive {
		f.Tag = nudge.TagCarried
	}
	reason, off := f.CalledOff()
	if !off {
		reason = nudge.Paused // which is over by now
	}
	return unsend(tx, r, reason)
}
