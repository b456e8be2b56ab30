package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/schema"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// Holds docs/spec/15-storage.md: migrations are forward-only and run under a lock.
func TestMigrate(t *testing.T) {
	url := postgrestest.Empty(t)
	p := connect(t, url)
	if got, err := postgres.Version(t.Context(), p.DB); got != 0 || err != nil {
		t.Errorf("the version of an empty database is %d, %v", got, err)
	}
	var wg sync.WaitGroup
	for range 8 { // several processes at once
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Errorf("Migrate: %v", err)
			}
		})
	}
	wg.Wait()
	if got, err := postgres.Version(t.Context(), p.DB); got != postgres.Latest() || err != nil {
		t.Errorf("the version is %d, %v", got, err)
	}
	write(t, p, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	if err := postgres.Migrate(t.Context(), url); !errors.Is(err, schema.ErrNewer) {
		t.Errorf("Migrate returned %v, want ErrNewer", err)
	}
}

// Holds docs/spec/15-storage.md: a version means the same in both databases.
func TestLatestIsTheSame(t *testing.T) {
	if got, want := postgres.Latest(), sqlitefile.Latest(); got != want {
		t.Errorf("PostgreSQL's newest migration is %d, SQLite's is %d", got, want)
	}
}
