package store_test

import (
	"errors"
	"path/filepath"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Holds docs/spec/15-storage.md: migrations are forward-only and run under a lock.
func TestMigrate(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "data", "agent.db")
	if _, err := database.Version(t.Context(), url); !errors.Is(err, store.ErrMissing) {
		t.Errorf("Version of no database returned %v, want ErrMissing", err)
	}
	var wg sync.WaitGroup
	for range 8 { // several processes at once
		wg.Go(func() {
			if err := database.Migrate(t.Context(), url); err != nil {
				t.Errorf("Migrate: %v", err)
			}
		})
	}
	wg.Wait()
	got, err := database.Version(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if got.Database != got.Binary || got.Binary < 1 {
		t.Errorf("versions after migrating: %+v", got)
	}
	open(t, store.Options{URL: url, NoMigration: true})
}

func TestMigrateKeepsData(t *testing.T) {
	path := create(t)
	if err := database.Migrate(t.Context(), "sqlite:"+path); err != nil {
		t.Fatal(err)
	}
	db := open(t, store.Options{URL: "sqlite:" + path})
	if got, err := db.Turn(t.Context(), "turn-1"); err != nil || got.Text != "hello" {
		t.Errorf("Turn returned %+v, %v", got, err)
	}
}

func TestMigrateRefusesNewer(t *testing.T) {
	path := newer(t)
	if err := database.Migrate(t.Context(), "sqlite:"+path); !errors.Is(err, store.ErrNewer) {
		t.Errorf("Migrate returned %v, want ErrNewer", err)
	}
	got, err := database.Version(t.Context(), "sqlite:"+path)
	if err != nil || got.Database != 99999 {
		t.Errorf("Version returned %+v, %v", got, err)
	}
}

// Holds docs/spec/15-storage.md: a second serve or worker on one SQLite file is refused,
// commands beside a running service are fine.
func TestLock(t *testing.T) {
	url := "sqlite:" + filepath.Join(t.TempDir(), "data", "agent.db")
	unlock, err := database.Lock(url)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := database.Lock(url); !errors.Is(err, store.ErrInUse) {
		t.Errorf("a second Lock returned %v, want ErrInUse", err)
	}
	open(t, store.Options{URL: url})
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	unlock, err = database.Lock(url)
	if err != nil {
		t.Fatalf("Lock after unlock: %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
}

// Holds docs/spec/15-storage.md: on PostgreSQL no process is special.
func TestNoLockOnPostgreSQL(t *testing.T) {
	for range 2 {
		unlock, err := database.Lock("postgres://localhost/agent")
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := unlock(); err != nil {
				t.Error(err)
			}
		}()
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": a row for each process.
func TestProcessRow(t *testing.T) {
	path := create(t)
	processes := func() (ids []string) {
		rows, err := rawDB(t, path).QueryContext(t.Context(), "SELECT id FROM processes WHERE tenant_id = 'demo' ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id string
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return ids
	}
	db := open(t, store.Options{URL: "sqlite:" + path})
	for _, owner := range []string{"process-a", "process-b", "process-b", "process-c"} {
		if _, _, err := db.Beat(t.Context(), sweep.Process{ID: owner, TenantID: "demo"}); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff([]string{"process-a", "process-b", "process-c"}, processes()); d != "" {
		t.Errorf("processes (-want +got):\n%s", d)
	}
	if _, _, err := db.TakeOver(t.Context(), sweep.TakeOver{Process: sweep.Process{ID: "process-c", TenantID: "demo"}, All: true}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"process-c"}, processes()); d != "" {
		t.Errorf("processes after a take-over (-want +got):\n%s", d)
	}
}
