package rates_test

import (
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/rates"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func open(t *testing.T, now func() time.Time) *database.DB {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// Holds docs/spec/05-delivery.md, "ManyChat client": the limits hold for the whole deployment,
// each tenant's and each limit for itself.
func TestLease(t *testing.T) {
	now := start
	db := open(t, func() time.Time { return now })
	academy, repair := rates.In(db, "academy"), rates.In(db, "repair")
	tests := []struct {
		name   string
		table  *rates.Table
		limit  string
		now    time.Duration
		length time.Duration
		from   time.Duration
	}{
		{"the first begins now", academy, "flows", 0, 200 * time.Millisecond, 0},
		{"the next follows it", academy, "flows", 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond},
		{"another limit is its own", academy, "writes", 50 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond},
		{"another tenant too", repair, "flows", 50 * time.Millisecond, 100 * time.Millisecond, 50 * time.Millisecond},
		{"none begins in the past", academy, "flows", 2 * time.Second, 100 * time.Millisecond, 2 * time.Second},
		{"behind it", academy, "flows", 2 * time.Second, 100 * time.Millisecond, 2100 * time.Millisecond},
		{"a clock that was set back mutes nobody", academy, "flows", -time.Hour, 100 * time.Millisecond, -time.Hour},
	}
	for _, tt := range tests {
		now = start.Add(tt.now)
		from, err := tt.table.Lease(t.Context(), tt.limit, tt.length)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got := from.Sub(start); got != tt.from {
			t.Errorf("%s: begins at %v, want %v", tt.name, got, tt.from)
		}
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": stretches that are leased side by side
// do not overlap.
func TestLeaseConcurrently(t *testing.T) {
	tests := map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "agent.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Open(t) },
	}
	for name, url := range tests {
		t.Run(name, func(t *testing.T) {
			db, err := database.Open(t.Context(), database.Options{URL: url(t), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			table := rates.In(db, "academy")
			var wg sync.WaitGroup
			var mu sync.Mutex
			var got []time.Time
			for range 50 {
				wg.Go(func() {
					from, err := table.Lease(t.Context(), "writes", 100*time.Millisecond)
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					got = append(got, from)
				})
			}
			wg.Wait()
			slices.SortFunc(got, time.Time.Compare)
			for i := 1; i < len(got); i++ {
				if d := got[i].Sub(got[i-1]); d != 100*time.Millisecond { // all are asked for within the first
					t.Errorf("stretch %d begins %v behind the one before", i, d)
				}
			}
		})
	}
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	storetest.CheckPlans(t, open(t, time.Now).Read(), rates.Queries, nil)
}
