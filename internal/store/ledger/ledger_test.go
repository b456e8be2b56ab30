package ledger_test

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/ledger"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

const day = budget.Day(20_000)

func amount(tokens, micros int64) budget.Amount { return budget.Amount{Tokens: tokens, Micros: micros} }

// both runs a test on an empty database of either kind.
func both(t *testing.T, test func(t *testing.T, l *ledger.Ledger, db *database.DB)) {
	for name, address := range map[string]func(t *testing.T) string{
		"SQLite":     func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "agent.db") },
		"PostgreSQL": func(t *testing.T) string { return postgrestest.Open(t) },
	} {
		t.Run(name, func(t *testing.T) {
			db, err := database.Open(t.Context(), database.Options{URL: address(t), Now: time.Now})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := db.Close(); err != nil {
					t.Error(err)
				}
			})
			test(t, ledger.New(db), db)
		})
	}
}

// statement is a process's with 10 tokens and 100 micro-dollars spent and as much reserved.
func statement(owner string) budget.Statement {
	return budget.Statement{
		TenantID: "demo", Owner: owner, Day: day,
		Spent: amount(10, 100), Reserved: amount(10, 100),
		Cap: amount(100, 1000),
	}
}

func state(t *testing.T, l *ledger.Ledger, s budget.Statement) budget.Answer {
	t.Helper()
	ans, err := l.State(t.Context(), s)
	if err != nil {
		t.Fatalf("State: %v", err)
	}
	return ans
}

// total is what the ledger keeps of a day.
func total(t *testing.T, l *ledger.Ledger, day budget.Day) budget.Total {
	t.Helper()
	return state(t, l, budget.Statement{TenantID: "demo", Owner: "reader", Day: day}).Total
}

// Holds docs/spec/06-contact.md, "Caps": processes lease what a call needs and book what
// was spent.
func TestState(t *testing.T) { both(t, testState) }

func testState(t *testing.T, l *ledger.Ledger, _ *database.DB) {
	a := statement("a")
	a.Calls = []budget.Amount{amount(30, 100), amount(51, 0), amount(1, 0)}
	want := budget.Answer{Admitted: 1, Granted: amount(30, 100), Total: budget.Total{Spent: amount(10, 100), Leased: amount(40, 200), Waiting: 1}}
	if d := cmp.Diff(want, state(t, l, a)); d != "" {
		t.Errorf("first statement (-want +got):\n%s", d)
	}

	b := statement("b")
	b.Calls = []budget.Amount{amount(31, 0)}
	want = budget.Answer{Asked: true, Total: budget.Total{Spent: amount(20, 200), Leased: amount(50, 300), Waiting: 2}}
	for range 2 { // what is said twice is said once
		if d := cmp.Diff(want, state(t, l, b)); d != "" {
			t.Errorf("another process's statement (-want +got):\n%s", d)
		}
	}

	a.Spent, a.Reserved, a.Calls = amount(15, 110), budget.Amount{}, nil
	want = budget.Answer{Asked: true, Total: budget.Total{Spent: amount(25, 210), Leased: amount(10, 100), Waiting: 1}}
	if d := cmp.Diff(want, state(t, l, a)); d != "" {
		t.Errorf("after its calls (-want +got):\n%s", d)
	}
	want = budget.Answer{Admitted: 1, Granted: amount(31, 0), Total: budget.Total{Spent: amount(25, 210), Leased: amount(41, 100)}}
	if d := cmp.Diff(want, state(t, l, b)); d != "" {
		t.Errorf("with room (-want +got):\n%s", d)
	}
}

// Holds docs/spec/06-contact.md, "Caps": a tenant's budget, and a UTC day's.
func TestDaysAndTenantsAreApart(t *testing.T) { both(t, testDaysAndTenantsAreApart) }

