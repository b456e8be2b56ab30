// Package rates shares ManyChat's limits a second among the processes on one database: each
// leases short stretches of a limit, which follow each other without overlap.
package rates

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// lease moves the end of what is used up, which locks the row: of many processes that ask at
// once each gets a stretch of its own. A stretch does not begin in the past.
const lease = `
INSERT INTO rates (tenant_id, name, used_to) VALUES ($1, $2, CAST($3 AS BIGINT) + CAST($4 AS BIGINT))
ON CONFLICT (tenant_id, name) DO UPDATE
SET used_to = CASE WHEN rates.used_to > $3 AND rates.used_to <= $5 THEN rates.used_to ELSE $3 END + $4
RETURNING used_to`

// The end of what is used up is believed when it is no farther ahead of the clock than a
// hundred stretches, or a minute: so much may be leased when many processes ask at once.
// Farther is a clock that was set back, and nobody waits for it.
const (
	manyStretches = 100
	longQueue     = time.Minute
)

// Table is the limits of one tenant's account. It is safe for concurrent use.
type Table struct {
	db       *database.DB
	tenantID string
}

// In returns the limits of a tenant in a database, which the caller closes.
func In(db *database.DB, tenantID string) *Table { return &Table{db, tenantID} }

// Lease takes the next stretch of a limit, as long as length, and returns where it begins by
// the database's clock. It fills [manychat.Lease].
func (t *Table) Lease(ctx context.Context, limit string, length time.Duration) (time.Time, error) {
	micros := max(1, (length + time.Microsecond - 1).Microseconds())
	now := t.db.Now()
	farthest := now.Add(max(longQueue, manyStretches*length))
	usedTo, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (usedTo int64, err error) {
		err = tx.QueryRow(lease, t.tenantID, limit, now.UnixMicro(), micros, farthest.UnixMicro()).Scan(&usedTo)
		return usedTo, err
	})
	if err != nil {
		return time.Time{}, fmt.Errorf("lease %v of the limit of %s: %w", length, limit, err)
	}
	return time.UnixMicro(usedTo - micros), nil
}
