package budget_test

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/budget"
)

// Holds docs/spec/17-quality.md, "Reliability": budgets are never overspent, here by
// fifty turns at once on one and on two processes; and docs/spec/06-contact.md, "Caps":
// the rest of a day is used, and everything comes back.
func TestFiftyTurnsNearTheCap(t *testing.T) {
	for name, processes := range map[string]int{"one process": 1, "two processes": 2} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				const cap, worst = 100_000, 4_000
				var all []*process
				for i := range processes {
					all = append(all, w.start(string(rune('a'+i))))
				}
				var mu sync.Mutex
				var spent, most int64
				var turns sync.WaitGroup
				for i := range 50 {
					turns.Go(func() {
						rng := rand.New(rand.NewPCG(1, uint64(i)))
						for {
							r, err := all[i%processes].Reserve(t.Context(), call(cap, worst, 8*time.Second))
							if err != nil {
								return
							}
							time.Sleep(time.Duration(500+rng.IntN(4000))*time.Millisecond + time.Duration(i))
							used := 1 + rng.Int64N(worst)
							mu.Lock()
							spent += used
							most = max(most, used)
							mu.Unlock()
							r.Settle(tokens(used))
						}
					})
				}
				turns.Wait()
				for _, p := range all {
					p.end()
				}
				if spent > cap || spent <= cap-worst {
					t.Errorf("spent %d of %d tokens; a call's worst case is %d", spent, cap, worst)
				}
				if d := cmp.Diff(budget.Total{Spent: tokens(spent)}, w.today()); d != "" {
					t.Errorf("the ledger (-want +got):\n%s", d)
				}
			})
		})
	}
}

