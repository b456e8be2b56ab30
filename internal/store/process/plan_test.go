package process_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/process"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	storetest.CheckPlans(t, db.Read(), process.TurnPath, map[string]string{
		"selectAnyUnowned": "SCAN CONSTANT ROW",            // the one row of SELECT EXISTS
		"selectRowOwners":  "USE TEMP B-TREE FOR DISTINCT", // what is in hand, once a heartbeat
	})
	storetest.CheckIndexes(t, db.Read(), process.TurnPath, map[string]string{
		"selectOwned": "turns_unfinished", "handBackTurns": "turns_unfinished", "selectTurnOwners": "turns_unfinished",
		"requeueOf": "outbox_delivering", "selectRowOwners": "outbox_delivering",
	})
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	postgrestest.CheckPlans(t, db, process.TurnPath, map[string]string{
		"selectTurnOwners": "Bitmap Index Scan of all of turns_open", // the unfinished turns, once a heartbeat
	})
}
