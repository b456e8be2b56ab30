package attempt_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// abort is how long a turn of these tests has; the race ends before.
const (
	abort = 30 * time.Second
	race  = 8 * time.Second
)

// rules let a million calls in, at $1 and $10 a million tokens of the first model, and
// twice as much of the fallback.
func rules() tenant.Budget {
	return tenant.Budget{
		DailyTokenCap: 1e12, DailyCostCapUSD: 1e6, WarnAt: 1,
		Prices: map[string]tenant.ModelPrice{"one:a": {Input: 1, Output: 10}, "two:b": {Input: 2, Output: 20}},
	}
}

// ledger keeps the one day of a bubble.
type ledger struct {
	mu    sync.Mutex
	total budget.Total
	share budget.Share
}

func (l *ledger) State(_ context.Context, s budget.Statement) (a budget.Answer, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.total, l.share, a = s.Apply(l.total, l.share)
	return a, nil
}

// rig is a caller on a budget that runs, within a bubble.
type rig struct {
	*attempt.Caller
	t      *testing.T
	start  time.Time
	ledger *ledger
	log    *bytes.Buffer // read it when nothing runs
	end    func()
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// options are what a test has otherwise than usual.
type options struct {
	models []attempt.Model
	effort llm.Effort
	jitter func(time.Duration) time.Duration // nil: none
	budget func(attempt.Budget) attempt.Budget
}

func start(t *testing.T, o options) *rig {
	t.Helper()
	r := &rig{t: t, start: time.Now(), ledger: &ledger{}, log: &bytes.Buffer{}}
	keeper, err := budget.New(budget.Config{
		Ledger: r.ledger, TenantID: "shop", Owner: "process", Now: time.Now,
		Log: discard(), Count: func(string) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	config := attempt.Config{
		Models: o.models, Effort: o.effort, Budget: keeper, Now: time.Now, Jitter: o.jitter,
		Log: slog.New(slog.NewTextHandler(r.log, nil)),
	}
	if config.Jitter == nil {
		config.Jitter = func(d time.Duration) time.Duration { return d }
	}
	if o.budget != nil {
		config.Budget = o.budget(keeper)
	}
	if r.Caller, err = attempt.New(config); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		keeper.Run(ctx)
	}()
	r.end = func() { cancel(); <-ended }
	t.Cleanup(r.end)
	return r
}

func (r *rig) since() time.Duration { return time.Since(r.start) }

// at waits for a time of the bubble.
func (r *rig) at(d time.Duration) {
	r.t.Helper()
	if d < r.since() {
		r.t.Fatalf("it is %v, past %v", r.since(), d)
	}
	time.Sleep(d - r.since())
}

// turn begins the calls of a turn.
func (r *rig) turn() *attempt.Turn { return r.Turn(rules(), time.Now().Add(race)) }

// call is a turn of one call, which has the given time.
func (r *rig) call(d time.Duration) (llm.Response, []attempt.Made, error) {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return r.turn().Call(ctx, question())
}

// spent ends the budget, and is what the day was charged. Whatever was reserved must be
// settled by now.
func (r *rig) spent() budget.Amount {
	r.t.Helper()
	synctest.Wait() // for calls that return
	r.end()
	if got := r.ledger.total; got.Leased != (budget.Amount{}) || got.Waiting != 0 {
		r.t.Errorf("not settled: %+v", got)
	}
	return r.ledger.total.Spent
}

func question() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "hi"}}, MaxOutputTokens: 100}
}

// player is a model that plays, and keeps when it was asked.
type player struct {
	play  func(ctx context.Context, req llm.Request) (llm.Response, error)
	mu    sync.Mutex
	start time.Time
	times []time.Duration
	asked []llm.Request
}

// plays is a model that plays steps, one a call, and the last one again and again.
func plays(t *testing.T, steps ...llmtest.Step) *player {
	s := &llmtest.Scripted{Steps: steps, Repeat: true}
	t.Cleanup(s.Release)
	return &player{start: time.Now(), play: s.Generate}
}

func (p *player) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	p.mu.Lock()
	p.times = append(p.times, time.Since(p.start))
	p.asked = append(p.asked, req)
	play := p.play
	p.mu.Unlock()
	return play(ctx, req)
}

// becomes makes the model play other steps from now on.
func (p *player) becomes(steps ...llmtest.Step) {
	p.plays(&llmtest.Scripted{Steps: steps, Repeat: true})
}

func (p *player) plays(m llm.Model) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.play = m.Generate
}

func (p *player) requests() int { return len(p.when()) }

// when is when it was asked, since it was made.
func (p *player) when() []time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.times)
}

func one(m llm.Model) attempt.Model { return attempt.Model{Name: "one:a", Model: m} }
func two(m llm.Model) attempt.Model { return attempt.Model{Name: "two:b", Model: m} }

func alone(m llm.Model) options { return options{models: []attempt.Model{one(m)}} }
func both(first, fallback llm.Model) options {
	return options{models: []attempt.Model{one(first), two(fallback)}}
}

// fine is an answer of 100 tokens read, 40 of them from the cache, and 10 written.
func fine() llmtest.Step {
	return llmtest.Step{Text: "yes", Response: llm.Response{Usage: llm.Usage{Input: 100, Cached: 40, Output: 10}}}
}

func fails(kind llm.ErrorKind, status int) llmtest.Step {
	return llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: kind, Status: status}}
}

func busy(after time.Duration) llmtest.Step {
	return llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: llm.KindRateLimited, Status: 429, RetryAfter: after}}
}

// down fails at once, and is not tried again; it tells the breaker as much as any failure.
func down() llmtest.Step { return fails(llm.KindProtocol, 200) }
