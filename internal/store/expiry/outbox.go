package expiry

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// selectOver pages by when rows ended, so that those which have to stay are read once a sweep.
const selectOver = `
SELECT id, coalesce(delivered_at, next_attempt_at) FROM outbox
WHERE tenant_id = $1 AND status IN ('delivered', 'discarded') AND coalesce(delivered_at, next_attempt_at) < $2
  AND coalesce(delivered_at, next_attempt_at) >= $3 AND (coalesce(delivered_at, next_attempt_at), id) > ($3, $4)
ORDER BY coalesce(delivered_at, next_attempt_at), id LIMIT CAST($5 AS BIGINT)`

// deleteOver leaves the rows of a turn that has another one to be done or to be decided
// about: together they tell what the turn said.
const deleteOver = `
DELETE FROM outbox WHERE id = $1 AND status IN ('delivered', 'discarded') AND NOT EXISTS (
    SELECT 1 FROM outbox e WHERE e.turn_id = outbox.turn_id AND e.status NOT IN ('delivered', 'discarded'))`

// over is a row that ended, as a page has it.
type over struct {
	id string
	at int64 // microseconds
}

// sweepOutbox deletes rows that ended before an instant.
func (s *Sweeper) sweepOutbox(ctx context.Context, before time.Time) (deleted int, err error) {
	for after := (over{}); ; {
		page, err := s.pageOver(ctx, before, after)
		if err != nil || len(page) == 0 {
			return deleted, err
		}
		n, err := database.Write(ctx, s.cfg.DB, func(tx *groupcommit.Tx) (n int64, err error) { return deletePage(tx, page) })
		if err != nil {
			return deleted, fmt.Errorf("delete rows of the outbox: %w", err)
		}
		deleted += int(n)
		if after = page[len(page)-1]; !sleep(ctx, pause) {
			return deleted, ctx.Err()
		}
	}
}

func (s *Sweeper) pageOver(ctx context.Context, before time.Time, after over) ([]over, error) {
	rows, err := s.cfg.DB.Read().QueryContext(ctx, selectOver, s.cfg.TenantID, column.Micros(before), after.at, after.id, batch)
	page, err := database.Collect(rows, err, func(r database.Row) (o over, err error) {
		err = r.Scan(&o.id, &o.at)
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("read the rows of the outbox that are over: %w", err)
	}
	return page, nil
}

func deletePage(tx *groupcommit.Tx, page []over) (total int64, err error) {
	for _, o := range page {
		n, err := database.Affected(tx.Exec(deleteOver, o.id))
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}
