package rates_test

import (
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/rates"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
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
	table := rates.In(open(t, func() time.Time { return start }), "academy")
	var wg sync.WaitGroup
	var mu sync.Mutex
	got, want := map[time.Duration]bool{}, map[time.Duration]bool{}
	for i := range 50 {
		want[time.Duration(i)*100*time.Millisecond] = true
		wg.Go(func() {
			from, err := table.Lease(t.Context(), "writes", 100*time.Millisecond)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			got[from.Sub(start)] = true
		})
	}
	wg.Wait()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("stretches (-want +got):\n%s", d)
	}
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	storetest.CheckPlans(t, open(t, time.Now).Read(), rates.Queries, nil)
}
