package budget_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/budget"
)

var seeds = flag.Int("seeds", 12, "how many seeds the random test runs")

// Holds docs/spec/17-quality.md, "Reliability": whatever happens in whatever order, on one
// process or more, what was spent and what is in flight never pass the cap together; in
// the end everything is booked on its day, nothing is leased, and the rest can be used.
func TestRandom(t *testing.T) {
	for n := range *seeds {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) { newHistory(w, uint64(n)).run() })
		})
	}
}

// history is one random run, and what really happened in it.
type history struct {
	*world
	rng       *rand.Rand
	cap       int64
	processes []*process
	started   int
	crashes   bool // else the ledger fails now and then
	turns     sync.WaitGroup

	mu     sync.Mutex
	spent  map[budget.Day]budget.Amount // really
	flight map[budget.Day]budget.Amount // worst cases; those of dead processes stay for ever
	leaks  map[budget.Day]budget.Amount // most that a crash may charge in vain
}

func newHistory(w *world, seed uint64) *history {
	rng := rand.New(rand.NewPCG(seed, 7))
	h := &history{
		world: w, rng: rng, cap: []int64{300, 5_000, 100_000, 5_000_000}[rng.IntN(4)], crashes: seed%2 == 0,
		spent: map[budget.Day]budget.Amount{}, flight: map[budget.Day]budget.Amount{}, leaks: map[budget.Day]budget.Amount{},
	}
	if rng.IntN(2) == 0 {
		time.Sleep(12*time.Hour - 30*time.Second) // over midnight
	}
	for range 1 + rng.IntN(3) {
		h.processes = append(h.processes, h.fresh(false))
	}
	return h
}

func (h *history) fresh(takeOver bool) *process {
	h.started++
	owner := fmt.Sprint("process-", h.started)
	if takeOver {
		return h.takeOver(owner)
	}
	return h.start(owner)
}

func (h *history) run() {
	for range 120 {
		// Nanoseconds apart, so that no two things happen at one instant.
		time.Sleep(time.Duration(h.rng.Int64N(int64(time.Second))) + 1)
		switch n := h.rng.IntN(40); {
		case n == 0 && h.crashes:
			h.crashAll()
		case n < 3 && !h.crashes:
			h.disturb()
		default:
			h.begin()
		}
	}
	h.turns.Wait()
	time.Sleep(time.Minute)
	h.check()
}

// begin starts a call, which settles some time later unless its process dies.
func (h *history) begin() {
	i := h.rng.IntN(len(h.processes))
	p, c := h.processes[i], call(h.cap, 1+h.rng.Int64N(h.cap/20), time.Duration(h.rng.Int64N(int64(8*time.Second))))
	c.Worst.Micros = c.Worst.Tokens * h.rng.Int64N(200)
	share := h.rng.Int64N(101)
	used := budget.Amount{Tokens: c.Worst.Tokens * share / 100, Micros: c.Worst.Micros * share / 100}
	takes := time.Duration(h.rng.Int64N(int64(10 * time.Second)))
	h.turns.Go(func() {
		r, err := p.Reserve(h.t.Context(), c)
		if err != nil {
			if !errors.Is(err, budget.ErrExhausted) && !errors.Is(err, budget.ErrUnavailable) {
				h.t.Errorf("Reserve returned %v", err)
			}
			return
		}
		day := budget.DayOf(time.Now())
		h.move(day, c.Worst, budget.Amount{})
		time.Sleep(takes)
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.processes[i] == p {
			h.flight[day] = sub(h.flight[day], c.Worst)
			h.spent[day] = add(h.spent[day], used)
			r.Settle(used)
		}
	})
}

// move records a call that was let in, and that there was room for it.
func (h *history) move(day budget.Day, flight, spent budget.Amount) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.flight[day] = add(h.flight[day], flight)
	h.spent[day] = add(h.spent[day], spent)
	sum, cap := add(h.flight[day], h.spent[day]), tokens(h.cap)
	if sum.Tokens > cap.Tokens || sum.Micros > cap.Micros {
		h.t.Errorf("%+v spent or in flight on %s, of %+v", sum, day, cap)
	}
}

// crashAll ends every process as it is, and starts as many behind them.
func (h *history) crashAll() {
	synctest.Wait()
	for _, p := range h.processes {
		p.ledger.set(dead)
	}
	died := h.bury()
	for _, p := range died {
		p.crash()
	}
	for i := range died {
		p := h.fresh(i == 0)
		h.mu.Lock()
		h.processes[i] = p
		h.mu.Unlock()
	}
}

// bury records a crash, and returns the processes that died.
func (h *history) bury() []*process {
	h.mu.Lock()
	defer h.mu.Unlock()
	died := slices.Clone(h.processes)
	today := budget.DayOf(time.Now())
	for i := range h.processes {
		h.processes[i] = nil
		for day := today - 1; day <= today; day++ {
			h.leaks[day] = add(h.leaks[day], tokens(max(1, h.cap/100)))
		}
	}
	return died
}

// disturb makes one process's ledger fail for a while.
func (h *history) disturb() {
	p := h.processes[h.rng.IntN(len(h.processes))]
	p.ledger.set([]fault{dead, lost, hung}[h.rng.IntN(3)])
	for range h.rng.IntN(4) {
		h.begin()
	}
	time.Sleep(time.Duration(h.rng.Int64N(int64(12*time.Second))) + 1)
	p.ledger.set(fine)
}

// check compares the ledger with what happened.
func (h *history) check() {
	for _, p := range h.processes {
		p.end()
	}
	for day, spent := range h.spent {
		got, want := h.day(day), add(spent, h.flight[day])
		over := sub(got.Spent, want)
		if leak := h.leaks[day]; over.Tokens < 0 || over.Micros < 0 || over.Tokens > leak.Tokens || over.Micros > leak.Micros {
			h.t.Errorf("%s: the ledger has %+v spent, want %+v and at most %+v more", day, got.Spent, want, leak)
		}
		if got.Leased != (budget.Amount{}) || got.Waiting != 0 {
			h.t.Errorf("%s: the ledger has %+v", day, got)
		}
	}
	last := h.fresh(false)
	c := call(h.cap, 0, 0)
	c.Worst = sub(tokens(h.cap), h.today().Spent)
	h.reserve(last, c)
}

func add(a, b budget.Amount) budget.Amount {
	return budget.Amount{Tokens: a.Tokens + b.Tokens, Micros: a.Micros + b.Micros}
}

func sub(a, b budget.Amount) budget.Amount {
	return budget.Amount{Tokens: a.Tokens - b.Tokens, Micros: a.Micros - b.Micros}
}
