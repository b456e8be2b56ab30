package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// bounded are the steps that read few rows although their wording says scan or sort.
var bounded = map[string]string{
	"selectAnyUnowned":  "SCAN CONSTANT ROW",                        // the one row of SELECT EXISTS
	"selectEarlier":     "SCAN CONSTANT ROW",                        // the same
	"selectWaiting":     "SCAN CONSTANT ROW",                        // the same
	"selectRecentTurns": "USE TEMP B-TREE FOR string_agg(ORDER BY)", // the rows of one turn
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open(t, store.Options{URL: "sqlite:" + path})
	storetest.CheckPlans(t, rawDB(t, path), store.TurnPath, bounded)
}

// Every SQL text of the package is on the list or is one of these, so that a new query
// cannot be forgotten.
func TestQueryPlansAreComplete(t *testing.T) {
	notOnTurnPath := []string{
		"conversationColumns", "holdConversation", "turnColumns", "recentColumns", "joinTurn", "unfinished", // parts of queries
		"insertProcess", "deleteOtherProcesses", "selectProcesses", "selectLeft", // at start, or over a handful of rows
		"selectLatestTurns", // a list, by page
	}
	declared := regexp.MustCompile("(?m)^const (\\w+) = `")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			_, listed := store.TurnPath[match[1]]
			if listed == slices.Contains(notOnTurnPath, match[1]) {
				t.Errorf("%s: query %s must be on exactly one of the lists", file, match[1])
			}
		}
	}
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	postgrestest.CheckPlans(t, db, store.TurnPath, nil)
}