// Holds docs/spec/17-quality.md, "Reliability": a call that turns out to spend more than
// it could is booked, and overspends the day by itself alone.
func TestCallThatSpendsMoreThanItReserved(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		r := w.reserve(p, call(1_000, 600, 0))
		other := w.reserve(p, call(1_000, 400, 0))
		r.Settle(tokens(900))
		w.refuse(p, call(1_000, 101, time.Minute), 0)
		other.Settle(tokens(50))
		w.refuse(p, call(1_000, 51, time.Minute), 0)
		w.reserve(p, call(1_000, 50, 0)).Settle(tokens(50))
		p.end()
		if got := w.today(); got.Spent != tokens(1_000) || got.Leased != tokens(0) {
			t.Errorf("the ledger has %+v", got)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": a call that cannot reserve waits inside the
// deadline for a settlement, then the turn hands off.
func TestReserveWaits(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name    string
		cap     int64
		settles []time.Duration // when calls of 500 settle that spent 100
		worst   int64
		by      time.Duration
		want    time.Duration // when it is let in or refused
		ok      bool
	}{
		{"room", 1_000, nil, 1_000, 8 * s, 0, true},
		{"room, and no time", 1_000, nil, 1_000, -s, 0, true},
		{"a settlement", 1_000, []time.Duration{3 * s, 20 * s}, 400, 8 * s, 3 * s, true},
		{"a settlement and what was left", 1_100, []time.Duration{3 * s, 20 * s}, 500, 8 * s, 3 * s, true},
		{"two settlements", 1_000, []time.Duration{3 * s, 5 * s}, 800, 8 * s, 5 * s, true},
		{"a settlement too late", 1_000, []time.Duration{9 * s, 20 * s}, 400, 8 * s, 8 * s, false},
		{"no time", 1_000, []time.Duration{3 * s, 20 * s}, 400, -s, 0, false},
		{"too little room in the end", 1_000, []time.Duration{3 * s, 5 * s}, 900, 8 * s, 5 * s, false},
		{"more than the cap", 1_000, nil, 1_001, 8 * s, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p := w.start("a")
				for _, at := range tt.settles {
					r := w.reserve(p, call(tt.cap, 500, 0))
					time.AfterFunc(at, func() { r.Settle(tokens(100)) })
				}
				start := time.Now()
				_, err := p.Reserve(t.Context(), call(tt.cap, tt.worst, tt.by))
				if took := time.Since(start); took != tt.want || (err == nil) != tt.ok {
					t.Errorf("after %s: %v, want %s", took, err, tt.want)
				}
				if err != nil && !errors.Is(err, budget.ErrExhausted) {
					t.Errorf("error = %v", err)
				}
				want := map[string]int{budget.Refused: 1}
				if tt.ok && tt.want > 0 {
					want = map[string]int{budget.Waited: 1}
				} else if tt.ok {
					want = map[string]int{}
				}
				if d := cmp.Diff(want, p.counted()); d != "" {
					t.Errorf("counted (-want +got):\n%s", d)
				}
				time.Sleep(20 * s)
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps": calls wait in their order, so that small ones do
// not starve a big one, not even those that come when there is room for them.
func TestReserveInOrder(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		var running []*budget.Reservation
		for range 10 {
			running = append(running, w.reserve(p, call(1_000, 100, 0)))
		}
		var mu sync.Mutex
		var order []string
		var turns sync.WaitGroup
		begin := func(name string, worst int64) {
			turns.Go(func() {
				r := w.reserve(p, call(1_000, worst, time.Minute))
				mu.Lock()
				order = append(order, name)
				mu.Unlock()
				r.Settle(budget.Amount{})
			})
			synctest.Wait()
		}
		begin("big", 700)
		begin("small", 100)
		for i, r := range running {
			time.Sleep(time.Second)
			r.Settle(budget.Amount{})
			if i == 4 {
				begin("late", 50)
			}
		}
		turns.Wait()
		if order[0] != "big" || len(order) != 3 {
			t.Errorf("let in in the order %q", order)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": a caller that gives up frees what it was about
// to get, and its place.
func TestCallerThatGaveUp(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		r := w.reserve(p, call(1_000, 600, 0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var turns sync.WaitGroup
		turns.Go(func() {
			if _, err := p.Reserve(ctx, call(1_000, 900, time.Minute)); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, budget.ErrExhausted) {
				t.Errorf("Reserve returned %v", err)
			}
		})
		synctest.Wait()
		start := time.Now()
		w.reserve(p, call(1_000, 400, time.Minute)).Settle(budget.Amount{})
		if took := time.Since(start); took != time.Second {
			t.Errorf("the call behind it was let in after %s", took)
		}
		turns.Wait()
		r.Settle(budget.Amount{})
		p.end()
		if got := w.today(); got != (budget.Total{}) {
			t.Errorf("the ledger has %+v", got)
		}
	})
}

// A caller may give up at the very moment at which it is let in.
func TestGivenUpAsItIsLetIn(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		for range 100 {
			r := w.reserve(p, call(1_000, 1_000, 0))
			ctx, cancel := context.WithCancel(t.Context())
			var turn sync.WaitGroup
			turn.Go(func() {
				if r, err := p.Reserve(ctx, call(1_000, 1_000, time.Minute)); err == nil {
					r.Settle(budget.Amount{})
				}
			})
			synctest.Wait()
			cancel()
			r.Settle(budget.Amount{})
			turn.Wait()
		}
		if free := w.free(p, 1_000); free != 1_000 {
			t.Errorf("%d tokens are free, want all", free)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": every unused block comes back when asked near the
// cap.
func TestAskedProcessReturnsItsBlock(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a := w.start("a")
		time.Sleep(500 * time.Millisecond) // b asks between a's bookings
		b := w.start("b")
		held := w.reserve(a, call(100_000, 1, 0)) // a block of 1000, of which 999 are unused
		w.reserve(b, call(100_000, 98_500, 0))
		start := time.Now()
		r := w.reserve(b, call(100_000, 1_400, 8*time.Second))
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("waited %s for the unused block of another process", took)
		}
		r.Settle(tokens(1_400))
		held.Settle(tokens(1))
	})
}

// Two processes that each hold a part of what the other needs do not wait for each other.
func TestProcessesDoNotHoard(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		processes := []*process{w.start("a"), w.start("b")}
		var running []*budget.Reservation
		var turns sync.WaitGroup
		for _, p := range processes {
			running = append(running, w.reserve(p, call(1_000, 500, 0)))
		}
		for _, p := range processes {
			turns.Go(func() { w.reserve(p, call(1_000, 600, time.Minute)).Settle(budget.Amount{}) })
		}
		synctest.Wait()
		start := time.Now()
		for _, r := range running {
			r.Settle(budget.Amount{})
		}
		turns.Wait()
		if took := time.Since(start); took > 8*time.Second {
			t.Errorf("both were let in after %s", took)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": a turn hands off at once when no settlement can
// make room for its call, whoever spent the budget.
func TestNothingToWaitFor(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.start("a"), w.start("b")
		w.reserve(b, call(1_000, 900, 0)).Settle(tokens(850))
		synctest.Wait()
		w.refuse(a, call(1_000, 200, time.Minute), 0)
		before := a.ledger.stated()
		w.refuse(a, call(1_000, 200, time.Minute), 0)
		if n := a.ledger.stated() - before; n != 0 {
			t.Errorf("%d statements to find out again", n)
		}
		w.reserve(a, call(1_000, 140, 0)).Settle(budget.Amount{}) // b keeps a block of 10
	})
}

// Holds docs/spec/06-contact.md, "Caps": all but one unused block comes back after each
// settlement, and that one too from a process that makes no calls.
func TestIdleProcessKeepsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		var running []*budget.Reservation
		for range 10 {
			running = append(running, w.reserve(p, call(100_000, 900, 0)))
		}
		for _, r := range running {
			r.Settle(tokens(10))
		}
		synctest.Wait()
		if got := w.today(); got.Spent != tokens(100) || got.Leased != tokens(1_000) {
			t.Errorf("after the settlements the ledger has %+v", got)
		}
		time.Sleep(11 * time.Second)
		if got := w.today(); got.Spent != tokens(100) || got.Leased != tokens(0) {
			t.Errorf("a little later the ledger has %+v", got)
		}
		before := p.ledger.stated()
		time.Sleep(time.Hour)
		if n := p.ledger.stated() - before; n != 0 {
			t.Errorf("%d statements of a process that does nothing", n)
		}
	})
}

// Holds docs/spec/15-storage.md, "Storage and scale": there is no hot row. A block that
// holds many calls is handed out in memory, also behind a call that it does not hold, and
// behind a change of the cap.
func TestHighCapsAskTheLedgerSeldom(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		for _, step := range []struct {
			cap, worst, used int64
			calls, most      int // statements: the lease, and what is given back behind it
		}{
			{1e9, 10_000, 3_000, 1_000, 1},
			{1e9, 15e6, 0, 1, 2},
			{1e9, 10_000, 3_000, 1_000, 2},
			{2e9, 10_000, 3_000, 1_000, 2},
		} {
			before := p.ledger.stated()
			for range step.calls {
				w.reserve(p, call(step.cap, step.worst, 0)).Settle(tokens(step.used))
			}
			synctest.Wait()
			if n := p.ledger.stated() - before; n > step.most {
				t.Errorf("%+v: %d statements", step, n)
			}
		}
		p.end()
		if got := w.today(); got.Spent != tokens(9_000_000) || got.Leased != tokens(0) {
			t.Errorf("the ledger has %+v", got)
		}
	})
}

