package storetest

import (
	"context"
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var placeholder = regexp.MustCompile(`\$\d+`)

// Explainer is a connection to an SQLite database with the tables that queries are about.
type Explainer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// CheckPlans fails for every query that reads more than an index finds, unless bounded has
// the steps by the query's name, a semicolon between them: those that read few rows although
// their wording says scan. It fails too for one that SQLite would plan anew each time it runs.
func CheckPlans(t *testing.T, db Explainer, queries, bounded map[string]string) {
	t.Helper()
	for name, query := range queries {
		if p := planned.FindString(behindSet.ReplaceAllString(query, "")); p != "" {
			t.Errorf("%s is planned anew for each value: write CAST(… AS …) around the parameter of %q", name, p)
		}
		for _, step := range plan(t, db, query) {
			if (strings.Contains(step, "SCAN") || strings.Contains(step, "TEMP B-TREE")) && !slices.Contains(strings.Split(bounded[name], "; "), step) {
				t.Errorf("%s is not served by an index: %s", name, step)
			}
		}
	}
}

// planned finds a parameter whose value SQLite looks at when it plans a query, which it then does
// each time that one is bound: a limit, and what the condition of a partial index may be about.
// That takes longer than most queries do. (QPSG of https://www.sqlite.org/queryplanner-ng.html would
// turn it off; the driver cannot.)
var planned = regexp.MustCompile(`LIMIT \$\d+|\b(kind|status|state|bound|role|counted|in_history) (=|<>|IN) \(?\$\d+`)

// behindSet finds what an update sets, which is no condition.
var behindSet = regexp.MustCompile(`(?s)\bSET .*?(WHERE|$)`)

// CheckIndexes fails for every query that reads no row by the index that it is there for, the
// value by its name: another one may find the same rows behind many more.
func CheckIndexes(t *testing.T, db Explainer, queries, indexes map[string]string) {
	t.Helper()
	for name, index := range indexes {
		steps := plan(t, db, queries[name])
		if !slices.ContainsFunc(steps, func(step string) bool { return strings.Contains(step, " INDEX "+index+" (") }) {
			t.Errorf("%s is not served by %s: %q", name, index, steps)
		}
	}
}

func plan(t *testing.T, db Explainer, query string) []string {
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
