package agent_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/ledger"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// doorman keeps what it was asked, and refuses from the call on that a test says.
type doorman struct {
	calls   []budget.Call
	refuses int // 1: the first call; 0: none
}

var errNoRoom = errors.New("no room")

func (d *doorman) Reserve(_ context.Context, call budget.Call) (*budget.Reservation, error) {
	d.calls = append(d.calls, call)
	if d.refuses > 0 && len(d.calls) >= d.refuses {
		return nil, errNoRoom
	}
	return new(budget.Reservation), nil
}

// limited is the shop with a day's budget.
func limited() *tenant.Tenant {
	tn := shop()
	tn.Rules.Budget = tenant.Budget{
		DailyTokenCap: 100_000, DailyCostCapUSD: 1, WarnAt: 1,
		Prices: map[string]tenant.ModelPrice{"scripted:test": {Input: 1, Output: 10}},
	}
	return tn
}

func within(t *testing.T, b attempt.Budget, models ...llm.Model) *agent.Agent {
	t.Helper()
	c := config(models...)
	c.Budget = b
	return build(t, c)
}

// Holds docs/spec/06-contact.md, "Caps": each model call reserves its worst case, under
// the tenant's caps and prices and inside the race deadline; a call that is not let in is
// not made.
func TestRunReservesEachCall(t *testing.T) {
	by := time.Date(2026, 3, 2, 9, 0, 8, 0, time.UTC)
	for _, refuses := range []int{0, 1, 2} {
		t.Run(fmt.Sprint("refuses from ", refuses), func(t *testing.T) {
			m, d := script(calls("a"), llmtest.Step{Text: yes}), &doorman{refuses: refuses}
			result, err := within(t, d, m).Run(t.Context(), agent.Input{Tenant: limited(), Text: "hi", ReserveBy: by})
			made := 2
			if refuses > 0 {
				made = refuses - 1
				if agent.ClassOf(err) != agent.OverBudget || !errors.Is(err, errNoRoom) {
					t.Errorf("error = %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			recorded := 0
			for _, s := range result.Steps {
				recorded += len(s.Attempts)
			}
			if len(m.Requests()) != made || recorded != made {
				t.Errorf("%d calls made, %d recorded, want %d", len(m.Requests()), recorded, made)
			}
			for i, req := range m.Requests() {
				terms := budget.TermsOf(limited().Rules.Budget, "scripted:test")
				want := budget.Call{Terms: terms, Worst: budget.Worst(req, terms.Price), By: by}
				if d := cmp.Diff(want, d.calls[i]); d != "" {
					t.Errorf("call %d (-want +got):\n%s", i+1, d)
				}
			}
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps": each model call settles after it, whatever it
// came to, and the turn records what it cost.
func TestRunWithinTheBudget(t *testing.T) {
	const spentByOne = 2*10 + 10 // micro-dollars of calls() below: 10 tokens read, 2 written
	refused := &llm.Error{Provider: "scripted", Kind: llm.KindUnauthorized, Status: 401}
	tests := []struct {
		name   string
		steps  []llmtest.Step
		class  agent.Class
		tokens int64 // reported ones that are charged
		micros int64
		worst  bool // the last call is charged its worst case besides
	}{
		{"two steps", []llmtest.Step{calls("a"), {Text: yes, Response: llm.Response{Usage: llm.Usage{Input: 100, Output: 5}}}}, "", 117, spentByOne + 150, false},
		{"nothing reported", []llmtest.Step{{Text: yes}}, "", 0, 0, true},
		{"refused by the provider", []llmtest.Step{{Err: refused}}, agent.Provider, 0, 0, false},
		{"refused in the second step", []llmtest.Step{calls("a"), {Err: refused}}, agent.Provider, 12, spentByOne, false},
		{"failed, and reported", []llmtest.Step{{Err: refused, Response: llm.Response{Usage: llm.Usage{Input: 7}}}}, agent.Provider, 7, 7, false},
		{"aborted", []llmtest.Step{{Hang: llmtest.UntilAbort}}, agent.Abort, 0, 0, true},
		{"panicked", []llmtest.Step{calls("a"), {Panic: "adapter bug"}}, agent.Panic, 12, spentByOne, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "agent.db")
			synctest.Test(t, func(t *testing.T) {
				b := openBudget(t, path)
				m := script(tt.steps...)
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				result, err := within(t, b.keeper, m).Run(ctx, agent.Input{Tenant: limited(), Text: "hi"})
				if agent.ClassOf(err) != tt.class {
					t.Errorf("error = %v, want class %q", err, tt.class)
				}
				want := budget.Amount{Tokens: tt.tokens, Micros: tt.micros}
				if tt.worst {
					asked := m.Requests()
					worst := budget.Worst(asked[len(asked)-1], llm.Price{Input: 1_000_000, Cached: 1_000_000, Output: 10_000_000})
					want.Tokens, want.Micros = want.Tokens+worst.Tokens, want.Micros+worst.Micros
				}
				if result.Spend.CostMicros != want.Micros {
					t.Errorf("the turn cost %d, want %d", result.Spend.CostMicros, want.Micros)
				}
				synctest.Wait() // for a call that was aborted
				b.stop()
				if d := cmp.Diff(budget.Total{Spent: want}, b.today(t)); d != "" {
					t.Errorf("the ledger (-want +got):\n%s", d)
				}
			})
		})
	}
}

// Holds docs/spec/17-quality.md, "Reliability": a call that ignores its abort holds its
// worst case until it returns, and not for ever.
func TestCallThatReturnsLate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		b := openBudget(t, path)
		m := script(llmtest.Step{Hang: llmtest.Forever, Response: llm.Response{Text: yes, Usage: llm.Usage{Input: 100, Output: 5}}})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = within(t, b.keeper, m).Run(ctx, agent.Input{Tenant: limited(), Text: "hi"})
		}()
		time.Sleep(time.Minute)
		if got := b.today(t); got.Spent.Tokens != 0 || got.Leased.Tokens == 0 {
			t.Errorf("while it hangs the ledger has %+v", got)
		}
		<-ended
		m.Release()
		synctest.Wait()
		b.stop()
		want := budget.Total{Spent: budget.Amount{Tokens: 105, Micros: 150}}
		if d := cmp.Diff(want, b.today(t)); d != "" {
			t.Errorf("the ledger (-want +got):\n%s", d)
		}
	})
}

// book is a budget on a real database.
type book struct {
	keeper *budget.Keeper
	db     *database.DB
	stop   func()
}

func openBudget(t *testing.T, path string) *book {
	t.Helper()
	db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := budget.New(budget.Config{
		Ledger: ledger.New(db), TenantID: "shop", Owner: "process", Now: time.Now,
		Log: slog.New(slog.DiscardHandler), Count: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		keeper.Run(ctx)
	}()
	b := &book{keeper: keeper, db: db, stop: func() { cancel(); <-ended }}
	t.Cleanup(func() {
		b.stop()
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// today reads what the ledger keeps.
func (b *book) today(t *testing.T) (total budget.Total) {
	t.Helper()
	err := b.db.Read().QueryRowContext(t.Context(),
		"SELECT tokens_spent, micros_spent, tokens_leased, micros_leased, waiting FROM budget_days").
		Scan(&total.Spent.Tokens, &total.Spent.Micros, &total.Leased.Tokens, &total.Leased.Micros, &total.Waiting)
	if err != nil {
		t.Fatal(err)
	}
	return total
}
