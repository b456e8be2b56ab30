package transfer_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/store/transfer"
)

func file(t *testing.T) (url string, raw *sql.DB) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	if err := database.Migrate(t.Context(), "sqlite:"+path); err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return "sqlite:" + path, raw
}

// rows is one row of each table, and more of turns than a statement takes. A contact's row
// stands before the agent's that it names, and a merged turn before the one that answers it.
var rows = map[string]string{
	"conversations": `INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at) VALUES ('c', 'demo', 'whatsapp', '900000001', 1000, 1)`,
	"turns": `INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, attempt, outcome, path,
        settled_at, confidence, merged_into)
        VALUES ('m', 'a', 'demo', 'c', 'contact', 1, 1, 1, 'naïve ✓', 1, NULL, 0, NULL, NULL, NULL, NULL, NULL),
               ('n', 'b', 'demo', 'c', 'contact', 3, 1, 1, 'and', 1, NULL, 0, NULL, NULL, NULL, NULL, NULL),
               ('a', 'a', 'demo', 'c', 'agent', 2, 1, 0, '', 1, 'merged', 0, 'merged', 'silent', 2, NULL, 'b'),
               ('b', 'b', 'demo', 'c', 'agent', 4, 1, 1, 'yes', 1, 'settled', 1, 'answered', 'inline', 2, 0.1, NULL)`,
	"outbox": `INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status, next_attempt_at, created_at)
        VALUES ('o', 'demo', 'c', 'b', 'whatsapp', '900000001', 'reply', 4, 0, '{"texts":["yes"]}', 'pending', 2, 2)`,
	"processes":     `INSERT INTO processes (id, tenant_id, started_at, beat_at) VALUES ('p', 'demo', 1, 2)`,
	"contacts":      `INSERT INTO contacts VALUES ('demo', '900000001', '{}', 0)`,
	"budget_days":   `INSERT INTO budget_days (tenant_id, day, tokens_spent) VALUES ('demo', 20000, 9223372036854775807)`,
	"budget_leases": `INSERT INTO budget_leases VALUES ('demo', 'p', 20000, 1, 2, 2, 3, 4, 4, 1)`,
	"flow_sends":    `INSERT INTO flow_sends VALUES ('demo', '900000001', 'opening', NULL, 3, NULL)`,
	"flow_slots":    `INSERT INTO flow_slots VALUES ('demo', '900000001', 3, 1)`,
	"nudges":        `INSERT INTO nudges (id, tenant_id, conversation_id, turn_id, delay, message_at, due_at, state, created_at) VALUES ('n', 'demo', 'c', 'b', 'two_hours', 1, 2, 'pending', 2)`,
	"rates":         `INSERT INTO rates VALUES ('demo', 'writes', 7)`,
}