// A settlement that is too small to be given back may be what a call lacks.
func TestSettlementBesideWhatIsLeft(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		r := w.reserve(p, call(100_000, 50_000, 0))
		w.reserve(p, call(100_000, 49_000, 0))
		time.AfterFunc(2500*time.Millisecond, func() { r.Settle(tokens(49_600)) })
		start := time.Now()
		w.reserve(p, call(100_000, 1_400, 8*time.Second))
		if took := time.Since(start); took != 2500*time.Millisecond {
			t.Errorf("let in after %s", took)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": the day charged is the day refunded.
func TestMidnight(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		time.Sleep(12*time.Hour - time.Second)
		p := w.start("a")
		first := budget.DayOf(time.Now())
		r := w.reserve(p, call(1_000, 900, 0))
		var waited sync.WaitGroup
		waited.Go(func() { // waits over midnight, and is let in on the new day
			start := time.Now()
			w.reserve(p, call(1_000, 200, 8*time.Second)).Settle(tokens(200))
			if took := time.Since(start); took != time.Second {
				t.Errorf("let in after %s", took)
			}
		})
		time.Sleep(2 * time.Second)
		w.reserve(p, call(1_000, 800, 0)).Settle(tokens(1))
		r.Settle(tokens(400))
		waited.Wait()
		p.end()
		if d := cmp.Diff(budget.Total{Spent: tokens(400)}, w.day(first)); d != "" {
			t.Errorf("the first day (-want +got):\n%s", d)
		}
		if d := cmp.Diff(budget.Total{Spent: tokens(201)}, w.day(first+1)); d != "" {
			t.Errorf("the second day (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/10-config.md, "Reload": caps hold from the next call on.
func TestCapsChange(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		w.reserve(p, call(100_000, 500, 0)).Settle(tokens(500)) // 500 of a block are left
		w.refuse(p, call(700, 201, time.Minute), 0)
		w.reserve(p, call(700, 200, 0)).Settle(tokens(200))
		w.refuse(p, call(700, 1, time.Minute), 0)
		w.reserve(p, call(2_000, 1_300, 0)).Settle(tokens(1_300))
		p.end()
		if got := w.today(); got.Spent != tokens(2_000) || got.Leased != tokens(0) {
			t.Errorf("the ledger has %+v", got)
		}
	})
}

// Holds docs/spec/10-config.md, "Reload": what was leased under a higher cap is not
// handed out under a lower one, although others spend.
func TestCapsChangeWhileOthersSpend(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		a, b := w.start("a"), w.start("b")
		w.reserve(a, call(100_000, 500, 0)).Settle(tokens(100))
		w.reserve(b, call(100_000, 1_000, 0))
		w.refuse(a, call(1_400, 301, 0), 0)
		w.reserve(a, call(1_400, 300, 0))
	})
}

// Calls that wait under different caps are let in under their own.
func TestCapsOfCallsThatWait(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		p.ledger.set(hung) // until all of them wait
		var turns sync.WaitGroup
		for _, c := range []struct {
			cap, worst int64
			ok         bool
		}{{1_000, 300, true}, {500, 200, true}, {600, 100, true}, {500, 1, false}} {
			turns.Go(func() {
				start := time.Now()
				_, err := p.Reserve(t.Context(), call(c.cap, c.worst, 3500*time.Millisecond))
				if took := time.Since(start); (err == nil) != c.ok || c.ok && took != 3*time.Second {
					t.Errorf("%+v after %s: %v", c, took, err)
				}
			})
			synctest.Wait()
		}
		p.ledger.set(fine)
		turns.Wait()
	})
}

