package turn_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// The limits of the tests; each is the default of docs/deadlines.md.
const (
	deadline = 8 * time.Second
	bound    = deadline + 500*time.Millisecond
	abort    = 30 * time.Second
	gap      = 2 * time.Second
	ms       = time.Millisecond
)

// The fixture tenant's copy.
const (
	answerCopy     = "The wheel course is 180 euros."
	ackCopy        = "One moment please."
	escalationCopy = "A person will answer you."
	fallbackCopy   = "I cannot read that, please write."
	scriptedCopy   = "Welcome! Ask me anything."
)

var key = contact.Key{TenantID: "test", Channel: contact.WhatsApp, SubscriberID: "900000001"}

// agentFunc is an agent that does what a test says.
type agentFunc func(ctx context.Context) (agent.Result, error)

func (f agentFunc) Run(ctx context.Context, _ agent.Input) (agent.Result, error) { return f(ctx) }

// answersAfter is an agent that replies after a while, unless it is aborted.
func answersAfter(d time.Duration, messages ...string) agentFunc {
	if len(messages) == 0 {
		messages = []string{answerCopy}
	}
	return func(ctx context.Context) (agent.Result, error) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return agent.Result{}, ctx.Err()
		case <-timer.C:
			return agent.Result{Reply: reply.Reply{Messages: messages, Confidence: 1}}, nil
		}
	}
}

// faultyStore is the real store with delays and failures before or after a write.
type faultyStore struct {
	turn.Store
	mu     sync.Mutex
	faults map[string]fault
}

// fault is what happens to the next calls of one method.
type fault struct {
	before, after time.Duration // waits around the transaction, whatever the caller's context
	hang          bool          // waits for the caller's context to end, and does nothing
	err           error         // what is reported instead of doing anything
	lost          error         // what is reported although the transaction was committed
	times         int           // how many calls; 0: all
}

