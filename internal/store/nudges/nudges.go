// Package nudges keeps the follow-ups that the agent planned for contacts who went quiet, and
// calls them off in the transaction of what does so. It fills [nudge.Store].
package nudges

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
)

// selectPlanned reads the turn that staged a nudge, and its conversation as it is now.
const selectPlanned = `
SELECT t.tenant_id, t.conversation_id, t.seq, t.received_at, c.last_seq, c.paused_until, c.paused_from, c.opted_out_at
FROM turns t JOIN conversations c ON c.id = t.conversation_id
WHERE t.id = $1 AND t.role = 'agent'`

const upsertNudge = `
INSERT INTO nudges (id, tenant_id, conversation_id, turn_id, delay, message_at, due_at, state, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)
ON CONFLICT (conversation_id) WHERE state IN ('pending', 'running') DO UPDATE
SET turn_id = excluded.turn_id, delay = excluded.delay, message_at = excluded.message_at, due_at = excluded.due_at,
    created_at = excluded.created_at
WHERE nudges.state = 'pending'`

const markNudged = `
UPDATE conversations SET nudged = 1 WHERE id = $1 AND nudged = 0`

const selectDue = `
SELECT n.id, n.conversation_id, c.tenant_id, c.channel, c.subscriber_id, n.delay
FROM nudges n JOIN conversations c ON c.id = n.conversation_id
WHERE n.tenant_id = $1 AND n.state = 'pending' AND n.due_at <= $2
ORDER BY n.due_at LIMIT CAST($3 AS BIGINT)`

const cancelOpen = `
UPDATE nudges SET state = 'cancelled', reason = $2, ended_at = $3
WHERE conversation_id = $1 AND state IN ('pending', 'running')
RETURNING coalesce(nudge_id, '')`

// endTurn ends the turn of a nudge that says nothing.
const endTurn = `
UPDATE turns SET state = 'settled', outcome = 'nudge_skipped', path = 'silent', settled_at = $2
WHERE id = $1 AND state = 'running' AND nudge = 1`

const selectWroteBehind = `
SELECT last_seq > $2 FROM conversations WHERE id = $1`

const clearNudged = `
UPDATE conversations SET nudged = 0 WHERE id = $1 AND nudged = 1`

// Table is the nudges of a database.
type Table struct{ db *database.DB }

// In returns the nudges of a database.
func In(db *database.DB) *Table { return &Table{db} }

// Schedule fills [nudge.Store].
func (t *Table) Schedule(ctx context.Context, p nudge.Plan) error {
	now := t.db.Now()
	_, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (struct{}, error) { return struct{}{}, schedule(tx, p, now) })
	if err != nil {
		return fmt.Errorf("plan a nudge for turn %s: %w", p.TurnID, err)
	}
	return nil
}

func schedule(tx *groupcommit.Tx, p nudge.Plan, now time.Time) error {
	if err := queue.LockConversation(tx, p.TurnID); err != nil {
		return err
	}
	var t conversation.Turn
	var c conversation.Conversation
	var lastSeq int64
	err := tx.QueryRow(selectPlanned, p.TurnID).Scan(&t.Key.TenantID, &c.ID, &t.Seq, column.Instant(&t.ReceivedAt), &lastSeq,
		column.Instant(&c.PausedUntil), &c.PausedFrom, column.Instant(&c.OptedOutAt))
	due := t.ReceivedAt.Add(p.After)
	switch {
	case errors.Is(err, sql.ErrNoRows): // the contact was erased
		return nudge.ErrOver
	case err != nil:
		return err
	case lastSeq > t.Seq, c.Holds(t.Seq, now), !c.OptedOutAt.IsZero():
		return nudge.ErrOver
	case !due.After(now):
		return nudge.ErrLate
	}
	id, err := database.NewID()
	if err != nil {
		return err
	}
	changed, err := database.Affected(tx.Exec(upsertNudge, id, t.Key.TenantID, c.ID, p.TurnID, p.Delay,
		column.Micros(t.ReceivedAt), column.Micros(due), column.Micros(now)))
	if err != nil {
		return err
	}
	if changed == 0 { // the one before it is under way
		return nudge.ErrOver
	}
	_, err = tx.Exec(markNudged, c.ID)
	return err
}

// Due fills [nudge.Store].
func (t *Table) Due(ctx context.Context, tenantID string, limit int) ([]nudge.Due, error) {
	rows, err := t.db.Read().QueryContext(ctx, selectDue, tenantID, column.Micros(t.db.Now()), limit)
	due, err := database.Collect(rows, err, func(r database.Row) (d nudge.Due, err error) {
		err = r.Scan(&d.ID, &d.ConversationID, &d.Key.TenantID, &d.Key.Channel, &d.Key.SubscriberID, &d.Delay)
		return d, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the nudges that are due: %w", database.Explain(err))
	}
	return due, nil
}

// WroteBehind reports whether anybody wrote to a conversation behind a place of its order. To one
// that was erased nobody does.
func (t *Table) WroteBehind(ctx context.Context, conversationID string, seq int64) (wrote bool, err error) {
	err = t.db.Read().QueryRowContext(ctx, selectWroteBehind, conversationID, seq).Scan(&wrote)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("read whether a contact wrote: %w", database.Explain(err))
	}
	return wrote, nil
}

// Cancel calls off whatever nudge a conversation has, in the transaction of what does so: one
// that is planned never begins, of one that is under way the turn has ended, saying nothing, and
// of one that waits in the outbox what is unsent is discarded. The caller has locked the
// conversation; where it has read that the conversation is not nudged there is nothing to do.
func Cancel(tx *groupcommit.Tx, conversationID string, reason nudge.Reason, now time.Time) error {
	rows, err := tx.Query(cancelOpen, conversationID, string(reason), column.Micros(now))
	turns, err := database.Collect(rows, err, database.ScanString)
	if err != nil {
		return err
	}
	for _, id := range turns {
		if id == "" {
			continue // it had not begun
		}
		if _, err := tx.Exec(endTurn, id, column.Micros(now)); err != nil {
			return err
		}
	}
	if err := queue.Withdraw(tx, conversationID, reason); err != nil {
		return err
	}
	_, err = tx.Exec(clearNudged, conversationID)
	return err
}