// A model that costs nothing needs none of the money, of which nothing may be left.
func TestFreeModelWithoutMoney(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		w.reserve(p, call(1_000, 500, 0)).Settle(budget.Amount{Tokens: 500, Micros: 100_001})
		w.refuse(p, call(1_000, 1, time.Minute), 0)
		free := call(1_000, 0, 0)
		free.Worst = budget.Amount{Tokens: 500}
		w.reserve(p, free).Settle(budget.Amount{Tokens: 500})
		w.refuse(p, call(1_000, 1, time.Minute), 0)
	})
}

// Holds docs/spec/06-contact.md, "Caps": warnAt is logged and counted, once a day and
// dimension.
func TestWarning(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		spend := func(a budget.Amount) {
			t.Helper()
			c := call(1_000, 0, 0)
			c.Worst, c.Terms.WarnAt = a, 0.8
			w.reserve(p, c).Settle(a)
			time.Sleep(10 * time.Second)
		}
		want := map[string]int{}
		for _, step := range []struct {
			spend budget.Amount
			event string
		}{
			{budget.Amount{Tokens: 790}, ""},
			{budget.Amount{Tokens: 20}, budget.WarnedTokens},
			{budget.Amount{Tokens: 20, Micros: 70_000}, ""},
			{budget.Amount{Micros: 15_000}, budget.WarnedCost},
			{budget.Amount{Tokens: 100, Micros: 10_000}, ""},
		} {
			if step.event != "" {
				want[step.event]++
			}
			spend(step.spend)
			if d := cmp.Diff(want, p.counted()); d != "" {
				t.Errorf("counted after %+v (-want +got):\n%s", step.spend, d)
			}
		}
		time.Sleep(24 * time.Hour)
		spend(budget.Amount{Tokens: 900})
		p.end()
		if got := p.counted()[budget.WarnedTokens]; got != 2 {
			t.Errorf("%d warnings with the next day's, want 2", got)
		}
		if got := strings.Count(p.log.String(), "nearly used"); got != 3 {
			t.Errorf("%d warnings logged:\n%s", got, p.log)
		}
		for rule, want := range map[string]int{"budget.dailyTokenCap in rules.json": 2, "budget.dailyCostCapUsd in rules.json": 1} {
			if got := strings.Count(p.log.String(), rule); got != want {
				t.Errorf("%d warnings name %s, want %d:\n%s", got, rule, want, p.log)
			}
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": an unknown model is logged once.
func TestUnknownPriceIsLoggedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		for _, model := range []string{"openai:new", "openai:newer", "openai:new"} {
			c := call(1_000, 1, 0)
			c.Terms.Model, c.Terms.PriceKnown = model, false
			w.reserve(p, c).Settle(tokens(1))
		}
		p.end()
		if n := strings.Count(p.log.String(), "level=WARN"); n != 2 {
			t.Errorf("%d logged, want 2:\n%s", n, p.log)
		}
	})
}

