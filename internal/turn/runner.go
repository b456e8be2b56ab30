package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn/lane"
	"github.com/manychat-agent/manychat-agent/internal/turn/limit"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/turn/race"
)

// The bounds of docs/deadlines.md that no variable sets.
const (
	// responseSlack is how long after the race deadline a response leaves at the latest.
	responseSlack = 500 * time.Millisecond
	// recordWithin is how long a message may take to be recorded before it is handed off.
	recordWithin = 3 * time.Second
	// writeWithin bounds one try of a write behind the recorded message.
	writeWithin = 10 * time.Second
	// firstRetry and lastRetry are the pauses between such tries, each twice the one before.
	firstRetry = 100 * time.Millisecond
	lastRetry  = 5 * time.Second
	// rerunsAtOnce bounds the turns of an earlier process that run at the same time, so
	// that a start behind a crash does not compete with the messages that arrive.
	rerunsAtOnce = 32
)

// HistoryEntries is how many entries of history the model reads
// (docs/spec/06-contact.md, "History").
const HistoryEntries = 10

// HistorySince is how far back the model reads a tenant's conversations.
func HistorySince(t *tenant.Tenant, now time.Time) time.Time {
	return now.Add(-time.Duration(t.Rules.HistoryDays * float64(24*time.Hour)))
}

// WindowOf is how much of a contact's past a turn of a tenant reads.
func WindowOf(t *tenant.Tenant, now time.Time) Window {
	return Window{HistorySince: HistorySince(t, now), HistoryLimit: HistoryEntries, RecentLimit: limit.Recent(t), Once: delivery.Once(t.Tools)}
}

// Agent writes the reply. Run returns when ctx ends; a Runner survives one that
// does not, and one that panics.
type Agent interface {
	Run(ctx context.Context, in agent.Input) (agent.Result, error)
}

// Config is what a [Runner] needs; every field is required.
type Config struct {
	Store       Store
	Lane        Lane
	Acts        Acts
	Account     Account
	People      person.Store
	Agent       Agent
	Guard       *guardrail.Guard
	Tenant      func() *tenant.Tenant       // the configuration in force; a turn asks once
	Wake        func()                      // tells the outbox worker that a row was written
	Freed       func(conversationID string) // tells other processes that the contact's next turn may start
	Tokens      *token.Keeper
	Enforced    bool                    // CONTACT_TOKENS_ENFORCED
	Observe     func(conversation.Turn) // is told of every settled turn
	Shapes      delivery.Shapes
	Owner       func() string // this process; it changes when others thought that it had died
	Alive       func() bool   // whether this process may still be taken for alive; false: it starts nothing at ManyChat
	Merge       bool          // MERGE_WAITING
	MaxAge      time.Duration // OUTBOX_MAX_AGE_MIN
	Deadline    time.Duration // RACE_DEADLINE_MS
	Abort       time.Duration // MODEL_ABORT_MS
	Gap         time.Duration // MANYCHAT_REPLY_GAP_MS; zero is allowed
	MaxAttempts int           // TURN_MAX_ATTEMPTS
	MaxInflight int           // MAX_INFLIGHT_TURNS
	Now         func() time.Time
	Log         *slog.Logger
}

// Runner runs turns.
type Runner struct {
	cfg      Config
	reruns   chan struct{} // a slot for each turn that runs again
	draining chan struct{} // closed when no turn starts any more
	givenUp  chan struct{} // closed when the process no longer waits for its turns
	stop     func()        // closes draining, once
	giveUp   func()        // closes givenUp, once
	flight   lane.Flight
	hands    lane.Hands
	waiters  lane.Waiters
	strays   lane.Strays
	inflight atomic.Int64
	menu     tool.Menu
	people   person.Watch
}

// New checks the config.
func New(cfg Config) (*Runner, error) {
	switch {
	case cfg.Store == nil, cfg.Lane == nil, cfg.Acts == nil, cfg.Account == nil, cfg.People == nil, cfg.Agent == nil, cfg.Guard == nil, cfg.Tenant == nil, cfg.Wake == nil,
		cfg.Tokens == nil, cfg.Observe == nil, cfg.Owner == nil, cfg.Alive == nil, cfg.Freed == nil, cfg.Now == nil, cfg.Log == nil:
		return nil, errors.New("turn: a collaborator is missing from the runner's config")
	case cfg.Deadline <= 0, cfg.Abort <= cfg.Deadline, cfg.Gap < 0, cfg.MaxAge <= 0:
		return nil, errors.New("turn: deadline and age must be positive and the abort later than the deadline")
	case cfg.MaxAttempts < 1, cfg.MaxInflight < 1:
		return nil, errors.New("turn: attempts and turns in flight must be at least 1")
	}
	r := &Runner{
		cfg: cfg, reruns: make(chan struct{}, rerunsAtOnce), draining: make(chan struct{}), givenUp: make(chan struct{}),
		people: person.Watch{Store: cfg.People, Tags: cfg.Account, Now: cfg.Now, Log: cfg.Log},
	}
	r.stop, r.giveUp = sync.OnceFunc(func() { close(r.draining) }), sync.OnceFunc(func() { close(r.givenUp) })
	return r, nil
}

