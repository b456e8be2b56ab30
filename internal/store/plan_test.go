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
	"selectEarlier": "SCAN CONSTANT ROW",            // the one row of SELECT EXISTS
	"selectWaiting": "SCAN CONSTANT ROW",            // the same
	"selectMerged":  "USE TEMP B-TREE FOR ORDER BY", // the messages of one turn
}

// served are the indexes over few of a table's rows, by the queries that they are there for.
var served = map[string]string{
	"selectHistory": "turns_history", "selectRecent": "turns_messages", "selectLast": "turns_messages",
	"selectOpen": "turns_open", "selectEarlier": "turns_open",
	"selectMerged": "turns_merged", "moveMerged": "turns_merged", "hideMerged": "turns_merged", "showMerged": "turns_merged",
	"selectUnowned": "turns_unfinished", "selectOrphans": "turns_unfinished",
	"requeueAll": "outbox_delivering",
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open(t, store.Options{URL: "sqlite:" + path})
	storetest.CheckPlans(t, rawDB(t, path), store.TurnPath, bounded)
	storetest.CheckIndexes(t, rawDB(t, path), store.TurnPath, served)
}

// Every SQL text of the package is on the list or is one of these, so that a new query
// cannot be forgotten.
func TestQueryPlansAreComplete(t *testing.T) {
	notOnTurnPath := []string{
		"conversationColumns", "holdConversation", "unfinished", // parts of queries
		"deleteOtherProcesses", "selectLeft", // at start, or over a handful of rows
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
	postgrestest.CheckPlans(t, db, store.TurnPath, map[string]string{
		"selectUnowned": "Bitmap Index Scan of all of turns_open", // the unfinished turns: messages have no owner either, so that one seems no rarity
	})
}
