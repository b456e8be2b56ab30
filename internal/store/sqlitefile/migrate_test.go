package sqlitefile

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"
)

// first is data of the first version, which every later one has to keep.
var first = []string{
	`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, last_sent_at, offering, created_at)
        VALUES ('c1', 'demo', 'whatsapp', '700001', 2, 5, 'wheel', 1)`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state,
        attempt, outcome, path, settled_at, replies)
        VALUES ('t1', 't1', 'demo', 'c1', 'agent', 2, 1, 1, 'hi', 3, 'settled', 1, 'answered', 'outbox', 4, '["hi"]')`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at)
        VALUES ('m1', 't1', 'demo', 'c1', 'contact', 1, 1, 1, 'hello', 3)`,
	`INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status,
        next_attempt_at, created_at)
        VALUES ('o1', 'demo', 'c1', 't1', 'whatsapp', '700001', 'reply', 2, 0, '{"texts":["hi"],"sent":0}', 'pending', 4, 3)`,
}

// Holds docs/spec/15-storage.md: migrations are tested from every earlier version with data
// in it.
func TestMigrateFromEveryVersion(t *testing.T) {
	for version := int64(1); version <= Latest(); version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.db")
			db := at(t, path, version)
			for _, statement := range first {
				if _, err := db.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			db, err := OpenWriter(path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if err := Migrate(t.Context(), db, path); err != nil {
				t.Fatal(err)
			}
			if got, err := Version(t.Context(), db); err != nil || got != Latest() {
				t.Errorf("the version is %d, %v", got, err)
			}
			var kept string
			err = db.QueryRowContext(t.Context(), `SELECT c.offering || m.text || a.text || o.status || c.history_from || (SELECT count(*) FROM contacts)
                || coalesce(a.calls, '-') || coalesce(a.pending, '-') || o.acting || (SELECT count(*) FROM flow_sends)
                FROM conversations c JOIN turns a ON a.conversation_id = c.id AND a.role = 'agent'
                JOIN turns m ON m.turn_id = a.id AND m.role = 'contact' JOIN outbox o ON o.turn_id = a.id`).Scan(&kept)
			if err != nil || kept != "wheelhellohipending00--00" {
				t.Errorf("the data is now %q, %v", kept, err)
			}
		})
	}
}

// at is a new database of an earlier version.
func at(t *testing.T, path string, version int64) *sql.DB {
	t.Helper()
	db, err := OpenWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, folder(), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
	return db
}
