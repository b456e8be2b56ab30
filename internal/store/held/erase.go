package held

import (
	"context"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/tables"
)

// Erased is how much was removed. It names nobody.
type Erased struct {
	Rows    map[string]int64        // by table
	Outbox  map[outbox.Status]int64 // of them, rows of the outbox
	Running int64                   // of them, turns that were not over
}

// Total is how many rows were removed.
func (e Erased) Total() (n int64) {
	for _, rows := range e.Rows {
		n += rows
	}
	return n
}

// lockContact holds back whatever a service is about to write about the contact.
const lockContact = `
UPDATE conversations SET last_seq = last_seq WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING id`

const selectQueue = `
SELECT status, count(*) FROM outbox WHERE turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)
GROUP BY status`

const selectRunning = `
SELECT count(*) FROM turns WHERE conversation_id = $1 AND state IN ('waiting', 'running', 'answering')`

// Erase removes everything about a contact in one transaction, so that nothing of it is
// sent any more but what a process has in hand. What such a process writes later finds
// nothing and fails with [turn.ErrNotOwner] or [outbox.ErrNotOwner]. Of a SQLite file the
// bytes are removed too; [sqlitefile.ErrRemains] or [sqlitefile.ErrTooLarge] come with what
// was erased, when that has to wait. Erasing nobody is no error.
func Erase(ctx context.Context, db *database.DB, who Who) (Erased, error) {
	every, err := tables.Of(ctx, db)
	if err != nil {
		return Erased{}, fmt.Errorf("erase a contact: %w", err)
	}
	slices.Reverse(every) // what is named goes last
	e, err := database.Write(ctx, db, func(tx *groupcommit.Tx) (Erased, error) {
		if db.SQLite() { // pages that fall free are overwritten too
			if _, err := tx.Exec("PRAGMA secure_delete = ON"); err != nil {
				return Erased{}, err
			}
		}
		return erase(tx, who, every)
	})
	if err != nil {
		return Erased{}, fmt.Errorf("erase a contact: %w", err)
	}
	return e, overwrite(ctx, db)
}

func erase(tx *groupcommit.Tx, who Who, every []tables.Table) (e Erased, err error) {
	e = Erased{Rows: map[string]int64{}, Outbox: map[outbox.Status]int64{}}
	locked, err := tx.Query(lockContact, who.TenantID, string(who.ID))
	conversations, err := database.Collect(locked, err, database.ScanString)
	if err != nil {
		return e, err
	}
	for _, id := range conversations {
		if err := e.count(tx, id); err != nil {
			return e, err
		}
	}
	for _, r := range about(every, who, conversations) {
		for _, args := range r.args {
			n, err := database.Affected(tx.Exec(`DELETE FROM `+r.Name+` WHERE `+r.condition, args...))
			if err != nil {
				return e, fmt.Errorf("table %s: %w", r.Name, err)
			}
			e.Rows[r.Name] += n
		}
	}
	return e, nil
}

// count adds what is under way in a conversation.
func (e *Erased) count(tx *groupcommit.Tx, conversationID string) error {
	var running int64
	if err := tx.QueryRow(selectRunning, conversationID).Scan(&running); err != nil {
		return err
	}
	e.Running += running
	found, err := tx.Query(selectQueue, conversationID)
	_, err = database.Collect(found, err, func(r database.Row) (none struct{}, err error) {
		var status outbox.Status
		var n int64
		err = r.Scan(&status, &n)
		e.Outbox[status] += n
		return none, err
	})
	return err
}

// overwrite removes the bytes of what was erased from a SQLite file.
func overwrite(ctx context.Context, db *database.DB) error {
	if !db.SQLite() {
		return nil
	}
	var path string
	err := db.Read().QueryRowContext(ctx, "SELECT file FROM pragma_database_list WHERE name = 'main'").Scan(&path)
	if err != nil {
		return fmt.Errorf("%w: %w", sqlitefile.ErrRemains, err)
	}
	return sqlitefile.Overwrite(ctx, path)
}
