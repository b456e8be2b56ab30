package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// dueRows are the claimable rows o of kind $4 that are due. $1 is the claim's now, $2 the
// latest last-sent time that is a gap ago and $3 the transaction's time: a last-sent time
// later than that is a clock that was set back, and holds nobody; one between the two was
// written while the claim was on its way.
const dueRows = `
    FROM outbox o
    JOIN turns t ON t.id = o.turn_id
    JOIN conversations c ON c.id = o.conversation_id
    WHERE o.kind = CAST($4 AS TEXT) AND o.next_attempt_at <= $1
      AND (o.kind <> 'reply' OR c.last_sent_at IS NULL OR c.last_sent_at <= $2 OR c.last_sent_at > $3)
      AND` + claimable

// claimOutbox reads due rows in due order and stops at the limit.
const claimOutbox = `
WITH due AS (SELECT o.id` + dueRows + `
    ORDER BY o.next_attempt_at, o.seq LIMIT CAST($5 AS BIGINT))
UPDATE outbox SET status = 'delivering', owner = $6, attempts = attempts + 1
WHERE id IN (SELECT id FROM due) AND status = 'pending'
RETURNING ` + Columns

// postponeOutbox gives a row back in the transaction that claimed it.
const postponeOutbox = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1, next_attempt_at = $3, last_error = $4
WHERE id = $1 AND owner = $2 AND status = 'delivering'`

// selectHeld takes what the owners begin with, and how long that is.
const selectHeld = `
SELECT id, owner FROM outbox WHERE status = 'delivering' AND substr(owner, 1, $2) = $1`

// abandonOutbox gives back a row whose hold led to nothing.
const abandonOutbox = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1
WHERE id = $1 AND owner = $2 AND status = 'delivering'`

// Claim fills [outbox.Store].
func (q *Outbox) Claim(ctx context.Context, c outbox.Claim) ([]outbox.Row, error) {
	all, err := database.Write(ctx, q.db, func(tx *groupcommit.Tx) (all []outbox.Row, err error) {
		if c.Abandon != "" {
			if err := abandon(tx, c); err != nil {
				return nil, err
			}
		}
		for _, kind := range outbox.Kinds() {
			if c.Room[kind] <= 0 {
				continue
			}
			rows, err := q.claim(tx, c, kind)
			if err != nil {
				return nil, err
			}
			all = append(all, rows...)
		}
		return q.count(tx, c, all)
	})
	if err != nil {
		return nil, fmt.Errorf("claim outbox rows: %w", err)
	}
	slices.SortFunc(all, inOrder)
	return all, nil
}

func (q *Outbox) claim(tx *groupcommit.Tx, c outbox.Claim, kind outbox.Kind) ([]outbox.Row, error) {
	c.Now = c.Now.Round(0) // by the time of day, which last-sent times are kept in
	now := q.db.Now().Round(0)
	if c.Gap > 0 && now.Before(c.Now.Add(-c.Gap)) {
		c.Now = now // the clock was set back while the claim was on its way: the gap is kept by the new time
	}
	due := []any{column.Micros(c.Now), column.Micros(c.Now.Add(-c.Gap)), column.Micros(latest(c.Now, now)), string(kind)}
	query, args := claimOutbox, append(slices.Clip(due), c.Room[kind], c.Owner)
	if tx.Shared() {
		locked, err := lock(tx, append(slices.Clip(due), c.Room[kind]))
		if err != nil || len(locked) == 0 {
			return nil, err
		}
		query, args = claimLocked, append(slices.Clip(due), locked, c.Owner)
	}
	found, err := tx.Query(query, args...)
	return database.Collect(found, err, Scan)
}

// inOrder is the order of [outbox.Store.Claim].
func inOrder(a, b outbox.Row) int {
	if order := cmp.Compare(slices.Index(outbox.Kinds(), a.Kind), slices.Index(outbox.Kinds(), b.Kind)); order != 0 {
		return order
	}
	if order := a.NextAttemptAt.Compare(b.NextAttemptAt); order != 0 {
		return order
	}
	return cmp.Or(cmp.Compare(a.Seq, b.Seq), cmp.Compare(a.Part, b.Part))
}

// count counts the flow that each row is about to send for its contact's limit, and gives
// back the rows of contacts that are at it, to be due when they are not. The contacts come
// in one order, so that claims which count side by side do not wait for each other in a circle.
func (q *Outbox) count(tx *groupcommit.Tx, c outbox.Claim, rows []outbox.Row) (counted []outbox.Row, err error) {
	slices.SortFunc(rows, func(a, b outbox.Row) int { return cmp.Compare(a.Key.SubscriberID, b.Key.SubscriberID) })
	for _, r := range rows {
		if !r.SendsFlow() {
			counted = append(counted, r)
			continue
		}
		r.Counted, err = q.limit.Count(tx, r.Key, c.Now)
		full, at := errors.AsType[*flowslots.FullError](err)
		switch {
		case at:
			_, err = tx.Exec(postponeOutbox, r.ID, r.Owner, column.Micros(full.Until), full.Error())
		case err == nil:
			counted = append(counted, r)
		}
		if err != nil {
			return nil, err
		}
	}
	return counted, nil
}

// abandon gives back what owners hold that begin with a prefix, beside what is in hand. A
// flow that was counted stays counted: it may have been sent.
func abandon(tx *groupcommit.Tx, c outbox.Claim) error {
	found, err := tx.Query(selectHeld, c.Abandon, len(c.Abandon))
	held, err := database.Collect(found, err, func(r database.Row) (h outbox.Hold, err error) {
		err = r.Scan(&h.ID, &h.Owner)
		return h, err
	})
	if err != nil {
		return err
	}
	for _, h := range held {
		if slices.Contains(c.InHand, h) {
			continue
		}
		if _, err := tx.Exec(abandonOutbox, h.ID, h.Owner); err != nil {
			return err
		}
	}
	return nil
}
