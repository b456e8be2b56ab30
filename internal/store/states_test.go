package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// docs/states.md and both schemas name the same constraints.
func TestStatesPage(t *testing.T) {
	page := constraints(t, "../../docs/states.md", "`((?:turn|outbox)_[a-z_]+)`")
	for _, dialect := range []string{"sqlitefile", "postgres"} {
		if d := cmp.Diff(named(t, dialect, `CONSTRAINT ((?:turn|outbox)_\w+) CHECK`), page); d != "" {
			t.Errorf("constraints in docs/states.md (-%s +page):\n%s", dialect, d)
		}
	}
}

// Holds docs/spec/15-storage.md: both databases have the same tables, indexes and rules.
func TestSchemasAreAlike(t *testing.T) {
	const names = `(?:CREATE (?:UNIQUE )?INDEX|CREATE TABLE|CONSTRAINT) (\w+)`
	if d := cmp.Diff(named(t, "sqlitefile", names), named(t, "postgres", names)); d != "" {
		t.Errorf("names in the migrations (-SQLite +PostgreSQL):\n%s", d)
	}
}

// Holds docs/spec/15-storage.md: both databases have the same columns, and what must be there in
// one must be there in the other.
func TestColumnsAreAlike(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open(t, store.Options{URL: "sqlite:" + path})
	sqlite := columns(t, rawDB(t, path), `SELECT m.name || '.' || c.name || ' ' || CASE WHEN c."notnull" = 1 THEN 'required' ELSE 'optional' END
        FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`)
	postgres := columns(t, postgrestest.Raw(t, postgrestest.Open(t)), `SELECT table_name || '.' || column_name || ' '
        || CASE is_nullable WHEN 'NO' THEN 'required' ELSE 'optional' END
        FROM information_schema.columns WHERE table_schema = 'public' AND table_name NOT LIKE 'goose%'`)
	if d := cmp.Diff(sqlite, postgres); d != "" {
		t.Errorf("columns (-SQLite +PostgreSQL):\n%s", d)
	}
}

func columns(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	all, err := database.Collect(rows, err, database.ScanString)
	if err != nil || len(all) == 0 {
		t.Fatalf("%d columns, %v", len(all), err)
	}
	slices.Sort(all)
	return all
}

// named are the names that a pattern finds in the migrations of a dialect.
func named(t *testing.T, dialect, pattern string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(dialect + "/migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d migrations, %v", len(files), err)
	}
	for _, file := range files {
		names = append(names, constraints(t, file, pattern)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func constraints(t *testing.T, file, pattern string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