// Message is what a contact wrote, as the endpoint decoded it.
type Message struct {
	Key        contact.Key
	Token      string // the contact's, as the request held it; empty: none
	FirstName  string // used only where the tenant's rules say so
	Text       string
	Offering   string    // what the request named; empty: nothing
	ReceivedAt time.Time // the handler's start, from which the deadline counts
	// Interventions name what decoding had to do to the message.
	Interventions []string
}

// Begin starts the turn that answers a message. The caller must call
// [Exchange.Wait] and [Exchange.Written].
func (r *Runner) Begin(m Message) *Exchange {
	x := r.exchange(uuid.Must(uuid.NewV7()).String(), m.Key.Channel, race.Begin[Reply](r.terms(m.ReceivedAt)))
	x.token = m.Token
	r.hands.Take(x.id, 2) // until it has run, and until what follows its response is done
	if r.inflight.Add(1) > int64(r.cfg.MaxInflight) {
		r.inflight.Add(-1)
		r.hands.Done(x.id)
		r.shed(x, errors.New("too many turns in flight"))
		return x
	}
	r.flight.Go(func() {
		defer r.inflight.Add(-1)
		defer r.hands.Done(x.id)
		defer r.survive(x)
		r.run(x, m)
	})
	return x
}

// Resume takes up a turn that was left unfinished. Nobody waits for it: its reply goes
// through the outbox.
func (r *Runner) Resume(rec Recorded) {
	x := r.exchange(rec.Turn.ID, rec.Turn.Key.Channel, race.Over[Reply](r.terms(r.cfg.Now())))
	x.rec.Store(&rec)
	x.flows.Resume(rec.Turn.Actions)
	r.hands.Take(x.id, 1)
	r.flight.Go(func() {
		defer r.hands.Done(x.id)
		defer r.survive(x)
		if rec.Turn.State == conversation.Waiting && !r.wait(x) {
			return
		}
		select {
		case r.reruns <- struct{}{}:
		case <-r.givenUp:
			return
		}
		defer func() { <-r.reruns }()
		rec := *x.recorded()
		if r.strays.Hold(x.id) {
			r.settle(x, rec, r.handedOff(x, rec))
			return
		}
		r.settle(x, rec, r.decide(x, rec))
	})
}

// Holds reports whether this process works on a turn.
func (r *Runner) Holds(turnID string) bool { return r.hands.Hold(turnID) }

// Wake makes turns look again whether they may start: those of a conversation, or all when
// it is empty.
func (r *Runner) Wake(conversationID string) { r.waiters.Wake(conversationID) }

// Drain lets no further turn start, and waits until none is in flight. When ctx ends first it
// gives the rest up: they stay as they are on the database, for another process. Messages
// that arrive from now on are recorded and left to that one too.
func (r *Runner) Drain(ctx context.Context) error {
	r.stop()
	select {
	case <-r.Idle():
		return nil
	case <-ctx.Done():
		r.giveUp()
		return fmt.Errorf("turns, or what follows their responses, are unfinished: %w", ctx.Err())
	}
}

// Idle is closed as soon as no turn is in flight, nor anything behind a response.
func (r *Runner) Idle() <-chan struct{} { return r.flight.Idle() }

// stops reports whether no further turn starts.
func (r *Runner) stops() bool {
	select {
	case <-r.draining:
		return true
	default:
		return false
	}
}

// run records the message and takes it to its end.
func (r *Runner) run(x *Exchange, m Message) {
	rec, ok := r.record(x, m)
	if !ok || rec.Turn.State == conversation.Waiting && !r.wait(x) {
		return
	}
	rec = *x.recorded()
	r.settle(x, rec, r.decide(x, rec))
}

