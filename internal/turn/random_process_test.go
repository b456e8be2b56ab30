package turn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// process is a runner and a worker that share a fate.
type process struct {
	w      *world
	name   string
	runner *turn.Runner
	stop   context.CancelFunc

	mu      sync.Mutex
	dead    bool
	lingers bool // writes still arrive, although another process has taken over
}

// nobody is a person who has no conversation.
func nobody(context.Context, outbox.Row) (bool, error) { return false, nil }

// boot starts the next process: it takes over what the last one left and runs it again.
func (w *world) boot() {
	w.started++
	p := &process{w: w, name: fmt.Sprint("p", w.started)}
	log := slog.New(w)
	acts := newHands(p, log)
	worker, err := outbox.NewWorker(outbox.Config{
		Store: outboxStore{p}, Sender: sender{p}, Tokens: keeper(w.t, w.db, &field{}), Actions: rowHands{acts}, Held: nobody, Owner: func() string { return p.name },
		Field: replyField, Flow: replyFlow, Gap: gap, MaxAttempts: 12, MaxAge: 6 * time.Hour, Now: time.Now, Jitter: w.jitter, Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	// Nothing is started too often, so that every reply names the message it answers.
	p.runner, err = turn.New(turn.Config{
		Tokens: keeper(w.t, w.db, &field{}), Observe: func(conversation.Turn) {},
		Store: turnStore{p}, Lane: w.db, Acts: turnActs{p}, Account: acts, People: w.db, Agent: slowAgent{p}, Guard: guardrail.New(guardrail.Config{}),
		Tenant: w.tenant, Wake: worker.Wake, Freed: func(string) {}, Shapes: shapes(w.t), Owner: func() string { return p.name }, Alive: func() bool { return true }, Merge: true, MaxAge: 6 * time.Hour,
		Deadline: deadline, Abort: abort, Gap: gap, MaxAttempts: crashes + 1, MaxInflight: 100, Now: time.Now, Log: log,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	left, err := takeOver(context.Background(), w.db, p.name)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, rec := range left {
		w.trace("%s resumes %q", p.name, rec.Turn.Text)
		p.runner.Resume(rec)
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(context.Background())
	go worker.Run(ctx)
	w.mu.Lock()
	w.current = p
	w.mu.Unlock()
}

func (p *process) die(lingers bool) {
	p.mu.Lock()
	p.dead, p.lingers = true, lingers
	p.mu.Unlock()
	p.stop()
}

func (p *process) isDead() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// late reports whether a write arrives behind the take-over.
func (p *process) late() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead && p.lingers
}

// errDead is what a dead process hears. It says that nothing is the process's any more, so
// that what a real process would take with it comes to an end here too.
var errDead = fmt.Errorf("this process is dead: %w; %w", turn.ErrNotOwner, outbox.ErrNotOwner)

// call is one call of a process to the database: what it is for the trace, whether it
// names its owner and so must be refused behind a take-over, and whether its outcome may
// get lost.
type call struct {
	method, about string
	owned         bool
	sure          bool
}

// do makes a call under the faults of the seed: it is slow, it fails, it is done but
// reported as failed, or the process is dead by the time that it arrives.
//
// Holds docs/spec/05-delivery.md, "Outbox": a write that finds another owner changes
// nothing.
func (p *process) do(ctx context.Context, c call, write func() error) error {
	w, stream := p.w, p.name+c.method+c.about
	time.Sleep(w.lag(stream))
	late := p.late() && !c.sure
	switch {
	case p.isDead() && !late:
		return errDead
	case w.dice.chance(stream, 0.05):
		w.trace("%s: %s of %s fails", p.name, c.method, c.about)
		return errDatabase
	case ctx.Err() != nil:
		return ctx.Err()
	}
	err := write()
	w.trace("%s: %s of %s: %v", p.name, c.method, c.about, innermost(err))
	if late && c.owned && err == nil {
		w.violate("%s of %s by %s was taken behind the take-over", c.method, c.about, p.name)
	}
	if !c.sure && w.dice.chance(stream, 0.03) {
		w.trace("%s: the outcome of that %s is lost", p.name, c.method)
		return errDatabase
	}
	time.Sleep(w.lag(stream))
	if p.isDead() && !late {
		return errDead
	}
	return err
}

// innermost is an error without what it was wrapped in, which names random ids.
func innermost(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// turnStore is the database as the runner of a process reaches it.
type turnStore struct{ *process }

func (s turnStore) Record(ctx context.Context, a turn.Arrival) (rec turn.Recorded, err error) {
	// A record whose outcome is lost is not swept up before the next start (planned).
	err = s.do(ctx, call{method: "record", about: a.Text, sure: true}, func() (err error) {
		if rec, err = s.w.db.Record(ctx, a); err == nil {
			s.w.mu.Lock()
			s.w.recorded[a.TurnID] = a.Text
			s.w.mu.Unlock()
		}
		return err
	})
	return rec, err
}

func (s turnStore) Settle(ctx context.Context, v turn.Settlement) error {
	about := v.Turn.Text + " " + string(v.Turn.Path)
	return s.do(ctx, call{method: "settle", about: about, owned: true}, func() error {
		err := s.w.db.Settle(ctx, v)
		if err == nil && v.Turn.Path == conversation.Inline {
			s.w.settledInline(v.Turn)
		}
		return err
	})
}

func (s turnStore) Stamp(ctx context.Context, v turn.Stamp) error {
	return s.do(ctx, call{method: "stamp", about: s.w.message(v.TurnID)}, func() error {
		err := s.w.db.Stamp(ctx, v)
		if err == nil && (v.TurnID == "" || s.w.responded(v)) {
			s.w.sent(v.ConversationID, v.At)
		}
		return err
	})
}

func (s turnStore) Reroute(ctx context.Context, turnID string, row outbox.Row) error {
	return s.do(ctx, call{method: "reroute", about: s.w.message(turnID), owned: true}, func() error {
		return s.w.db.Reroute(ctx, turnID, row)
	})
}

// outboxStore is the database as the worker of a process reaches it.
type outboxStore struct{ *process }

func (s outboxStore) Claim(ctx context.Context, c outbox.Claim) (rows []outbox.Row, err error) {
	time.Sleep(s.w.lag(s.name + "claim"))
	switch {
	case s.isDead():
		return nil, errDead
	case s.w.dice.chance(s.name+"claim", 0.05):
		return nil, errDatabase
	}
	if rows, err = s.w.db.Claim(ctx, c); len(rows) > 0 {
		s.w.claimed(s.name, rows)
	}
	return rows, err
}

func (s outboxStore) Progress(ctx context.Context, r outbox.Row, at time.Time) error {
	return s.do(ctx, call{method: "progress", about: s.w.part(r), owned: true}, func() error {
		err := s.w.db.Progress(ctx, r, at)
		if err == nil {
			s.w.sent(r.ConversationID, at)
		}
		return err
	})
}

func (s outboxStore) Release(ctx context.Context, r outbox.Row, ended []action.Ended) error {
	about := fmt.Sprint(s.w.part(r), " as ", r.Status)
	return s.do(ctx, call{method: "release", about: about, owned: true}, func() error { return s.w.db.Release(ctx, r, ended) })
}

func (s outboxStore) NextDue(ctx context.Context, gap time.Duration, kinds []outbox.Kind) (time.Time, bool, error) {
	if s.isDead() {
		return time.Time{}, false, errDead
	}
	return s.w.db.NextDue(ctx, gap, kinds)
}

// message is the text that a turn answers.
func (w *world) message(turnID string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recorded[turnID]
}

// part names a row for the trace.
func (w *world) part(r outbox.Row) string {
	if r.Kind == outbox.HandoffNotice {
		return noticePart(w.message(r.TurnID), r.Payload.Actions[0].ID)
	}
	return fmt.Sprintf("%s part %d, %d of %d", w.message(r.TurnID), r.Part, r.Payload.Sent, len(r.Payload.Texts))
}

// responded reports whether it was this stamp that settled its turn.
func (w *world) responded(v turn.Stamp) bool {
	t, err := w.db.Turn(context.Background(), v.TurnID)
	if err != nil {
		w.t.Error(err)
	}
	return t.RespondedAt.Equal(v.At.Truncate(instant))
}

// sent notes a committed last-sent time.
func (w *world) sent(conversationID string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.After(w.lastSent[conversationID]) {
		w.lastSent[conversationID] = at
	}
}

// jitter is [outbox.Jitter] by the seed.
func (w *world) jitter(d time.Duration) time.Duration { return d/2 + w.duration("jitter", d/2) }

func shapes(t *testing.T) delivery.Shapes {
	t.Helper()
	s, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
