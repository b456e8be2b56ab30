package queue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
)

const selectOutboxRow = `
SELECT ` + Columns + ` FROM outbox WHERE id = $1`

// selectOutboxRows pages by id, which is by time. There are six statuses at most.
const selectOutboxRows = `
SELECT ` + Columns + ` FROM outbox
WHERE id > $1 AND status IN ($2, $3, $4, $5, $6, $7)
ORDER BY id LIMIT CAST($8 AS BIGINT)`

// selectDead takes whether the rows' texts may have arrived.
const selectDead = `
SELECT id FROM outbox WHERE status = 'dead' AND (reason = 'unknown') = $1 ORDER BY id`

// retryOutbox keeps what was sent and forgets how it failed.
const retryOutbox = `
UPDATE outbox SET status = 'pending', reason = NULL, last_error = '', attempts = 0, unknown = 0,
    next_attempt_at = $2, created_at = $2
WHERE id = $1 AND status IN ('dead', 'withheld')
RETURNING turn_id`

const discardOutbox = `
UPDATE outbox SET status = 'discarded', reason = NULL
WHERE id = $1 AND status IN ('pending', 'dead', 'withheld')
RETURNING turn_id`

// statuses are all there are.
var statuses = [...]outbox.Status{outbox.Pending, outbox.Delivering, outbox.Delivered, outbox.Dead, outbox.Withheld, outbox.Discarded}

// maxListed bounds a list whose caller names no limit.
const maxListed = 100

// Filter says which rows to list.
type Filter struct {
	Statuses []outbox.Status // empty: all
	Limit    int             // 0: 100
	After    string          // id of the last row of the page before; empty: the first page
}

// ListOutbox reads rows, oldest first.
func (q *Outbox) ListOutbox(ctx context.Context, f Filter) ([]outbox.Row, error) {
	if f.Limit <= 0 {
		f.Limit = maxListed
	}
	args := []any{f.After}
	for _, s := range statuses {
		if len(f.Statuses) > 0 && !slices.Contains(f.Statuses, s) {
			s = "" // no row has it
		}
		args = append(args, string(s))
	}
	found, err := q.db.Read().QueryContext(ctx, selectOutboxRows, append(args, f.Limit)...)
	rows, err := database.Collect(found, err, Scan)
	if err != nil {
		return nil, fmt.Errorf("list outbox rows: %w", database.Explain(err))
	}
	return rows, nil
}

// OutboxRow reads one row. [outbox.ErrNotFound] when there is none with this id.
func (q *Outbox) OutboxRow(ctx context.Context, id string) (outbox.Row, error) {
	r, err := Scan(q.db.Read().QueryRowContext(ctx, selectOutboxRow, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = outbox.ErrNotFound
	}
	if err != nil {
		return outbox.Row{}, fmt.Errorf("read outbox row: %w", database.Explain(err))
	}
	return r, nil
}

// RetryOutbox queues a dead or withheld row again, due now, as if it were new: its age
// and attempts start over, and it goes on after the last text that was sent. The actions of
// a reply stay dead-lettered; a notice's is staged again.
// [outbox.ErrNotFound] and [outbox.ErrState] say why not.
func (q *Outbox) RetryOutbox(ctx context.Context, id string) error {
	now := q.db.Now()
	err := q.write(ctx, func(tx *groupcommit.Tx) error { return retry(tx, id, now) })
	if err != nil {
		return fmt.Errorf("retry outbox row %s: %w", id, err)
	}
	return nil
}

// Retried is what [Outbox.RetryAllDead] did.
type Retried struct {
	Queued int // rows that are pending again
	Left   int // rows that stay dead: their text may have arrived
}

// RetryAllDead retries every dead row but those with [outbox.ReasonUnknown], whose text
// a contact may have read: those are retried one by one.
func (q *Outbox) RetryAllDead(ctx context.Context) (Retried, error) {
	now := q.db.Now()
	done, err := database.Write(ctx, q.db, func(tx *groupcommit.Tx) (Retried, error) {
		ids, err := dead(tx, false)
		if err != nil {
			return Retried{}, err
		}
		unknown, err := dead(tx, true)
		if err != nil {
			return Retried{}, err
		}
		for _, id := range ids {
			if err := retry(tx, id, now); err != nil {
				return Retried{}, err
			}
		}
		return Retried{Queued: len(ids), Left: len(unknown)}, nil
	})
	if err != nil {
		return Retried{}, fmt.Errorf("retry dead outbox rows: %w", err)
	}
	return done, nil
}

// DiscardOutbox gives up a pending, dead or withheld row for good. [outbox.ErrNotFound]
// and [outbox.ErrState] say why not.
func (q *Outbox) DiscardOutbox(ctx context.Context, id string) error {
	err := q.write(ctx, func(tx *groupcommit.Tx) error { return decide(tx, discardOutbox, id) })
	if err != nil {
		return fmt.Errorf("discard outbox row %s: %w", id, err)
	}
	return nil
}

func retry(tx *groupcommit.Tx, id string, now time.Time) error {
	return decide(tx, retryOutbox, id, column.Micros(now))
}

// decide runs an operator's update of one row, whose id is the first argument, and
// brings its turn's history up to date.
func decide(tx *groupcommit.Tx, query string, args ...any) error {
	var turnID string
	err := tx.QueryRow(query, args...).Scan(&turnID)
	if errors.Is(err, sql.ErrNoRows) {
		return whyNot(tx, args[0])
	}
	if err != nil {
		return err
	}
	r, err := Scan(tx.QueryRow(selectOutboxRow, args[0]))
	switch {
	case err != nil:
		return err
	case r.Kind == outbox.ContactToken:
		return tokens.Release(tx, r)
	case r.Status == outbox.Discarded:
		err = acts.Release(tx, r, nil)
	default:
		err = acts.Retry(tx, r)
	}
	switch {
	case err != nil || r.Kind != outbox.Reply:
		return err
	case r.Status == outbox.Discarded:
		return unsaid(tx, turnID)
	}
	return refreshSaid(tx, turnID)
}

// whyNot tells an unknown row from one in the wrong state.
func whyNot(tx *groupcommit.Tx, id any) error {
	_, err := Scan(tx.QueryRow(selectOutboxRow, id))
	if errors.Is(err, sql.ErrNoRows) {
		return outbox.ErrNotFound
	}
	if err != nil {
		return err
	}
	return outbox.ErrState
}

func dead(tx *groupcommit.Tx, unknown bool) ([]string, error) {
	rows, err := tx.Query(selectDead, unknown)
	return database.Collect(rows, err, database.ScanString)
}
