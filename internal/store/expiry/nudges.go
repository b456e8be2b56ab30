package expiry

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const selectEnded = `
SELECT id FROM nudges WHERE tenant_id = $1 AND ended_at IS NOT NULL AND ended_at < $2 ORDER BY ended_at LIMIT CAST($3 AS BIGINT)`

const deleteNudge = `
DELETE FROM nudges WHERE id = $1`

// sweepNudges deletes nudges that ended before an instant. One that is open is open for a day at
// most.
func (s *Sweeper) sweepNudges(ctx context.Context, before time.Time) (deleted int, err error) {
	for {
		n, err := database.Write(ctx, s.cfg.DB, func(tx *groupcommit.Tx) (n int, err error) {
			rows, err := tx.Query(selectEnded, s.cfg.TenantID, column.Micros(before), batch)
			ended, err := database.Collect(rows, err, database.ScanString)
			for _, id := range ended {
				if _, err := tx.Exec(deleteNudge, id); err != nil {
					return 0, err
				}
			}
			return len(ended), err
		})
		if err != nil {
			return deleted, fmt.Errorf("delete nudges: %w", err)
		}
		if deleted += n; n < batch {
			return deleted, nil
		}
		if !sleep(ctx, pause) {
			return deleted, ctx.Err()
		}
	}
}
