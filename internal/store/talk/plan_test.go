package talk_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
	"github.com/manychat-agent/manychat-agent/internal/store/talk"
)

// bounded are the steps that read few rows although their wording says scan or sort.
var bounded = map[string]string{
	"insertTalk":       "SCAN CONSTANT ROW",            // the one row that is inserted
	"selectConfirms":   "SCAN CONSTANT ROW",            // the one row of SELECT EXISTS
	"selectTalksOf":    "USE TEMP B-TREE FOR ORDER BY", // one a channel
	"selectOnTheirWay": "USE TEMP B-TREE FOR ORDER BY", // of one contact
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	storetest.CheckPlans(t, db.Read(), talk.TurnPath, bounded)
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	postgrestest.CheckPlans(t, db, talk.TurnPath, nil)
}
