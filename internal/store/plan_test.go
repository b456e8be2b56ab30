package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store"
)

// bounded are the steps that read few rows although their wording says scan or sort.
var bounded = map[string]string{
	"selectQueued":      "SCAN CONSTANT ROW",                        // the one row of SELECT EXISTS
	"selectNextDue":     "SCAN o USING INDEX outbox_due",            // in due order, ended by the limit
	"selectRecentTurns": "USE TEMP B-TREE FOR string_agg(ORDER BY)", // the rows of one turn
}

// Holds docs/spec/15-storage.md: every query on the turn path is served by an index.
func TestQueryPlans(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	open(t, store.Options{URL: "sqlite:" + path})
	db := rawDB(t, path)
	for name, query := range store.TurnPath {
		for _, step := range plan(t, db, query) {
			if (strings.Contains(step, "SCAN") || strings.Contains(step, "TEMP B-TREE")) && step != bounded[name] {
				t.Errorf("%s is not served by an index: %s", name, step)
			}
		}
	}
}

func plan(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	var args []any
	for range slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(query, -1)))) {
		args = append(args, nil)
	}
	rows, err := db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+query, args...)
	if err != nil {
		t.Fatalf("explain %s: %v", query, err)
	}
	defer rows.Close()
	var steps []string
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, detail)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return steps
}

var placeholder = regexp.MustCompile(`\$\d+`)

// Every SQL text of the package is on the list or is one of these, so that a new query
// cannot be forgotten.
func TestQueryPlansAreComplete(t *testing.T) {
	notOnTurnPath := []string{
		"conversationColumns", "outboxColumns", "turnColumns", "joinTurn", "claimable", "unfinished", // parts of queries
		"insertProcess", "deleteOtherProcesses", // once at start, over a handful of rows
		"selectOutboxRows", "selectDead", // lists, by page
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
