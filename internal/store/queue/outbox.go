// Package queue keeps the outbox: its rows, their order and states, and what operators do to
// them. It fills [outbox.Store].
package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
)

// Columns are what Scan reads.
const Columns = `id, conversation_id, tenant_id, channel, subscriber_id, turn_id, kind, seq, part, payload, sent, unknown, acting,
    status, coalesce(reason, ''), attempts, next_attempt_at, last_error, coalesce(owner, ''), created_at, delivered_at`

// insertOutbox takes order and contact from the turn, so that a row can reach no other.
const insertOutbox = `
INSERT INTO outbox (id, turn_id, kind, part, payload, sent, status, next_attempt_at, created_at,
    tenant_id, conversation_id, channel, subscriber_id, seq)
SELECT CAST($1 AS TEXT), t.id, CAST($3 AS TEXT), CAST($4 AS BIGINT), CAST($5 AS TEXT), CAST($6 AS BIGINT), 'pending',
    CAST($7 AS BIGINT), CAST($8 AS BIGINT), t.tenant_id, t.conversation_id, c.channel, c.subscriber_id, t.seq
FROM turns t JOIN conversations c ON c.id = t.conversation_id
WHERE t.id = $2 AND t.role = 'agent'`

// selectQueued asks for any reply of the contact that is still to go out.
const selectQueued = `
SELECT EXISTS (SELECT 1 FROM outbox o JOIN turns t ON t.id = o.turn_id
    WHERE o.conversation_id = $1 AND o.kind = 'reply' AND o.status IN ('pending', 'delivering') AND t.bound = 1)`

// claimable is the condition on a pending row o, its turn t and its conversation c,
// time aside: its turn is not answering, no earlier reply of the contact is queued, and
// none at all is in hand. (A later one may be: a dead letter is sent again, and a turn
// may settle behind its successor.) The flow of a handoff notice, [outbox.FlowPart], may
// speak to the contact, and so follows the reply that it belongs to: the rows of a turn have
// one seq, which keeps PostgreSQL from reading all queued replies to find one.
const claimable = `
    o.status = 'pending' AND t.state <> 'answering' AND (o.kind <> 'reply' OR NOT EXISTS (
        SELECT 1 FROM outbox e JOIN turns u ON u.id = e.turn_id
        WHERE e.conversation_id = o.conversation_id AND e.kind = 'reply' AND e.status IN ('pending', 'delivering')
          AND (e.status = 'delivering' OR u.bound > t.bound OR u.bound = t.bound AND (e.seq, e.part) < (o.seq, o.part))))
    AND (o.kind <> 'handoff_notice' OR o.part <> 1 OR NOT EXISTS (
        SELECT 1 FROM outbox e WHERE e.turn_id = o.turn_id AND e.seq <= o.seq AND e.kind = 'reply' AND e.status IN ('pending', 'delivering')))`

const progressOutbox = `
UPDATE outbox SET sent = $3, unknown = $4, acting = $5, payload = coalesce($6, payload)
WHERE id = $1 AND owner = $2 AND status = 'delivering'
RETURNING conversation_id`

const releaseOutbox = `
UPDATE outbox SET status = $3, reason = $4, last_error = $5, attempts = $6, next_attempt_at = coalesce($7, next_attempt_at),
    delivered_at = $8, owner = NULL
WHERE id = $1 AND owner = $2 AND status = 'delivering'
RETURNING conversation_id, turn_id, payload, sent`

// selectPending is asked first: an idle worker looks every second, and nearly always there is
// nothing.
const selectPending = `
SELECT EXISTS (SELECT 1 FROM outbox WHERE status = 'pending')`

// selectNextDue looks at the soonest claimable rows only, see dueHorizon.
const selectNextDue = `
SELECT o.next_attempt_at, CASE WHEN o.kind = 'reply' THEN c.last_sent_at END FROM outbox o
JOIN turns t ON t.id = o.turn_id
JOIN conversations c ON c.id = o.conversation_id
WHERE o.kind = CAST($2 AS TEXT) AND` + claimable + `
ORDER BY o.next_attempt_at, o.seq LIMIT CAST($1 AS BIGINT)`

// dueHorizon bounds [Outbox.NextDue]: when this many of the soonest rows all wait for their
// contact's gap, a later row may be due before them, by less than a gap.
const dueHorizon = 64

// Outbox is the outbox of a database.
type Outbox struct {
	db    *database.DB
	limit flowslots.Limit
}

// In returns the outbox of a database, whose contacts are sent flows up to the limit.
func In(db *database.DB, limit flowslots.Limit) *Outbox { return &Outbox{db, limit} }

