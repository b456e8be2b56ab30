package store_test

import (
	"database/sql"
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/actstest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/lanetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/nudgetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/saletest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/talktest"
)

// Holds docs/spec/15-storage.md: the suite that every database passes.
func TestSQLite(t *testing.T) {
	storetest.Run(t, empty)
}

// Holds docs/spec/15-storage.md: the part of the suite that is about actions.
func TestSQLiteActs(t *testing.T) { actstest.Run(t, empty) }

// Holds docs/spec/15-storage.md: the part of the suite that is about turns that come at once.
func TestSQLiteLane(t *testing.T) { lanetest.Run(t, empty) }

// Holds docs/spec/15-storage.md: the part of the suite that is about people who take over.
func TestSQLiteTalks(t *testing.T) { talktest.Run(t, empty) }

// Holds docs/spec/15-storage.md: the part of the suite that is about contacts as buyers.
func TestSQLiteSale(t *testing.T) { saletest.Run(t, empty) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQLSale(t *testing.T) { saletest.Run(t, emptyPostgreSQL) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQLTalks(t *testing.T) { talktest.Run(t, emptyPostgreSQL) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQL(t *testing.T) { storetest.Run(t, emptyPostgreSQL) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQLActs(t *testing.T) { actstest.Run(t, emptyPostgreSQL) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQLLane(t *testing.T) { lanetest.Run(t, emptyPostgreSQL) }

// Holds docs/spec/15-storage.md: the part of the suite that is about nudges.
func TestSQLiteNudges(t *testing.T) { nudgetest.Run(t, empty) }

// Holds docs/spec/15-storage.md: the same tests run against PostgreSQL.
func TestPostgreSQLNudges(t *testing.T) { nudgetest.Run(t, emptyPostgreSQL) }

// emptyPostgreSQL opens an empty PostgreSQL database.
func emptyPostgreSQL(t *testing.T, now func() time.Time) storetest.Opened {
	url := postgrestest.Open(t)
	return opened(t, store.Options{URL: url, Now: now}, postgrestest.Raw(t, url))
}

// empty opens an empty SQLite database.
func empty(t *testing.T, now func() time.Time) storetest.Opened {
	path := filepath.Join(t.TempDir(), "agent.db")
	o := store.Options{URL: "sqlite:" + path, Now: now}
	return opened(t, o, rawDB(t, path))
}

// opened is a database with raw beside it.
func opened(t *testing.T, o store.Options, raw *sql.DB) storetest.Opened {
	return storetest.Opened{
		DB: open(t, o),
		Exec: func(query string, args ...any) error {
			_, err := raw.ExecContext(t.Context(), query, args...)
			return err
		},
		Text: func(query string, args ...any) (text string, err error) {
			err = raw.QueryRowContext(t.Context(), query, args...).Scan(&text)
			return text, err
		},
		Beside: func(t *testing.T) *store.DB { return open(t, o) },
	}
}

func open(t testing.TB, o store.Options) *store.DB {
	t.Helper()
	if o.Now == nil {
		o.Now = time.Now
	}
	db, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db
}

// rawDB is the file beside the store.
func rawDB(t testing.TB, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)&_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// rawExec runs statements beside the store.
func rawExec(t testing.TB, path string) func(query string, args ...any) error {
	t.Helper()
	db := rawDB(t, path)
	return func(query string, args ...any) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}
}
