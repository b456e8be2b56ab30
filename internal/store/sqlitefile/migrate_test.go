package sqlitefile

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// inHand is what a process of version 4 had in hand of several contacts when it died: turns
// that ran side by side, one of them unbound, and responses whose stamp, row or actions were
// still to come.
var inHand = []string{
	`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at) VALUES
        ('c2', 'demo', 'whatsapp', '700002', 16, 1), ('c3', 'demo', 'whatsapp', '700003', 2, 1)`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, owner,
        attempt, outcome, path, settled_at, responded_at, replies, actions, pending) VALUES
        ('stamped', 'stamped', 'demo', 'c2', 'agent', 2, 1, 1, 'a', 10, 'answering', 'p', 1, 'answered', 'inline', 20, 30, '["a"]',
            '[{"tool":"add_tag","id":"x","status":"staged"}]', '[{"place":0,"tool":"add_tag","id":"x"}]'),
        ('bare', 'bare', 'demo', 'c2', 'agent', 4, 1, 1, 'b', 11, 'answering', 'p', 1, 'answered', 'inline', 21, NULL, '["b1","b2"]',
            '[{"tool":"add_tag","id":"x","status":"staged"}]', '[{"place":0,"tool":"add_tag","id":"x"}]'),
        ('over', 'over', 'demo', 'c2', 'agent', 6, 1, 1, 'd', 12, 'answering', 'p', 1, 'answered', 'inline', 22, NULL, '["d1","d2","d3"]', NULL, NULL),
        ('first', 'first', 'demo', 'c2', 'agent', 8, 1, 0, '', 13, 'running', 'p', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('forged', 'forged', 'demo', 'c2', 'agent', 10, 0, 0, '', 14, 'running', 'p', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('second', 'second', 'demo', 'c2', 'agent', 12, 1, 0, '', 15, 'running', 'p', 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('third', 'third', 'demo', 'c2', 'agent', 14, 1, 0, '', 16, 'running', NULL, 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('elsewhere', 'elsewhere', 'demo', 'c3', 'agent', 2, 1, 0, '', 17, 'running', 'p', 1, NULL, NULL, NULL, NULL, NULL, NULL, NULL)`,
	`INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status,
        next_attempt_at, created_at) VALUES
        ('o2', 'demo', 'c2', 'over', 'whatsapp', '700002', 'reply', 6, 1, '{"texts":["d3"],"actions":[{"place":0}]}', 'pending', 9, 12)`,
}

// Holds docs/spec/03-turn.md, "Crash recovery": what a process of the version before left is
// answered once, in order.
func TestMigrateWhatWasInHand(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	db := at(t, path, 4)
	defer db.Close()
	for _, statement := range inHand {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := Migrate(t.Context(), db, path); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		query string
		want  []string
	}{
		"turns": {`SELECT id || ' ' || state || ' ' || attempt || ' ' || coalesce(owner, '-') || ' ' || coalesce(path, '-') || ' ' || coalesce(pending, '-')
            FROM turns ORDER BY conversation_id, seq`, []string{
			"stamped settled 1 p inline -", "bare settled 1 p outbox -", "over settled 1 p outbox -",
			"first running 1 p - -", "forged running 1 p - -", "second waiting 2 p - -", "third waiting 1 - - -",
			"elsewhere running 1 p - -",
		}},
		"rows": {`SELECT turn_id || ' ' || part || ' ' || json_extract(payload, '$.texts') || ' ' || coalesce(json_extract(payload, '$.actions'), '-') ||
            ' ' || status || ' ' || next_attempt_at || ' ' || created_at || ' ' || seq || ' ' || subscriber_id || ' ' || attempts
            FROM outbox ORDER BY seq, part`, []string{
			`bare 0 ["b1","b2"] [{"place":0,"tool":"add_tag","id":"x"}] pending 21 11 4 700002 0`,
			`over 0 ["d1","d2"] - pending 22 12 6 700002 0`,
			`over 1 ["d3"] [{"place":0}] pending 9 12 6 700002 0`,
		}},
		"records":     {`SELECT DISTINCT actions FROM turns WHERE actions IS NOT NULL`, []string{`[{"tool":"add_tag","id":"x","status":"staged"}]`}},
		"not counted": {`SELECT id FROM turns WHERE counted <> 1 OR merges <> 0`, nil},
	} {
		if got := column(t, db, c.query); !slices.Equal(got, c.want) {
			t.Errorf("%s are now\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// column reads the one column of a query.
func column(t *testing.T, db *sql.DB, query string) (all []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var value string
		if err := rows.Scan(&value); err != nil {
			t.Fatal(err)
		}
		all = append(all, value)
	}
	return all
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