func (q *Outbox) write(ctx context.Context, fn func(tx *groupcommit.Tx) error) error {
	_, err := database.Write(ctx, q.db, func(tx *groupcommit.Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

// Progress fills [outbox.Store].
func (q *Outbox) Progress(ctx context.Context, r outbox.Row, sent time.Time) error {
	now := q.db.Now()
	err := q.write(ctx, func(tx *groupcommit.Tx) error {
		var conversationID, payload string
		if !r.Payload.SaidAt.IsZero() {
			payload = acts.Payload(r.Payload)
		}
		err := tx.QueryRow(progressOutbox, r.ID, r.Owner, r.Payload.Sent, r.Payload.Unknown,
			column.Flag(r.Payload.Acting), column.Optional(payload)).Scan(&conversationID)
		if errors.Is(err, sql.ErrNoRows) {
			return outbox.ErrNotOwner
		}
		if err != nil || sent.IsZero() {
			return err
		}
		return MoveLastSent(tx, conversationID, sent, now)
	})
	if err != nil {
		return fmt.Errorf("record progress of outbox row %s: %w", r.ID, err)
	}
	return nil
}

// Release fills [outbox.Store].
func (q *Outbox) Release(ctx context.Context, r outbox.Row, ended []action.Ended) error {
	now := q.db.Now()
	err := q.write(ctx, func(tx *groupcommit.Tx) error {
		if err := release(tx, r, ended); err != nil {
			return err
		}
		return recall(tx, r, now)
	})
	if err != nil {
		return fmt.Errorf("release outbox row %s: %w", r.ID, err)
	}
	return nil
}

func release(tx *groupcommit.Tx, r outbox.Row, ended []action.Ended) error {
	r.Payload = outbox.Payload{} // the row decides what it carried, whatever the caller believes
	err := tx.QueryRow(releaseOutbox, r.ID, r.Owner, string(r.Status), column.Optional(r.Reason), r.LastError, r.Attempts,
		column.Micros(r.NextAttemptAt), column.Micros(r.DeliveredAt)).
		Scan(&r.ConversationID, &r.TurnID, column.JSON(&r.Payload), &r.Payload.Sent)
	if errors.Is(err, sql.ErrNoRows) {
		return outbox.ErrNotOwner
	}
	if err != nil {
		return err
	}
	if r.Kind == outbox.ContactToken {
		return tokens.Release(tx, r)
	}
	if r.Counted != 0 {
		if err := flowslots.GiveBack(tx, r.Key, r.Counted); err != nil {
			return err
		}
	}
	if len(ended) > 0 {
		if err := LockConversation(tx, r.TurnID); err != nil { // the sale may move
			return err
		}
	}
	if r.Status == outbox.Dead {
		if _, err := tx.Exec(markNeedsPerson, r.ConversationID); err != nil {
			return err
		}
	}
	if err := acts.Release(tx, r, ended); err != nil {
		return err
	}
	if r.Kind == outbox.Reply && r.Status.Final() && r.Status != outbox.Delivered {
		return unsaid(tx, r.TurnID)
	}
	return nil
}

// unsaid brings up to date what a turn said after one of its rows ended undelivered.
func unsaid(tx *groupcommit.Tx, turnID string) error {
	if _, err := tx.Exec(forgetHandoffSaid, turnID); err != nil {
		return err
	}
	return refreshSaid(tx, turnID)
}

// NextDue fills [outbox.Store]. Rows that wait for something else than time do not
// count.
func (q *Outbox) NextDue(ctx context.Context, gap time.Duration, kinds []outbox.Kind) (at time.Time, ok bool, err error) {
	var pending bool
	if err := q.db.Read().QueryRowContext(ctx, selectPending).Scan(&pending); err != nil || !pending {
		return at, false, database.Explain(err)
	}
	var all []time.Time
	for _, kind := range kinds {
		dues, err := q.dues(ctx, kind, gap)
		if err != nil {
			return at, false, fmt.Errorf("read the next due outbox row: %w", database.Explain(err))
		}
		all = append(all, dues...)
	}
	if len(all) == 0 {
		return at, false, nil
	}
	return slices.MinFunc(all, time.Time.Compare), true, nil
}

// dues are when the soonest rows of a kind are due.
func (q *Outbox) dues(ctx context.Context, kind outbox.Kind, gap time.Duration) ([]time.Time, error) {
	rows, err := q.db.Read().QueryContext(ctx, selectNextDue, dueHorizon, string(kind))
	return database.Collect(rows, err, func(r database.Row) (time.Time, error) {
		var due, lastSent time.Time
		if err := r.Scan(column.Instant(&due), column.Instant(&lastSent)); err != nil || lastSent.IsZero() {
			return due, err
		}
		return latest(due, lastSent.Add(gap)), nil
	})
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Add adds a pending row to its turn.
func Add(tx *groupcommit.Tx, turnID string, r outbox.Row, now time.Time) (err error) {
	if r.ID == "" {
		if r.ID, err = database.NewID(); err != nil {
			return err
		}
	}
	if r.Kind == "" {
		r.Kind = outbox.Reply
	}
	if r.NextAttemptAt.IsZero() {
		r.NextAttemptAt = now
	}
	if r.CreatedAt.IsZero() {
		r.CreatedAt = now
	}
	_, err = tx.Exec(insertOutbox, r.ID, turnID, string(r.Kind), r.Part, acts.Payload(r.Payload), r.Payload.Sent,
		column.Micros(r.NextAttemptAt), column.Micros(r.CreatedAt))
	return err
}

// Queued reports whether a reply of the contact is still to go out.
func Queued(tx *groupcommit.Tx, conversationID string) (found bool, err error) {
	err = tx.QueryRow(selectQueued, conversationID).Scan(&found)
	return found, err
}

func Scan(r database.Row) (o outbox.Row, err error) {
	err = r.Scan(&o.ID, &o.ConversationID, &o.Key.TenantID, &o.Key.Channel, &o.Key.SubscriberID, &o.TurnID, &o.Kind,
		&o.Seq, &o.Part, column.JSON(&o.Payload), &o.Payload.Sent, &o.Payload.Unknown, &o.Payload.Acting,
		&o.Status, &o.Reason, &o.Attempts,
		column.Instant(&o.NextAttemptAt), &o.LastError, &o.Owner, column.Instant(&o.CreatedAt), column.Instant(&o.DeliveredAt))
	return o, err
}