// names are the tables of a database, read in another way than the program does.
func names(t *testing.T, raw *sql.DB) []string {
	t.Helper()
	found, err := raw.QueryContext(t.Context(), `SELECT tbl_name FROM sqlite_schema WHERE type = 'table' AND tbl_name NOT IN ('goose_db_version', 'sqlite_sequence')`)
	all, err := database.Collect(found, err, database.ScanString)
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

// fill puts rows into every table; one that has none in this test is forgotten.
func fill(t *testing.T, raw *sql.DB) {
	t.Helper()
	all := names(t, raw)
	tx, err := raw.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	statements := []string{"PRAGMA defer_foreign_keys = ON"}
	for _, table := range all {
		if rows[table] == "" {
			t.Errorf("table %s has no row in this test: add one", table)
			continue
		}
		statements = append(statements, rows[table])
	}
	statements = append(statements, `WITH RECURSIVE n (i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 610)
        INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, attempt)
        SELECT 't' || i, 't' || i, 'demo', 'c', 'agent', i, 0, 0, '', 1, 'waiting', 0 FROM n`)
	for _, s := range statements {
		if _, err := tx.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// dump is everything in a table, as text.
func dump(t *testing.T, raw *sql.DB, table string) (lines []string) {
	t.Helper()
	found, err := raw.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	columns, err := found.Columns()
	if err != nil {
		t.Fatal(err)
	}
	lines, err = database.Collect(found, nil, func(r database.Row) (string, error) {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		err := r.Scan(into...)
		return fmt.Sprintf("%#v", values), err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	return lines
}

func copied(t *testing.T, from, to string) ([]transfer.Copied, error) {
	t.Helper()
	return transfer.Copy(t.Context(), transfer.Options{From: from, To: to, Now: time.Now})
}

// Holds docs/spec/15-storage.md, "Storage and scale": db copy is checked by row counts and
// hashes. A table that a later version adds is copied without a change of this package.
func TestCopiesEverything(t *testing.T) {
	from, source := file(t)
	to, target := file(t)
	for _, raw := range []*sql.DB{source, target} {
		if _, err := raw.ExecContext(t.Context(), `CREATE TABLE added (a TEXT PRIMARY KEY, b REAL, "order" INTEGER) STRICT`); err != nil {
			t.Fatal(err)
		}
	}
	rows["added"] = `INSERT INTO added VALUES ('x', 1.0, -1), ('y', 1e300, NULL)`
	fill(t, source)
	got, err := copied(t, from, to)
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	hashes := map[string]bool{}
	for _, c := range got {
		listed = append(listed, c.Table)
		hashes[c.Hash] = true
		want := dump(t, source, c.Table)
		if d := cmp.Diff(want, dump(t, target, c.Table)); d != "" || c.Rows != int64(len(want)) || len(want) == 0 {
			t.Errorf("table %s has %d rows of %d (-sent +arrived):\n%s", c.Table, c.Rows, len(want), d)
		}
	}
	slices.Sort(listed)
	if d := cmp.Diff(names(t, source), listed); d != "" {
		t.Errorf("tables (-there +copied):\n%s", d)
	}
	if len(hashes) != len(got) {
		t.Errorf("tables of different content have one hash: %v", got)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": what cannot be copied whole is not
// copied at all, and one sentence says why.
func TestRefuses(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	held := func(t *testing.T, url string) {
		unlock, err := database.Lock(url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = unlock() })
	}
	exec := func(t *testing.T, raw *sql.DB, statements ...string) {
		for _, s := range append([]string{"PRAGMA foreign_keys = OFF"}, statements...) {
			if _, err := raw.ExecContext(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	type pair struct {
		from, to       string
		source, target *sql.DB
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, p *pair)
		want   error
	}{
		"one database":            {func(_ *testing.T, p *pair) { p.to = p.from }, transfer.ErrSame},
		"rows in the target":      {func(t *testing.T, p *pair) { exec(t, p.target, rows["processes"]) }, transfer.ErrNotEmpty},
		"no tables in the target": {func(_ *testing.T, p *pair) { p.to = "sqlite:" + empty }, transfer.ErrNoTables},
		"no target":               {func(_ *testing.T, p *pair) { p.to = "sqlite:" + empty + ".none" }, sqlitefile.ErrMissing},
		"no source":               {func(_ *testing.T, p *pair) { p.from = "sqlite:" + empty + ".none" }, sqlitefile.ErrMissing},
		"a service on the source": {func(t *testing.T, p *pair) { held(t, p.from) }, sqlitefile.ErrInUse},
		"a service on the target": {func(t *testing.T, p *pair) { held(t, p.to) }, sqlitefile.ErrInUse},
		"an older source":         {func(t *testing.T, p *pair) { exec(t, p.source, "DELETE FROM goose_db_version WHERE version_id > 1") }, transfer.ErrOlder},
		"a newer target": {func(t *testing.T, p *pair) {
			exec(t, p.target, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
		}, sqlitefile.ErrNewer},
		"a column of one":           {func(t *testing.T, p *pair) { exec(t, p.source, "ALTER TABLE contacts ADD COLUMN more TEXT") }, transfer.ErrDifferent},
		"a table of one":            {func(t *testing.T, p *pair) { exec(t, p.target, "CREATE TABLE more (a TEXT)") }, transfer.ErrDifferent},
		"a turn of no conversation": {func(t *testing.T, p *pair) { exec(t, p.source, "DELETE FROM conversations") }, sqlitefile.ErrConstraint},
		"a turn merged into none":   {func(t *testing.T, p *pair) { exec(t, p.source, "DELETE FROM turns WHERE id = 'b'") }, sqlitefile.ErrConstraint},
		"values of a wrong kind": {func(t *testing.T, p *pair) {
			exec(t, p.target, "DROP TABLE flow_sends", "CREATE TABLE flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at TEXT, earlier_at)")
		}, transfer.ErrArrived},
	} {
		t.Run(name, func(t *testing.T) {
			var p pair
			p.from, p.source = file(t)
			p.to, p.target = file(t)
			fill(t, p.source)
			c.change(t, &p)
			if got, err := copied(t, p.from, p.to); !errors.Is(err, c.want) {
				t.Errorf("Copy returned %v, %v; want %v", got, err, c.want)
			}
			var arrived int
			if err := p.target.QueryRowContext(t.Context(), "SELECT count(*) FROM turns").Scan(&arrived); err != nil || arrived > 0 {
				t.Errorf("%d turns arrived, %v", arrived, err)
			}
			if _, err := os.Stat(empty + ".none"); err == nil {
				t.Error("a database was made")
			}
		})
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": SQLite to PostgreSQL, and back. What
// returns is what was sent, and the hashes say so on the way.
func TestPostgreSQLAndBack(t *testing.T) {
	from, source := file(t)
	fill(t, source)
	server := postgrestest.Open(t)
	there, err := copied(t, from, server)
	if err != nil {
		t.Fatal(err)
	}
	raw := postgrestest.Raw(t, server)
	var late int
	if err := raw.QueryRowContext(t.Context(), "SELECT count(*) FROM pg_constraint WHERE condeferrable").Scan(&late); err != nil || late > 0 {
		t.Errorf("%d constraints are left to be checked late, %v", late, err)
	}
	if _, err := copied(t, from, server); !errors.Is(err, transfer.ErrNotEmpty) {
		t.Errorf("a second copy returned %v", err)
	}
	to, target := file(t)
	back, err := copied(t, server, to)
	if err != nil {
		t.Fatal(err)
	}
	byName := func(a, b transfer.Copied) int { return strings.Compare(a.Table, b.Table) }
	slices.SortFunc(there, byName)
	slices.SortFunc(back, byName)
	if d := cmp.Diff(there, back); d != "" {
		t.Errorf("tables (-there +back):\n%s", d)
	}
	for _, table := range names(t, source) {
		if d := cmp.Diff(dump(t, source, table), dump(t, target, table)); d != "" {
			t.Errorf("table %s (-sent +returned):\n%s", table, d)
		}
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": one database waits for the other for as long
// as it must. Here a writer holds the file for longer than PostgreSQL lets a service's
// transaction idle.
func TestCopyThatWaits(t *testing.T) {
	from, source := file(t)
	fill(t, source)
	server := postgrestest.Open(t)
	if _, err := copied(t, from, server); err != nil {
		t.Fatal(err)
	}
	impatient, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	limits := impatient.Query()
	limits.Set("idle_in_transaction_session_timeout", "100")
	impatient.RawQuery = limits.Encode()

	to, target := file(t)
	writer, err := target.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if _, err := writer.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { _, err := copied(t, impatient.String(), to); done <- err }()
	raw := postgrestest.Raw(t, server)
	for idle := false; !idle && len(done) == 0; {
		err := raw.QueryRowContext(t.Context(), `SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database()
            AND state = 'idle in transaction' AND state_change < clock_timestamp() - interval '300 ms')`).Scan(&idle)
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := writer.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": what PostgreSQL cannot keep, or
// refuses, is said with its place, and nothing is kept.
func TestPostgreSQLRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		statement string
		want      string
	}{
		"a zero byte":              {"UPDATE turns SET text = 'a' || char(0) || 'b' WHERE id = 'm'", "copy table turns: PostgreSQL cannot keep this text, which is not valid UTF-8 or holds a zero byte: column text of the row with id = m"},
		"no UTF-8":                 {"UPDATE turns SET text = CAST(x'ff' AS TEXT) WHERE id = 'm'", "column text of the row with id = m"},
		"a turn merged into none":  {"UPDATE turns SET merged_into = 'none' WHERE id = 'a'", "the values break a rule of the database"},
		"a turn without a contact": {"DELETE FROM conversations", "the values break a rule of the database"},
	} {
		t.Run(name, func(t *testing.T) {
			from, source := file(t)
			fill(t, source)
			for _, s := range []string{"PRAGMA foreign_keys = OFF", c.statement} {
				if _, err := source.ExecContext(t.Context(), s); err != nil {
					t.Fatal(err)
				}
			}
			server := postgrestest.Open(t)
			if _, err := copied(t, from, server); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("Copy returned %v, want %s", err, c.want)
			}
			var arrived int
			if err := postgrestest.Raw(t, server).QueryRowContext(t.Context(), "SELECT count(*) FROM processes").Scan(&arrived); err != nil || arrived > 0 {
				t.Errorf("%d processes arrived, %v", arrived, err)
			}
		})
	}
	from, _ := file(t)
	if _, err := copied(t, from, postgrestest.Empty(t)); !errors.Is(err, transfer.ErrNoTables) {
		t.Errorf("a copy to a database without tables returned %v", err)
	}
}
