package queue_test

import (
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// bounded are the steps that read few rows although their wording says scan or sort.
var bounded = map[string]string{
	"selectPending": "SCAN CONSTANT ROW; SCAN outbox USING COVERING INDEX outbox_due", // the first row that it finds
	"selectQueued":  "SCAN CONSTANT ROW",                                              // the one row of SELECT EXISTS
	"selectHeld":    "SCAN outbox USING INDEX outbox_delivering",                      // what is in hand, once a minute
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	storetest.CheckPlans(t, db.Read(), queue.TurnPath, bounded)
	storetest.CheckIndexes(t, db.Read(), queue.TurnPath, map[string]string{
		"selectQueued": "outbox_order", "selectAhead": "outbox_order", "uncarryRows": "outbox_order",
		"claimOutbox": "outbox_due", "selectNextDue": "outbox_due",
	})
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	all := maps.Clone(queue.TurnPath)
	maps.Copy(all, queue.Locks)
	postgrestest.CheckPlans(t, db, all, map[string]string{
		"selectHeld":    "Index Scan of all of outbox_delivering", // what is in hand, once a minute
		"selectPending": "Index Only Scan of all of outbox_due",   // the first row that it finds
	})
}
