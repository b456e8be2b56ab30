// Package process keeps which processes are on a database: their heartbeats, and what they have
// in hand.
package process

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Unfinished repeats the condition of the indexes over unfinished turns, which serve the
// queries that also ask for one state.
const Unfinished = `state IN ('waiting', 'running', 'answering')`

const beatProcess = `
UPDATE processes SET beat_at = $3, beats = beats + 1 WHERE id = $1 AND tenant_id = $2`

const insertProcess = `
INSERT INTO processes (id, tenant_id, started_at, beat_at, beats) VALUES ($1, $2, $3, $3, 1)`

const selectProcesses = `
SELECT id, beats FROM processes WHERE tenant_id = $1 ORDER BY id`

// selectTurnOwners and selectRowOwners read who has something in hand.
const selectTurnOwners = `
SELECT DISTINCT owner FROM turns WHERE tenant_id = $1 AND ` + Unfinished + ` AND owner IS NOT NULL`

const selectRowOwners = `
SELECT DISTINCT owner FROM outbox WHERE tenant_id = $1 AND status = 'delivering' AND owner NOT LIKE 'response/%'`

const selectBeats = `
SELECT beats FROM processes WHERE id = $1`

// holdProcess keeps a process from beating, where others write at the same time. It comes
// before locks on conversations.
const holdProcess = `
SELECT 1 FROM processes WHERE id = $1 FOR UPDATE`

const deleteProcess = `
DELETE FROM processes WHERE id = $1 AND tenant_id = $2`

const selectOwned = `
SELECT id FROM turns WHERE tenant_id = $1 AND ` + Unfinished + ` AND owner = $2
ORDER BY received_at, seq`

const selectAnyUnowned = `
SELECT EXISTS (SELECT 1 FROM turns WHERE tenant_id = $1 AND ` + Unfinished + ` AND owner IS NULL)`

const handBackTurns = `
UPDATE turns SET owner = NULL WHERE tenant_id = $1 AND ` + Unfinished + ` AND owner = $2`

// requeueOf gives back what one process had in hand. A claim's owner is its process and a
// number.
const requeueOf = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1
WHERE tenant_id = $1 AND status = 'delivering' AND owner LIKE CAST($2 AS TEXT) || '/%'`

// Table is the processes of a database.
type Table struct{ db *database.DB }

// In returns the processes of a database.
func In(db *database.DB) *Table { return &Table{db} }

func (t *Table) write(ctx context.Context, fn func(tx *groupcommit.Tx) error) error {
	_, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

// Dead are those of the dead that a take-over names which have not beaten since they were looked
// at. They cannot beat before the transaction ends.
func Dead(tx *groupcommit.Tx, t sweep.TakeOver) (dead []string, err error) {
	for _, id := range t.Dead {
		if err := tx.Lock(holdProcess, id); err != nil {
			return nil, err
		}
		var beats int64
		err := tx.QueryRow(selectBeats, id).Scan(&beats)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		seen, asked := t.Beats[id]
		if err == nil && asked && beats != seen {
			continue
		}
		dead = append(dead, id)
	}
	return dead, nil
}

// Bury forgets a process, and gives back what it was delivering.
func Bury(tx *groupcommit.Tx, tenantID, id string) error {
	if err := Requeue(tx, tenantID, id); err != nil {
		return err
	}
	_, err := tx.Exec(deleteProcess, id, tenantID)
	return err
}

// Beat fills [sweep.Store].
func (t *Table) Beat(ctx context.Context, p sweep.Process) (beats map[string]int64, known bool, err error) {
	now := column.Micros(t.db.Now())
	b, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (b beaten, err error) {
		changed, err := database.Affected(tx.Exec(beatProcess, p.ID, p.TenantID, now))
		if b.known = changed > 0; err == nil && !b.known {
			_, err = tx.Exec(insertProcess, p.ID, p.TenantID, now)
		}
		if err != nil {
			return b, err
		}
		b.beats, err = processes(tx, p.TenantID)
		return b, err
	})
	if err != nil {
		return nil, false, fmt.Errorf("beat as a process: %w", err)
	}
	return b.beats, b.known, nil
}

// beaten is what a beat found.
type beaten struct {
	beats map[string]int64
	known bool
}

func processes(tx *groupcommit.Tx, tenantID string) (map[string]int64, error) {
	beats := map[string]int64{}
	rows, err := tx.Query(selectProcesses, tenantID)
	_, err = database.Collect(rows, err, func(r database.Row) (none struct{}, err error) {
		var id string
		var n int64
		err = r.Scan(&id, &n)
		beats[id] = n
		return none, err
	})
	if err != nil {
		return nil, err
	}
	return beats, addGhosts(tx, tenantID, beats)
}

// neverBeats is what a process has beaten that has no row.
const neverBeats = -1

// addGhosts adds the processes that have something in hand and no row: others took over what
// they had, and a write of theirs was on its way meanwhile. They never beat again.
func addGhosts(tx *groupcommit.Tx, tenantID string, beats map[string]int64) error {
	for _, query := range []string{selectTurnOwners, selectRowOwners} {
		rows, err := tx.Query(query, tenantID)
		owners, err := database.Collect(rows, err, database.ScanString)
		if err != nil {
			return err
		}
		for _, owner := range owners {
			process, _, _ := strings.Cut(owner, "/")
			if _, found := beats[process]; !found {
				beats[process] = neverBeats
			}
		}
	}
	return nil
}

// Unfinished fills [sweep.Store].
func (t *Table) Unfinished(ctx context.Context, p sweep.Process) (owned []string, unowned bool, err error) {
	rows, err := t.db.Read().QueryContext(ctx, selectOwned, p.TenantID, p.ID)
	owned, err = database.Collect(rows, err, database.ScanString)
	if err == nil {
		err = t.db.Read().QueryRowContext(ctx, selectAnyUnowned, p.TenantID).Scan(&unowned)
	}
	if err != nil {
		return nil, false, fmt.Errorf("read the unfinished turns of a process: %w", err)
	}
	return owned, unowned, nil
}

// HandBack fills [sweep.Store].
func (t *Table) HandBack(ctx context.Context, p sweep.Process) error {
	err := t.write(ctx, func(tx *groupcommit.Tx) error {
		if err := tx.Lock(holdProcess, p.ID); err != nil {
			return err
		}
		if _, err := tx.Exec(handBackTurns, p.TenantID, p.ID); err != nil {
			return err
		}
		if err := Requeue(tx, p.TenantID, p.ID); err != nil {
			return err
		}
		_, err := tx.Exec(deleteProcess, p.ID, p.TenantID)
		return err
	})
	if err != nil {
		return fmt.Errorf("hand back what is unfinished: %w", err)
	}
	return nil
}

// Requeue gives back the outbox rows that a process was delivering.
func Requeue(tx *groupcommit.Tx, tenantID, process string) error {
	_, err := tx.Exec(requeueOf, tenantID, process)
	return err
}
