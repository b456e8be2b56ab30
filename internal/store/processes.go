package store

import (
	"context"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const insertProcess = `
INSERT INTO processes (id, tenant_id, started_at, beat_at) VALUES ($1, $2, $3, $3)
ON CONFLICT (id) DO UPDATE SET started_at = excluded.started_at, beat_at = excluded.beat_at`

const deleteOtherProcesses = `
DELETE FROM processes WHERE tenant_id = $1 AND id <> $2`

// insertProcess records that this process runs.
func (db *DB) insertProcess(ctx context.Context, id, tenantID string) error {
	now := column.Micros(db.now())
	err := exec(ctx, db, func(tx *groupcommit.Tx) error {
		_, err := tx.Exec(insertProcess, id, tenantID, now)
		return err
	})
	if err != nil {
		return fmt.Errorf("record the process: %w", err)
	}
	return nil
}