func (s *faultyStore) do(ctx context.Context, method string, write func() error) error {
	s.mu.Lock()
	f := s.faults[method]
	if f.times > 0 {
		if f.times--; f.times == 0 {
			delete(s.faults, method)
		} else {
			s.faults[method] = f
		}
	}
	s.mu.Unlock()
	time.Sleep(f.before)
	if f.hang {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.err != nil {
		return f.err
	}
	err := write()
	time.Sleep(f.after)
	return errors.Join(err, f.lost)
}

func (s *faultyStore) Record(ctx context.Context, a turn.Arrival) (rec turn.Recorded, err error) {
	err = s.do(ctx, "record", func() (err error) { rec, err = s.Store.Record(ctx, a); return err })
	return rec, err
}

func (s *faultyStore) Settle(ctx context.Context, v turn.Settlement) error {
	return s.do(ctx, "settle", func() error { return s.Store.Settle(context.WithoutCancel(ctx), v) })
}

func (s *faultyStore) Stamp(ctx context.Context, v turn.Stamp) error {
	return s.do(ctx, "stamp", func() error { return s.Store.Stamp(ctx, v) })
}

// rig is a runner over a real database in a synctest bubble.
type rig struct {
	t      *testing.T
	db     *store.DB
	runner *turn.Runner
	start  time.Time
	logs   *logs
	at     *account // the business's, at ManyChat
	field  *field   // the contact's token field there

	account turn.Account // nil: at
	merge   bool         // MERGE_WAITING
	dead    atomic.Bool  // others may take the process for dead
	hangs   bool         // a turn is meant to be still in flight at the end
}

// inBubble runs a test with a rig on a fake clock.
func inBubble(t *testing.T, a turn.Agent, faults map[string]fault, test func(*rig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), store.Options{
			URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		r := &rig{t: t, db: db, merge: true, start: time.Now(), logs: &logs{}, at: &account{start: time.Now()}, field: &field{}}
		r.runner = newRunner(t, &faultyStore{Store: db, faults: faults}, a, r, deadline)
		test(r)
		grace, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := r.runner.Drain(grace); (err != nil) != r.hangs {
			t.Errorf("drained: %v", err)
		}
		time.Sleep(time.Hour) // an agent that ignores its abort ends by itself
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
}

// takeOver takes everything over that anybody else left.
func takeOver(ctx context.Context, db *store.DB, owner string) ([]turn.Recorded, error) {
	taken, _, err := db.TakeOver(ctx, sweep.TakeOver{
		Process: sweep.Process{ID: owner, TenantID: key.TenantID}, All: true, Window: turn.Window{HistoryLimit: 10},
	})
	return taken, err
}

func newRunner(t *testing.T, s turn.Store, a turn.Agent, of *rig, limit time.Duration) *turn.Runner {
	t.Helper()
	return newRunnerFor(t, fixture, s, a, of, limit)
}

func newRunnerFor(t *testing.T, business *tenant.Tenant, s turn.Store, a turn.Agent, of *rig, limit time.Duration) *turn.Runner {
	t.Helper()
	shapes, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	r, err := turn.New(turn.Config{
		Tokens: keeper(t, s, of.field), Enforced: true, Observe: func(conversation.Turn) {},
		Store: s, Lane: of.db, Alive: func() bool { return !of.dead.Load() }, Merge: of.merge, MaxAge: 6 * time.Hour, Acts: acts{of.db, s}, Account: of.reached(), People: of.db, Agent: a, Guard: guardrail.New(guardrail.Config{}), Tenant: func() *tenant.Tenant { return business }, Wake: func() {}, Freed: func(string) {}, Shapes: shapes, Owner: func() string { return "p1" },
		Deadline: limit, Abort: abort, Gap: gap, MaxAttempts: 2, MaxInflight: 3, Now: time.Now, Log: slog.New(of.logs),
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// reached is the account as the runner reaches it.
func (r *rig) reached() turn.Account {
	if r.account != nil {
		return r.account
	}
	return r.at
}

// acts are the database's, under the faults of a store.
type acts struct {
	turn.Acts
	s turn.Store
}

func (a acts) NoteFlow(ctx context.Context, n turn.FlowNote) error {
	return a.do(ctx, "note", func() error { return a.Acts.NoteFlow(ctx, n) })
}

func (a acts) Acted(ctx context.Context, turnID string, ended []action.Ended) error {
	return a.do(ctx, "acted", func() error { return a.Acts.Acted(ctx, turnID, ended) })
}

func (a acts) do(ctx context.Context, method string, write func() error) error {
	if faulty, ok := a.s.(*faultyStore); ok {
		return faulty.do(ctx, method, write)
	}
	return write()
}

// keeper writes tokens at once.
func keeper(t *testing.T, s turn.Store, into *field) *token.Keeper {
	t.Helper()
	switch wrapped := s.(type) {
	case *faultyStore:
		s = wrapped.Store
	case *panickyStore:
		s = wrapped.Store
	}
	if once, ok := s.(*refusesOnce); ok {
		s = once.Store
	}
	k, err := token.NewKeeper(token.Config{
		Store: s.(token.Store), Writer: into, Count: func(string) {}, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// field is a contact's token field at ManyChat, which takes every token.
type field struct {
	mu    sync.Mutex
	token string
}

func (f *field) WriteToken(_ context.Context, _ contact.SubscriberID, token string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.token = token
	return nil
}

func (f *field) read() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.token
}

// response is what a handler sent, and when.
type response struct {
	at    time.Duration // since the handler's start
	texts []string
	gone  bool
}

// exchange plays the handler: it begins a turn, waits, writes and tells the turn.
func (r *rig) exchange(ctx context.Context, text string, written bool) response {
	start := time.Now()
	x := r.runner.Begin(turn.Message{Key: key, Token: r.field.read(), Text: text, ReceivedAt: start})
	a := x.Wait(ctx)
	got := response{at: time.Since(start), texts: a.Texts, gone: a.Gone}
	x.Written(written && !a.Gone)
	return got
}

// settled waits until nothing is in flight and returns the contact's newest turn with the rows of
// its outbox.
func (r *rig) settled() (conversation.Turn, []outbox.Row) {
	r.t.Helper()
	<-r.runner.Idle()
	turns, err := r.db.RecentTurns(context.Background(), key.TenantID, key.SubscriberID, 1)
	if err != nil || len(turns) != 1 {
		r.t.Fatalf("recent turns: %d, %v", len(turns), err)
	}
	rows, err := r.db.ListOutbox(context.Background(), store.OutboxFilter{})
	if err != nil {
		r.t.Fatal(err)
	}
	var own []outbox.Row
	for _, row := range rows {
		if row.TurnID == turns[0].ID && row.Kind == outbox.Reply {
			own = append(own, row)
		}
	}
	return turns[0].Turn, own
}

// row reads one row of the outbox.
func (r *rig) row(id string) outbox.Row {
	r.t.Helper()
	row, err := r.db.OutboxRow(context.Background(), id)
	if err != nil {
		r.t.Fatal(err)
	}
	return row
}

// logged waits until nothing is in flight and returns its log.
func (r *rig) logged() string {
	r.t.Helper()
	<-r.runner.Idle()
	r.logs.mu.Lock()
	defer r.logs.mu.Unlock()
	return strings.Join(r.logs.lines, "\n")
}

// logs keeps the messages of log lines.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (*logs) Enabled(context.Context, slog.Level) bool { return true }
func (l *logs) WithAttrs([]slog.Attr) slog.Handler     { return l }
func (l *logs) WithGroup(string) slog.Handler          { return l }
func (l *logs) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprint(r.Level, " ", r.Message))
	return nil
}
