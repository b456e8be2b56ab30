package expiry_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/expiry"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

const day = 24 * time.Hour

// house is a database and a clock.
type house struct {
	t   *testing.T
	db  *database.DB
	raw *sql.DB
	log bytes.Buffer
	seq int
}

// open opens a SQLite database for as long as use takes.
func open(t *testing.T, use func(h *house)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	raw, err := sql.Open("sqlite", "file:"+path+"?_pragma=foreign_keys(1)")
	if err != nil {
		t.Fatal(err)
	}
	within(t, "sqlite:"+path, raw, use)
	if err := raw.Close(); err != nil {
		t.Error(err)
	}
}

// within opens the database at an address for as long as use takes.
func within(t *testing.T, url string, raw *sql.DB, use func(h *house)) {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{URL: url, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	use(&house{t: t, db: db, raw: raw})
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// onEach runs a test on each database; on SQLite in a bubble.
func onEach(t *testing.T, test func(t *testing.T, h *house)) {
	t.Run("SQLite", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { open(t, func(h *house) { test(t, h) }) })
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		url := postgrestest.Open(t)
		within(t, url, postgrestest.Raw(t, url), func(h *house) { test(t, h) })
	})
}

func (h *house) sweeper(retention time.Duration) *expiry.Sweeper {
	h.t.Helper()
	s, err := expiry.New(expiry.Config{
		DB: h.db, TenantID: "demo", Retention: retention, Now: time.Now, Log: slog.New(slog.NewTextHandler(&h.log, nil)),
		Since: func(now time.Time) time.Time { return now.Add(-30 * day) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	return s
}

func (h *house) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.raw.ExecContext(context.Background(), query, args...); err != nil {
		h.t.Fatalf("%s: %v", query, err)
	}
}

func ago(age time.Duration) int64 { return time.Now().Add(-age).UnixMicro() }

// turn is a settled turn and its message, both of an age, in a conversation that is made
// for the first of its turns.
func (h *house) turn(conversation, id string, age time.Duration) {
	h.t.Helper()
	tenant := "demo"
	if conversation == "foreign" {
		tenant = "other"
	}
	h.exec(`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at)
        VALUES (CAST($1 AS TEXT), $2, 'whatsapp', CAST($1 AS TEXT), 0, 1) ON CONFLICT DO NOTHING`, conversation, tenant)
	h.seq += 2
	h.exec(`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state, attempt, outcome, path, settled_at)
        VALUES (CAST($1 AS TEXT), CAST($1 AS TEXT), $2, $3, 'agent', $4, 1, 0, '', $5, 'settled', 1, 'answered', 'inline', $5)`, id, tenant, conversation, h.seq, ago(age))
	h.exec(`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at)
        VALUES ('of ' || CAST($1 AS TEXT), CAST($1 AS TEXT), $2, $3, 'contact', $4, 1, 1, 'words', $5)`, id, tenant, conversation, h.seq-1, ago(age))
}

// row is a row of a turn's, in a status; what ended did so at an age.
func (h *house) row(turn, status string, age time.Duration) {
	h.t.Helper()
	h.exec(`INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status, next_attempt_at, created_at,
            delivered_at, reason, owner, attempts)
        SELECT 'row ' || CAST($3 AS TEXT) || ' of ' || id, tenant_id, conversation_id, id, 'whatsapp', conversation_id, 'reply', seq, CAST(CAST($3 AS TEXT) AS BIGINT), '{}', CAST($2 AS TEXT), CAST($4 AS BIGINT), CAST($4 AS BIGINT),
            CASE WHEN CAST($2 AS TEXT) = 'delivered' THEN CAST($4 AS BIGINT) END, CASE WHEN CAST($2 AS TEXT) = 'dead' THEN 'rejected' END,
            CASE WHEN CAST($2 AS TEXT) = 'delivering' THEN 'p' END, 1
        FROM turns WHERE id = $1`, turn, status, fmt.Sprint(h.count("outbox WHERE turn_id = '"+turn+"'")), ago(age))
}

func (h *house) merge(turn, into string) {
	h.t.Helper()
	h.exec(`UPDATE turns SET state = 'merged', outcome = 'merged', path = 'silent', merged_into = $2 WHERE id = $1`, turn, into)
}

func (h *house) count(of string) (n int) {
	h.t.Helper()
	if err := h.raw.QueryRowContext(context.Background(), "SELECT count(*) FROM "+of).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

func (h *house) ids(query string) []string {
	h.t.Helper()
	rows, err := h.raw.QueryContext(context.Background(), query)
	all, err := database.Collect(rows, err, database.ScanString)
	if err != nil {
		h.t.Fatal(err)
	}
	slices.Sort(all)
	return all
}

func (h *house) turns() []string { return h.ids(`SELECT id FROM turns WHERE role = 'agent'`) }

// furnish adds turns whose names say what becomes of them with a retention of 10 days and
// a history of 30.
func (h *house) furnish() {
	h.turn("a", "goes: long past", 100*day)
	h.turn("a", "goes: just past", 30*day+time.Minute)
	h.turn("a", "stays: in the history", 30*day-time.Minute)
	h.turn("a", "stays: new", time.Minute)

	for n := range 2*expiry.Batch + 1 {
		h.turn("long", fmt.Sprintf("goes: %d of many", n), 100*day)
	}

	h.turn("b", "stays: unfinished", 100*day)
	h.exec(`UPDATE turns SET state = 'running', outcome = NULL, path = NULL, settled_at = NULL WHERE id = 'stays: unfinished'`)
	h.turn("c", "stays: settled late", 100*day)
	h.exec(`UPDATE turns SET settled_at = $1 WHERE id = 'stays: settled late'`, ago(day))
	for _, status := range []string{"pending", "delivering"} {
		h.turn("d", "stays: "+status, 100*day)
		h.row("stays: "+status, "delivered", 100*day)
		h.row("stays: "+status, status, 100*day)
	}
	h.turn("d", "stays: delivered late", 100*day)
	h.row("stays: delivered late", "delivered", 6*day)
	for _, status := range []string{"dead", "withheld", "discarded", "delivered"} {
		h.turn("d", "goes: "+status, 100*day)
		h.row("goes: "+status, status, 99*day)
	}

	h.turn("e", "goes: merged", 100*day)
	h.turn("e", "goes: merged too", 100*day)
	h.turn("e", "goes: answers both", 99*day)
	h.merge("goes: merged", "goes: answers both")
	h.merge("goes: merged too", "goes: answers both")
	h.turn("e", "stays: merged into a newer one", 31*day)
	h.turn("e", "stays: the newer one", 29*day)
	h.merge("stays: merged into a newer one", "stays: the newer one")
	h.turn("e", "stays: merged, with a token to be written", 100*day)
	h.row("stays: merged, with a token to be written", "pending", 100*day)
	h.turn("e", "stays: answers it", 100*day)
	h.merge("stays: merged, with a token to be written", "stays: answers it")

	h.turn("foreign", "stays: another tenant's", 100*day)
}

// wrong are the turns of which the other thing became than their names say.
func wrong(all []string, want string) []string {
	return slices.DeleteFunc(all, func(id string) bool { return strings.HasPrefix(id, want) })
}

// Holds docs/spec/15-storage.md, "Storage and scale": RETENTION_DAYS deletes whole turns
// past it, never inside historyDays.
func TestTurns(t *testing.T) {
	onEach(t, func(t *testing.T, h *house) {
		h.furnish()
		h.sell("a")
		before := h.turns()
		d, err := h.sweeper(10 * day).Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		after := h.turns()
		if bad := wrong(slices.Clone(after), "stays: "); len(bad) > 0 {
			t.Errorf("there are still %v", bad)
		}
		gone := slices.DeleteFunc(before, func(id string) bool { return slices.Contains(after, id) })
		if bad := wrong(slices.Clone(gone), "goes: "); len(bad) > 0 || d.Turns != len(gone) {
			t.Errorf("%d turns are counted, and gone are %v too", d.Turns, bad)
		}
		if torn := h.count(`turns m LEFT JOIN turns a ON a.id = m.turn_id AND a.role = 'agent' WHERE a.id IS NULL`) + h.count(`turns a LEFT JOIN turns m ON m.turn_id = a.id AND m.role = 'contact' WHERE a.role = 'agent' AND m.id IS NULL`); torn > 0 {
			t.Errorf("%d rows lack the rest of their turn", torn)
		}
		if n := h.count("conversations"); n != 7 {
			t.Errorf("%d conversations are left of 7", n)
		}
		if !h.sold("a") {
			t.Error("what is known of a buyer went with their turns")
		}
		if again, err := h.sweeper(10 * day).Sweep(t.Context()); err != nil || again != (expiry.Deleted{}) {
			t.Errorf("a second sweep deletes %+v, %v", again, err)
		}
		if d, err := h.sweeper(60 * day).Sweep(t.Context()); err != nil || d != (expiry.Deleted{}) {
			t.Errorf("a longer retention deletes %+v, %v", d, err)
		}
	})
}

// Holds docs/spec/15-storage.md, "Storage and scale": nudges are kept as long as turns.
func TestNudges(t *testing.T) {
	onEach(t, func(t *testing.T, h *house) {
		h.turn("ada", "turn", 70*day)
		nudge := func(id, state string, age time.Duration, ended any) {
			h.exec(`INSERT INTO nudges (id, tenant_id, conversation_id, turn_id, nudge_id, delay, message_at, due_at, state, created_at, ended_at)
                VALUES ($1, $2, 'ada', 'turn', 'turn', 'later', 1, 2, $3, $4, $5)`, id, map[bool]string{true: "other", false: "demo"}[id == "foreign"], state, ago(age), ended)
		}
		nudge("foreign", "sent", 70*day, ago(70*day))
		nudge("open", "pending", 70*day, nil)
		nudge("recent", "skipped", 70*day, ago(39*day))
		for i := range expiry.Batch + 3 {
			nudge(fmt.Sprint("old-", i), "sent", 70*day, ago(41*day))
		}
		d, err := h.sweeper(40 * day).Sweep(t.Context())
		if err != nil || d.Nudges != expiry.Batch+3 {
			t.Errorf("%d nudges were deleted, %v", d.Nudges, err)
		}
		if diff := cmp.Diff([]string{"foreign", "open", "recent"}, h.ids("SELECT id FROM nudges ORDER BY id")); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
		if d, err := h.sweeper(0).Sweep(t.Context()); err != nil || d.Nudges != 0 {
			t.Errorf("without a retention %d nudges were deleted, %v", d.Nudges, err)
		}
	})
}

// sell makes a contact one who is sold to, and had the opening.
func (h *house) sell(conversation string) {
	h.t.Helper()
	h.exec(`UPDATE conversations SET intent = 'prospect', stage = 'offered', offering = 'intro', offering_chosen = 1, opening_over = 1 WHERE id = $1`, conversation)
	h.exec(`INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) VALUES ('demo', $1, 'opening', 'goes: long past', $2)`, conversation, ago(100*day))
}

// sold reports whether all of that is still known.
//
// Holds docs/spec/08-sales.md, "Flows once": stage, intent, offering and the opening's claim survive
// retention.
func (h *house) sold(conversation string) bool {
	h.t.Helper()
	return h.count(`conversations WHERE intent = 'prospect' AND stage = 'offered' AND offering = 'intro' AND offering_chosen = 1 AND opening_over = 1 AND id = '`+conversation+`'`) == 1 &&
		h.count(`flow_sends WHERE flow = 'opening' AND subscriber_id = '`+conversation+`'`) == 1
}

// Holds docs/spec/15-storage.md, "Storage and scale": the outbox keeps delivered rows 7
// days, whatever the retention, and a turn's rows together while one is open.
func TestOutboxRows(t *testing.T) {
	onEach(t, func(t *testing.T, h *house) {
		for n, status := range []string{"delivered", "discarded", "dead", "withheld", "pending", "delivering"} {
			for _, age := range []time.Duration{6 * day, 8 * day} {
				id := fmt.Sprintf("%s %d days", status, age/day)
				h.turn(fmt.Sprint(n), id, 40*day)
				h.row(id, status, age)
			}
		}
		h.turn("open", "delivered and dead", 40*day)
		h.row("delivered and dead", "delivered", 40*day)
		h.row("delivered and dead", "dead", 40*day)
		for n := range expiry.Batch + 1 {
			id := fmt.Sprintf("many %d", n)
			h.turn("many", id, 40*day)
			h.row(id, "delivered", 40*day)
		}
		d, err := h.sweeper(0).Sweep(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := []string{
			"row 0 of dead 6 days", "row 0 of dead 8 days", "row 0 of delivered 6 days", "row 0 of delivered and dead",
			"row 0 of delivering 6 days", "row 0 of delivering 8 days", "row 0 of discarded 6 days", "row 0 of pending 6 days", "row 0 of pending 8 days",
			"row 0 of withheld 6 days", "row 0 of withheld 8 days", "row 1 of delivered and dead",
		}
		if diff := cmp.Diff(want, h.ids("SELECT id FROM outbox")); diff != "" || d.Rows != expiry.Batch+3 || d.Turns != 0 {
			t.Errorf("%+v was deleted; rows (-want +got):\n%s", d, diff)
		}
		if n := h.count("turns WHERE role = 'agent'"); n != 13+expiry.Batch+1 {
			t.Errorf("%d turns are left", n)
		}
	})
}

// Holds docs/spec/15-storage.md, "Storage and scale": a running service forgets as time
// goes by, and its log names nobody.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		open(t, func(h *house) {
			ctx, stop := context.WithCancel(t.Context())
			h.turn("900000001", "first", 0)
			h.row("first", "delivered", 0)
			h.turn("900000001", "second", -day)
			stopped := make(chan struct{})
			go func() {
				defer close(stopped)
				h.sweeper(40 * day).Run(ctx)
			}()
			for _, at := range []struct {
				after       time.Duration
				turns, rows int
			}{{7 * day, 2, 1}, {2 * time.Hour, 2, 0}, {33*day - 3*time.Hour, 2, 0}, {3 * time.Hour, 1, 0}, {day, 0, 0}} {
				time.Sleep(at.after)
				synctest.Wait()
				if turns, rows := len(h.turns()), h.count("outbox"); turns != at.turns || rows != at.rows {
					t.Errorf("%s later there are %d turns and %d rows, want %d and %d", at.after, turns, rows, at.turns, at.rows)
				}
			}
			h.exec("DROP TABLE outbox")
			time.Sleep(2 * time.Hour)
			synctest.Wait()
			stop()
			<-stopped
			for _, want := range []string{"turns=1 outboxRows=0", "turns=0 outboxRows=1", "deleting what is kept no longer failed"} {
				if !strings.Contains(h.log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, h.log.String())
				}
			}
			if strings.Contains(h.log.String(), "900000001") {
				t.Errorf("the log names the contact:\n%s", h.log.String())
			}
		})
	})
}

// Holds docs/spec/15-storage.md, "Storage and scale": every query is served by an index and
// none is forgotten here.
func TestQueryPlans(t *testing.T) {
	open(t, func(h *house) {
		bounded := map[string]string{"selectStays": "SCAN CONSTANT ROW"} // the one row of SELECT EXISTS
		storetest.CheckPlans(t, h.raw, expiry.Queries, bounded)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		postgrestest.CheckPlans(t, postgrestest.Raw(t, postgrestest.Open(t)), expiry.Queries, nil)
	})
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range regexp.MustCompile("(?m)^const (\\w+) = `").FindAllStringSubmatch(string(text), -1) {
			if expiry.Queries[match[1]] == "" {
				t.Errorf("%s: query %s is not listed", file, match[1])
			}
		}
	}
}
