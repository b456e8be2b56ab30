package budget_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/ledger"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a database in a bubble, with processes that share it.
type world struct {
	t  *testing.T
	db *database.DB
}

// bubble runs a test in a world whose clock starts at noon of a UTC day.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(12 * time.Hour) // bubbles start at midnight
		db, err := database.Open(t.Context(), database.Options{URL: "sqlite:" + path, Now: time.Now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := db.Close(); err != nil {
				t.Error(err)
			}
		})
		test(t, &world{t: t, db: db})
	})
}

// process is a keeper that runs, over a ledger that can be cut off.
type process struct {
	*budget.Keeper
	ledger *faulty
	log    *bytes.Buffer // read it after the process has ended

	mu     sync.Mutex
	counts map[string]int
	stop   context.CancelFunc
	ended  chan struct{}
}

func (w *world) start(owner string) *process {
	w.t.Helper()
	p := &process{ledger: &faulty{Ledger: ledger.New(w.db)}, log: &bytes.Buffer{}, counts: map[string]int{}, ended: make(chan struct{})}
	keeper, err := budget.New(budget.Config{
		Ledger: p.ledger, TenantID: "demo", Owner: owner, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(p.log, nil)), Count: p.count,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p.Keeper = keeper
	ctx, cancel := context.WithCancel(context.Background())
	p.stop = cancel
	go func() {
		defer close(p.ended)
		keeper.Run(ctx)
	}()
	w.t.Cleanup(p.end)
	return p
}

func (p *process) count(e string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.counts[e]++
}

func (p *process) counted() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return maps.Clone(p.counts)
}

// end stops the process in order.
func (p *process) end() {
	p.stop()
	<-p.ended
}

// crash ends the process as it is: it writes nothing more.
func (p *process) crash() {
	p.ledger.set(dead)
	p.end()
}

// takeOver starts a process behind a crash.
func (w *world) takeOver(owner string) *process {
	w.t.Helper()
	if err := ledger.New(w.db).TakeOver(w.t.Context(), "demo", owner); err != nil {
		w.t.Fatal(err)
	}
	return w.start(owner)
}

// fault is what happens to statements.
type fault int

const (
	fine fault = iota
	dead       // none is written
	lost       // each is written and reported as not
	hung       // none is written, and each takes until its caller gives it up
	late       // each is written, and takes until then too
)

// faulty is the real ledger behind a connection that can fail.
type faulty struct {
	budget.Ledger
	mu    sync.Mutex
	now   fault
	calls int
}

var errDatabase = errors.New("the database does not answer")

func (f *faulty) State(ctx context.Context, s budget.Statement) (budget.Answer, error) {
	f.mu.Lock()
	f.calls++
	now := f.now
	f.mu.Unlock()
	switch now {
	case dead:
		return budget.Answer{}, errDatabase
	case hung:
		<-ctx.Done()
		return budget.Answer{}, ctx.Err()
	}
	ans, err := f.Ledger.State(ctx, s)
	switch now {
	case lost:
		return budget.Answer{}, errDatabase
	case late:
		<-ctx.Done()
		return budget.Answer{}, ctx.Err()
	}
	return ans, err
}

func (f *faulty) set(now fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = now
}

func (f *faulty) stated() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// tokens is an amount of a model that costs a hundred micro-dollars a token.
func tokens(n int64) budget.Amount { return budget.Amount{Tokens: n, Micros: 100 * n} }

// terms are those of a day of n tokens.
func terms(n int64) budget.Terms {
	return budget.Terms{Cap: tokens(n), WarnAt: 2 /* never */, Model: "scripted:test", PriceKnown: true}
}

// call is one that waits for as long as d.
func call(cap, worst int64, d time.Duration) budget.Call {
	return budget.Call{Terms: terms(cap), Worst: tokens(worst), By: time.Now().Add(d)}
}

// reserve makes a reservation that must succeed.
func (w *world) reserve(p *process, c budget.Call) *budget.Reservation {
	w.t.Helper()
	r, err := p.Reserve(w.t.Context(), c)
	if err != nil {
		w.t.Fatalf("Reserve: %v", err)
	}
	return r
}

// refuse makes one that must be refused after exactly d.
func (w *world) refuse(p *process, c budget.Call, d time.Duration) {
	w.t.Helper()
	start := time.Now()
	if _, err := p.Reserve(w.t.Context(), c); !errors.Is(err, budget.ErrExhausted) {
		w.t.Errorf("Reserve returned %v, want ErrExhausted", err)
	}
	if took := time.Since(start); took != d {
		w.t.Errorf("refused after %s, want %s", took, d)
	}
}

// day reads what the ledger keeps of a day.
func (w *world) day(day budget.Day) (t budget.Total) {
	w.t.Helper()
	err := w.db.Read().QueryRowContext(context.Background(), `
SELECT coalesce(sum(tokens_spent), 0), coalesce(sum(micros_spent), 0), coalesce(sum(tokens_leased), 0),
    coalesce(sum(micros_leased), 0), coalesce(sum(waiting), 0) FROM budget_days WHERE day = $1`, int64(day)).
		Scan(&t.Spent.Tokens, &t.Spent.Micros, &t.Leased.Tokens, &t.Leased.Micros, &t.Waiting)
	if err != nil {
		w.t.Fatal(err)
	}
	return t
}

// today reads what the ledger keeps of the present day.
func (w *world) today() budget.Total {
	w.t.Helper()
	return w.day(budget.DayOf(time.Now()))
}

// free is how many tokens of a cap a fresh process can reserve at once today.
func (w *world) free(p *process, cap int64) int64 {
	w.t.Helper()
	lo, hi := int64(0), cap
	for lo < hi {
		mid := (lo + hi + 1) / 2
		r, err := p.Reserve(w.t.Context(), call(cap, mid, 0))
		if err != nil {
			hi = mid - 1
			continue
		}
		lo = mid
		r.Settle(budget.Amount{})
		time.Sleep(time.Second) // for what is given back to arrive
	}
	return lo
}
