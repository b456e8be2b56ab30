package postgrestest

import (
	"database/sql"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// planner makes PostgreSQL say whether an index could serve a query, as it does for any values.
var planner = []string{
	"SET enable_seqscan = off", "SET enable_hashjoin = off", "SET enable_mergejoin = off", "SET plan_cache_mode = force_generic_plan",
}

// crowd is so many contacts, turns and outbox rows that reading all of any of them, or of
// an index, is dearer than finding a few.
var crowd = []string{
	`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at)
    SELECT 'c' || i, 'demo', 'whatsapp', CAST(i AS TEXT), 20, 1 FROM generate_series(1, 2000) i`,
	`INSERT INTO contacts (tenant_id, subscriber_id, token, has_token)
    SELECT 'demo', CAST(i AS TEXT), '{}', 0 FROM generate_series(1, 2000) i`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, attempt,
        owner, outcome, path, settled_at, replies)
    SELECT 't' || i, 't' || i, 'tenant' || i % 20, 'c' || i % 2000 + 1, 'agent', i / 2000 * 2 + 2, 1, 1, 'hi', i,
        CASE WHEN i <= 13000 THEN 'settled' WHEN i % 2 = 0 THEN 'answering' ELSE 'running' END, 1, 'p' || i % 4,
        CASE WHEN i <= 13000 OR i % 2 = 0 THEN 'answered' END, CASE WHEN i <= 13000 OR i % 2 = 0 THEN 'inline' END,
        CASE WHEN i <= 13000 OR i % 2 = 0 THEN i END, '[]'
    FROM generate_series(1, 15000) i`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at)
    SELECT 'm' || i, 't' || i, 'tenant' || i % 20, 'c' || i % 2000 + 1, 'contact', i / 2000 * 2 + 1, 1, 1, 'hi', i FROM generate_series(1, 15000) i`,
	`INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status,
        owner, attempts, delivered_at, reason, next_attempt_at, created_at)
    SELECT 'o' || i || k, 'demo', 'c' || i % 2000 + 1, 't' || i, 'whatsapp', CAST(i % 2000 + 1 AS TEXT), k, i / 2000 * 2 + 2, 0, '{}',
        CASE i % 5 WHEN 0 THEN 'pending' WHEN 1 THEN 'delivering' WHEN 2 THEN 'dead' ELSE 'delivered' END,
        CASE WHEN i % 5 = 1 THEN 'p' END, 1, CASE WHEN i % 5 > 2 THEN i END, CASE WHEN i % 5 = 2 THEN 'rejected' END, i, i
    FROM generate_series(1, 15000) i, unnest(ARRAY['reply', 'contact_token', 'handoff_notice']) k`,
	`INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at)
    SELECT 'demo', CAST(i AS TEXT), 'brochure', 't' || i, i FROM generate_series(1, 2000) i`,
	`INSERT INTO budget_days (tenant_id, day) SELECT 'demo', i FROM generate_series(1, 2000) i`,
	`INSERT INTO budget_leases (tenant_id, owner, day, tokens_spent, tokens_leased, tokens_unused, micros_spent, micros_leased,
        micros_unused, waiting)
    SELECT 'tenant' || i % 100, 'p' || i, i, 0, 0, 0, 0, 0, 0, 0 FROM generate_series(1, 2000) i`,
	`ANALYZE`,
}

// CheckPlans fails for every query that no index serves: one that reads a whole table,
// or a whole index. The database is empty but for its tables, and is filled. bounded has the steps that read few rows all the same, by the query's
// name.
func CheckPlans(t *testing.T, db *sql.DB, queries, bounded map[string]string) {
	t.Helper()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, statement := range append(slices.Clone(crowd), planner...) {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for name, query := range queries {
		for _, step := range explained(t, conn, query).scans() {
			if step != bounded[name] {
				t.Errorf("%s is not served by an index: %s", name, step)
			}
		}
	}
}

var placeholder = regexp.MustCompile(`\$\d+`)

// step is a node of a plan, in the server's words.
type step struct {
	Kind     string `json:"Node Type"`
	Relation string `json:"Relation Name"`
	Index    string `json:"Index Name"`
	Cond     string `json:"Index Cond"`
	Plans    []step
}

// scans are the steps that read everything.
func (s step) scans() (all []string) {
	switch {
	case s.Kind == "Seq Scan":
		all = append(all, "Seq Scan on "+s.Relation)
	case s.Index != "" && s.Cond == "":
		all = append(all, s.Kind+" of all of "+s.Index)
	}
	for _, below := range s.Plans {
		all = append(all, below.scans()...)
	}
	return all
}

func explained(t *testing.T, conn *sql.Conn, query string) step {
	t.Helper()
	if _, err := conn.ExecContext(t.Context(), "PREPARE asked AS "+query); err != nil {
		t.Fatalf("prepare %s: %v", query, err)
	}
	execute := "EXECUTE asked"
	if n := len(slices.Compact(slices.Sorted(slices.Values(placeholder.FindAllString(query, -1))))); n > 0 {
		execute += "(" + strings.Repeat("NULL, ", n-1) + "NULL)"
	}
	var answer string
	if err := conn.QueryRowContext(t.Context(), "EXPLAIN (FORMAT JSON) "+execute).Scan(&answer); err != nil {
		t.Fatalf("explain %s: %v", query, err)
	}
	if _, err := conn.ExecContext(t.Context(), "DEALLOCATE asked"); err != nil {
		t.Fatal(err)
	}
	var plans []struct{ Plan step }
	if err := json.Unmarshal([]byte(answer), &plans); err != nil || len(plans) != 1 {
		t.Fatalf("%v in the plan %s", err, answer)
	}
	return plans[0].Plan
}