// record writes the message down before anything waits. A message that cannot be
// recorded in time is handed off without the model; when its row turns up after
// that, it is settled with nothing to send.
func (r *Runner) record(x *Exchange, m Message) (Recorded, bool) {
	late := time.AfterFunc(recordWithin-r.cfg.Now().Sub(m.ReceivedAt), func() {
		r.shed(x, fmt.Errorf("the message was not recorded within %s", recordWithin))
	})
	defer late.Stop()
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	candidate := r.cfg.Tokens.Candidate()
	rec, err := r.cfg.Store.Record(ctx, r.arrival(x, m, candidate.Hash))
	if err != nil {
		r.shed(x, fmt.Errorf("record the message: %w", err))
		r.strays.Add(x.id, r.cfg.Now()) // it may have been recorded all the same
		return Recorded{}, false
	}
	if row := rec.TokenRow; row != "" {
		r.flight.Go(func() {
			r.cfg.Tokens.Write(context.Background(), token.Issue{Who: m.Key, RowID: row, Candidate: candidate})
		})
	}
	rec.Turn.Interventions = m.Interventions
	if rec.Binding == token.Unproven {
		rec.Turn.Interventions = append(rec.Turn.Interventions, "token_missing")
	}
	rec.Turn.Timings.Record = conversation.Since(m.ReceivedAt, r.cfg.Now())
	for _, merged := range rec.Merged {
		r.waiters.WakeTurn(merged)
	}
	if len(rec.Merged) > 0 {
		r.cfg.Freed(rec.Turn.ConversationID)
	}
	handedOff := !x.record(&rec)
	switch {
	case rec.Turn.State == conversation.Settled: // the same message twice
		x.Finish(Answer{})
		r.cfg.Log.Info("turn", "turn", rec.Turn.ID, "conversation", rec.Turn.ConversationID, "outcome", rec.Turn.Outcome, "path", rec.Turn.Path)
		r.cfg.Observe(rec.Turn)
		return rec, false
	case rec.Turn.State == conversation.Waiting && r.stops():
		x.Finish(x.lostAnswer())
		return rec, false
	case handedOff:
		if rec.Turn.State == conversation.Running || r.wait(x) {
			begun := *x.recorded()
			r.settle(x, begun, r.handedOff(x, begun))
		}
		return rec, false
	}
	return rec, true
}

// handedOff is what becomes of a message whose request was answered with the escalation copy
// before it was recorded: nothing more is said. When it has taken in others that were not,
// they are answered all the same, but not by that copy once more, unless nobody was there to read
// it.
func (r *Runner) handedOff(x *Exchange, rec Recorded) verdict {
	if len(rec.Earlier) == 0 {
		return verdict{outcome: conversation.EscalatedPrecheck, reason: conversation.ByOverload}
	}
	v := r.decide(x, rec)
	if v.reason != "" && !x.Unwritten() {
		v.messages = nil
	}
	return v
}

// arrival is a message as it is recorded.
func (r *Runner) arrival(x *Exchange, m Message, candidate token.Hash) Arrival {
	a := Arrival{
		TurnID:     x.id,
		Key:        m.Key,
		Owner:      r.cfg.Owner(),
		Text:       m.Text,
		Token:      token.Request{Token: m.Token, Enforced: r.cfg.Enforced, Candidate: candidate},
		ReceivedAt: m.ReceivedAt,
		Merge:      r.cfg.Merge,
		Window:     WindowOf(x.tenant, m.ReceivedAt),
	}
	if r.stops() {
		a.Owner = ""
	}
	if _, found := x.tenant.Catalog.Offering(m.Offering); found {
		a.Offering = m.Offering
	}
	if x.tenant.Rules.UseFirstName {
		a.FirstName = m.FirstName
	}
	return a
}

// shed answers with the escalation copy instead of a turn, unless the message has
// been recorded meanwhile.
func (r *Runner) shed(x *Exchange, why error) {
	if x.Shed(Answer{Texts: x.shape.Copy(x.handover()), Shed: true}) {
		r.cfg.Log.Error("load shed", "error", why)
	}
}

// survive keeps a panic in one turn from ending the process: the turn is handed off.
func (r *Runner) survive(x *Exchange) {
	p := recover()
	if p == nil {
		return
	}
	r.cfg.Log.Error("turn panicked, handing off", "panic", redact.Panic(p), "stack", string(debug.Stack()))
	rec := x.recorded()
	if rec == nil {
		r.shed(x, errors.New("the turn panicked before the message was recorded"))
		return
	}
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("handoff panicked; a sweep takes the turn over", "turn", rec.Turn.ID, "panic", redact.Panic(p))
			x.Finish(Answer{Texts: x.shape.Copy(x.handover())})
		}
	}()
	x.Unclaim()
	r.settle(x, *rec, x.handoff(conversation.EscalatedError, conversation.ByError))
}
