package turn_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// process is a runner, a worker and a keeper that share a fate.
type process struct {
	w      *world
	name   string
	runner *turn.Runner
	keeper *sweep.Keeper
	stop   context.CancelFunc
	work   sync.WaitGroup // the worker and the keeper

	mu      sync.Mutex
	dead    bool
	lingers bool          // writes still arrive, although another process has taken over
	over    bool          // everything it had is another's
	back    chan struct{} // closed when the process comes back; nil: it is not away
	trips   int           // how often it was away
}

// nobody is a person who has no conversation.
func nobody(context.Context, outbox.Row) (outbox.Status, error) { return "", nil }

// lease is how long a process may be silent before others take it for dead. No beat comes at
// the instant of a sweep.
const lease = 15*time.Second - 299999967

// boot starts the next process, until one starts: it takes over what was left and runs it
// again.
func (w *world) boot() {
	for !w.tryBoot() {
	}
}

func (w *world) tryBoot() bool {
	w.mu.Lock()
	w.started++
	p := &process{w: w, name: fmt.Sprint("p", w.started)}
	w.mu.Unlock()
	log := slog.New(w)
	acts := newHands(p, log)
	var worker *outbox.Worker
	var err error
	p.keeper, err = sweep.New(sweep.Config{
		Store: sweepStore{p}, TenantID: key.TenantID, Alone: !w.pair, Lease: lease,
		Window: func() turn.Window { return turn.WindowOf(w.business, time.Now()) },
		Buried: func(context.Context, []string) error { w.allowRepeats(); return nil },
		Wake:   func() { worker.Wake() }, Now: time.Now, Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	worker, err = outbox.NewWorker(outbox.Config{
		Store: outboxStore{p}, Sender: sender{p}, Tokens: w.keeper(), Actions: rowHands{acts}, Held: nobody, Owner: p.keeper.ID,
		Field: replyField, Flow: replyFlow, Gap: gap, MaxAttempts: 12, MaxAge: 6 * time.Hour, Now: time.Now, Jitter: w.jitter, Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	p.runner = w.runner(p, acts, worker, log)
	left, err := p.keeper.Start(context.Background())
	if err != nil {
		w.trace("%s does not start: %v", p.name, innermost(err))
		p.die(false)
		return false
	}
	for _, rec := range left {
		p.resumes(rec)
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	p.work.Go(func() { worker.Run(ctx) })
	p.work.Go(func() { p.keeper.Run(ctx, p) })
	w.mu.Lock()
	w.living = append(slices.Clone(w.living), p)
	w.mu.Unlock()
	return true
}

func (w *world) runner(p *process, acts hands, worker *outbox.Worker, log *slog.Logger) *turn.Runner {
	// Nothing is started too often, so that every reply names the message it answers.
	r, err := turn.New(turn.Config{
		Tokens: w.keeper(), Observe: func(conversation.Turn) {}, Enforced: true,
		Store: turnStore{p}, Lane: laneStore{p}, Acts: turnActs{p}, Account: acts, People: w.db, Agent: slowAgent{p}, Guard: guardrail.New(guardrail.Config{}),
		Tenant: w.tenant, Wake: worker.Wake, Freed: func(string) {}, Shapes: shapes(w.t), Owner: p.keeper.ID, Alive: p.keeper.Alive, Merge: w.merges, MaxAge: 6 * time.Hour,
		Deadline: deadline, Abort: abort, Gap: gap, MaxAttempts: 100, MaxInflight: 100, Now: time.Now, Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// keeper writes tokens into the contacts' fields at once.
func (w *world) keeper() *token.Keeper {
	k, err := token.NewKeeper(token.Config{Store: w.db, Writer: w, Count: func(string) {}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.t.Fatal(err)
	}
	return k
}

// WriteToken fills [token.Writer].
func (w *world) WriteToken(_ context.Context, id contact.SubscriberID, token string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tokens[string(id)] = token
	return nil
}

// Holds fills [sweep.Turns].
func (p *process) Holds(turnID string) bool { return p.runner.Holds(turnID) }

// Resume fills [sweep.Turns].
func (p *process) Resume(rec turn.Recorded) { p.resumes(rec) }

func (p *process) resumes(rec turn.Recorded) {
	p.w.trace("%s resumes %q, %s", p.name, rec.Turn.FirstName, rec.Turn.State)
	p.runner.Resume(rec)
}

func (p *process) die(lingers bool) {
	p.mu.Lock()
	p.dead, p.lingers = true, lingers
	p.mu.Unlock()
	if p.stop != nil {
		p.stop()
	}
}

func (p *process) isOver() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// leave takes a process away: what it asks of the database and of ManyChat waits until it is
// back.
func (p *process) leave() (back func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.back = make(chan struct{})
	p.trips++
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		close(p.back)
		p.back = nil
	}
}

// here waits until a process is not away, and then a moment: not all that waited goes on at
// the same instant.
func (p *process) here(stream string) {
	p.mu.Lock()
	back := p.back
	p.mu.Unlock()
	if back != nil {
		<-back
		time.Sleep(p.w.duration("back "+stream, 20*ms))
	}
}

func (p *process) isAway() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.back != nil
}

// wasAway is how often a process has been away.
func (p *process) wasAway() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.trips
}