// A reservation is settled once, whoever settles it, and the zero one holds nothing.
func TestSettleTwice(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		r := w.reserve(p, call(1_000, 500, 0))
		r.Settle(tokens(100))
		r.Settle(tokens(500))
		new(budget.Reservation).Settle(tokens(500))
		free, err := budget.Unlimited{}.Reserve(t.Context(), call(1, 500, 0))
		if err != nil {
			t.Fatal(err)
		}
		free.Settle(tokens(500))
		p.end()
		r.Settle(tokens(500))
		if got := w.today(); got.Spent != tokens(100) {
			t.Errorf("the ledger has %+v", got)
		}
	})
}

func TestNewChecksItsConfig(t *testing.T) {
	whole := budget.Config{Ledger: &faulty{}, TenantID: "demo", Owner: "a", Now: time.Now, Log: slog.Default(), Count: func(string) {}}
	if _, err := budget.New(whole); err != nil {
		t.Fatal(err)
	}
	for name, remove := range map[string]func(*budget.Config){
		"Ledger":   func(c *budget.Config) { c.Ledger = nil },
		"TenantID": func(c *budget.Config) { c.TenantID = "" },
		"Owner":    func(c *budget.Config) { c.Owner = "" },
		"Now":      func(c *budget.Config) { c.Now = nil },
		"Log":      func(c *budget.Config) { c.Log = nil },
		"Count":    func(c *budget.Config) { c.Count = nil },
	} {
		c := whole
		remove(&c)
		if _, err := budget.New(c); err == nil {
			t.Errorf("New without %s succeeds", name)
		}
	}
}
