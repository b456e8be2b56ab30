package nudges_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// served are the indexes over few of a table's rows, by the queries that they are there for.
var served = map[string]string{"selectDue": "nudges_due", "cancelOpen": "nudges_open", "settleNudge": "nudges_open"}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	storetest.CheckPlans(t, db.Read(), nudges.TurnPath, nil)
	storetest.CheckIndexes(t, db.Read(), nudges.TurnPath, served)
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	postgrestest.CheckPlans(t, db, nudges.TurnPath, nil)
}