func testDaysAndTenantsAreApart(t *testing.T, l *ledger.Ledger, _ *database.DB) {
	state(t, l, statement("a"))
	other := statement("a")
	other.TenantID = "other"
	other.Spent = amount(90, 0)
	state(t, l, other)
	later := statement("a")
	later.Day++
	later.Spent = amount(50, 0)
	state(t, l, later)
	if got := total(t, l, day).Spent; got != amount(10, 100) {
		t.Errorf("spent %+v", got)
	}
	if got := total(t, l, day+1).Spent; got != amount(50, 0) {
		t.Errorf("spent %+v on the next day", got)
	}
}

// Holds docs/spec/06-contact.md, "Caps": a dead process's blocks come back less what was
// booked and the worst case of what it had in flight.
func TestTakeOver(t *testing.T) { both(t, testTakeOver) }

func testTakeOver(t *testing.T, l *ledger.Ledger, _ *database.DB) {
	dead := statement("dead")
	state(t, l, dead)
	dead.Unused, dead.Aside = amount(5, 50), true
	dead.Calls = []budget.Amount{amount(1000, 0)}
	state(t, l, dead)
	yesterday := statement("dead")
	yesterday.Day--
	yesterday.Unused = amount(5, 50)
	state(t, l, yesterday)
	state(t, l, statement("mine"))
	foreign := statement("dead")
	foreign.TenantID = "other"
	state(t, l, foreign)

	for range 2 { // a second time finds nothing
		if err := l.TakeOver(t.Context(), "demo", "mine"); err != nil {
			t.Fatal(err)
		}
	}
	want := budget.Total{Spent: amount(30, 300), Leased: amount(10, 100)}
	if d := cmp.Diff(want, total(t, l, day)); d != "" {
		t.Errorf("today (-want +got):\n%s", d)
	}
	want = budget.Total{Spent: amount(25, 250)}
	if d := cmp.Diff(want, total(t, l, day-1)); d != "" {
		t.Errorf("yesterday (-want +got):\n%s", d)
	}
	foreign.Spent = amount(11, 100)
	if got := state(t, l, foreign).Total; got.Leased != amount(10, 100) || got.Spent != amount(11, 100) {
		t.Errorf("another tenant's day is %+v", got)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": what breaks a rule of the database
// changes nothing, and a closed one is an error.
func TestStateFails(t *testing.T) { both(t, testStateFails) }

func testStateFails(t *testing.T, l *ledger.Ledger, db *database.DB) {
	state(t, l, statement("a"))
	broken := statement("a")
	broken.Reserved = amount(-11, 0)
	if _, err := l.State(t.Context(), broken); !errors.Is(err, sqlitefile.ErrConstraint) {
		t.Errorf("State returned %v", err)
	}
	if got := total(t, l, day); got.Leased != amount(10, 100) {
		t.Errorf("leased %+v after a refused statement", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := l.State(t.Context(), statement("a")); err == nil {
		t.Error("State in a closed database succeeds")
	}
	if err := l.TakeOver(t.Context(), "demo", "a"); err == nil {
		t.Error("TakeOver in a closed database succeeds")
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": every query on the turn path is
// served by an index.
func TestQueryPlans(t *testing.T) {
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	storetest.CheckPlans(t, db.Read(), ledger.Queries, nil)
}

// Every SQL text of the package is in the test above, so that a new one cannot be
// forgotten.
func TestQueryPlansAreComplete(t *testing.T) {
	declared := regexp.MustCompile("(?m)^const (\\w+) = `")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declared.FindAllStringSubmatch(string(text), -1) {
			if _, listed := ledger.Queries[match[1]]; !listed {
				t.Errorf("%s: query %s is not listed", file, match[1])
			}
		}
	}
}

// Holds docs/spec/15-storage.md: the same on PostgreSQL.
func TestPostgreSQLQueryPlans(t *testing.T) {
	db := postgrestest.Raw(t, postgrestest.Open(t))
	postgrestest.CheckPlans(t, db, ledger.Queries, nil)
}
