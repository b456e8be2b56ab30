package queue

import (
	"context"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// selectAhead reads the reply rows of a contact that are still to go out.
const selectAhead = `
SELECT ` + Columns + ` FROM outbox
WHERE conversation_id = $1 AND kind = 'reply' AND status IN ('pending', 'delivering')
  AND EXISTS (SELECT 1 FROM turns t WHERE t.id = outbox.turn_id AND t.bound = 1)
ORDER BY seq, part`

const carryRow = `
UPDATE outbox SET status = 'delivering', owner = $2, attempts = attempts + 1
WHERE id = $1 AND status = 'pending'`

// carriedRow takes the status: pending for a row whose actions are still to be performed.
const carriedRow = `
UPDATE outbox SET status = $3, owner = NULL, sent = $4, unknown = 0, last_error = '', next_attempt_at = $5, delivered_at = $6
WHERE id = $1 AND status = 'delivering' AND owner = $2`

const keepSaid = `
UPDATE outbox SET payload = $3 WHERE id = $1 AND status = 'delivering' AND owner = $2`

const uncarryRows = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1
WHERE conversation_id = $1 AND kind = 'reply' AND status IN ('pending', 'delivering') AND status = 'delivering' AND owner = $2`

// carrier owns the rows that a turn's response carries.
func carrier(turnID string) string { return "response/" + turnID }

// Ahead are the reply rows of a conversation that are pending or delivering, in the
// contact's order, without those of unbound turns.
func (q *Outbox) Ahead(ctx context.Context, conversationID string) ([]outbox.Row, error) {
	found, err := q.db.Read().QueryContext(ctx, selectAhead, conversationID)
	rows, err := database.Collect(found, err, Scan)
	return rows, sqlitefile.Explain(err)
}

// Carry takes the rows that a settlement carries, which must be all that are still to go out
// to the contact, as they were when that was planned; else [turn.ErrQueuedAhead].
func Carry(tx *groupcommit.Tx, s turn.Settlement) error {
	found, err := tx.Query(selectAhead, s.Turn.ConversationID)
	ahead, err := database.Collect(found, err, Scan)
	if err != nil {
		return err
	}
	planned := slices.EqualFunc(ahead, s.Carried, func(r outbox.Row, c turn.Carried) bool {
		return r.ID == c.ID && r.Payload.Sent == c.Sent && r.Status == outbox.Pending
	})
	if !planned {
		return turn.ErrQueuedAhead
	}
	for _, c := range s.Carried {
		if _, err := tx.Exec(carryRow, c.ID, carrier(s.Turn.ID)); err != nil {
			return err
		}
	}
	return nil
}

// Carried notes that the rows which a response carried went out with it. Those whose actions
// follow keep when that was.
func Carried(tx *groupcommit.Tx, s turn.Stamp) error {
	for _, c := range s.Carried {
		if c.Acts {
			row, err := Scan(tx.QueryRow(selectOutboxRow, c.ID))
			if err != nil {
				return err
			}
			row.Payload.SaidAt = s.At
			if _, err := tx.Exec(keepSaid, c.ID, carrier(s.TurnID), acts.Payload(row.Payload)); err != nil {
				return err
			}
		}
		status, delivered := outbox.Delivered, s.At
		if c.Acts {
			status, delivered = outbox.Pending, time.Time{}
		}
		_, err := tx.Exec(carriedRow, c.ID, carrier(s.TurnID), string(status), c.Texts, column.Micros(s.At), column.Micros(delivered))
		if err != nil {
			return err
		}
	}
	return nil
}

// Uncarry gives back what the response of a turn should have carried, which was not written.
func Uncarry(tx *groupcommit.Tx, conversationID, turnID string) error {
	_, err := tx.Exec(uncarryRows, conversationID, carrier(turnID))
	return err
}
