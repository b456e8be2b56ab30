package nudge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

const (
	// pollEvery is how often a process looks for due nudges at least (docs/spec/09-nudge.md).
	pollEvery = 15 * time.Second
	// page is how many of them one look reads.
	page = 64
	// readWithin bounds one look at the database.
	readWithin = 5 * time.Second
	// atOnce is how many turns of nudges a process runs at a time. They are no contact's who
	// waits, and compete with the messages of those who do.
	atOnce = 16
)

// Config is what a [Poller] needs; every field is required.
type Config struct {
	Store    Store
	Turns    Turns
	TenantID string
	Alive    func() bool                       // whether others cannot have taken this process for dead
	Jitter   func(time.Duration) time.Duration // spreads the looks of several processes; see [Jitter]
	Log      *slog.Logger
}

// Poller has the turns of due nudges run.
type Poller struct {
	cfg   Config
	wake  chan struct{}
	slots chan struct{} // one for each turn under way
	stop  func()        // closes over, once
	over  chan struct{} // no further nudge is taken
	done  chan struct{} // closed when Run has returned

	mu   sync.Mutex
	mine map[string]bool // ids of the nudges that this process works on
	lost bool            // one was not taken since the last look, as the database did not answer
}

// New checks the config.
func New(cfg Config) (*Poller, error) {
	switch {
	case cfg.Store == nil, cfg.Turns == nil, cfg.Alive == nil, cfg.Jitter == nil, cfg.Log == nil:
		return nil, errors.New("nudge: a collaborator is missing from the poller's config")
	case cfg.TenantID == "":
		return nil, errors.New("nudge: the tenant must be set")
	}
	p := &Poller{
		cfg: cfg, wake: make(chan struct{}, 1), slots: make(chan struct{}, atOnce), over: make(chan struct{}), done: make(chan struct{}),
		mine: map[string]bool{},
	}
	p.stop = sync.OnceFunc(func() { close(p.over) })
	return p, nil
}

// Jitter spreads a pause evenly over its upper half, so that processes that started together
// do not look together.
func Jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2) }

// Wake makes the poller look now. It never blocks.
func (p *Poller) Wake() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// Stop lets no further nudge be taken. Those under way go on.
func (p *Poller) Stop() { p.stop() }

// Drain is [Poller.Stop], and waits until none is under way. When ctx ends first it says so.
// Call it on a poller that runs.
func (p *Poller) Drain(ctx context.Context) error {
	p.stop()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("nudges are under way: %w", ctx.Err())
	}
}

// Run looks for due nudges until it is stopped or ctx ends, and returns when none is under way
// any more. The end of ctx cuts those short.
func (p *Poller) Run(ctx context.Context) {
	defer close(p.done)
	var turns sync.WaitGroup
	defer turns.Wait()
	for failed := false; ; {
		err := p.look(ctx, &turns)
		if err != nil && !failed && ctx.Err() == nil {
			p.cfg.Log.Error("due nudges were not read; trying again", "error", err)
		}
		failed = err != nil
		timer := time.NewTimer(p.cfg.Jitter(pollEvery))
		select {
		case <-timer.C:
		case <-p.wake:
		case <-p.over:
		case <-ctx.Done():
		}
		timer.Stop()
		if p.stopped(ctx) {
			return
		}
	}
}

func (p *Poller) stopped(ctx context.Context) bool {
	select {
	case <-p.over:
		return true
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// look begins the turns of the nudges that are due, as there is room for them. It ends early
// when one could not be taken: it would find that one again at once.
func (p *Poller) look(ctx context.Context, turns *sync.WaitGroup) error {
	p.note(false)
	for more := true; more && p.cfg.Alive() && !p.stopped(ctx); {
		read, cancel := context.WithTimeout(ctx, readWithin)
		due, err := p.cfg.Store.Due(read, p.cfg.TenantID, page)
		cancel()
		if err != nil {
			return err
		}
		more = len(due) == page
		begun := 0
		for _, d := range due {
			if p.begin(ctx, d, turns) {
				begun++
			}
		}
		more = more && begun > 0 && !p.losing()
	}
	return nil
}

// begin begins a turn when there is room for it, unless it is under way or the poller stops.
func (p *Poller) begin(ctx context.Context, d Due, turns *sync.WaitGroup) bool {
	select {
	case p.slots <- struct{}{}:
	case <-p.over:
		return false
	case <-ctx.Done():
		return false
	}
	if !p.take(d.ID) {
		<-p.slots
		return false
	}
	turns.Go(func() {
		defer func() { <-p.slots }()
		defer p.leave(d.ID)
		p.follow(ctx, d)
	})
	return true
}

// take notes a nudge that is worked on, unless it is already.
func (p *Poller) take(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mine[id] {
		return false
	}
	p.mine[id] = true
	return true
}

func (p *Poller) leave(id string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.mine, id)
}

// note keeps whether a nudge could not be taken.
func (p *Poller) note(lost bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = lost
}

func (p *Poller) losing() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.lost
}

// follow runs one turn. A panic costs the contact one follow-up: a sweep ends what it left.
func (p *Poller) follow(ctx context.Context, d Due) {
	defer func() {
		if r := recover(); r != nil {
			p.cfg.Log.Error("a nudge panicked", "nudge", d.ID, "panic", redact.Panic(r), "stack", string(debug.Stack()))
		}
	}()
	if !p.cfg.Alive() {
		return
	}
	if err := p.cfg.Turns.Follow(ctx, d); err != nil && ctx.Err() == nil {
		p.note(true)
		p.cfg.Log.Error("a nudge was not taken; it stays as it is", "nudge", d.ID, "error", err)
	}
}
