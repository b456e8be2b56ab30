// Package follow runs the turns that follow up on contacts who went quiet. Nobody waits for one,
// it answers no message, and whoever writes meanwhile ends it (docs/spec/09-nudge.md).
package follow

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/lane"
	"github.com/manychat-agent/manychat-agent/internal/turn/limit"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
)

const (
	// readWithin bounds the reading of the contact's tags (docs/spec/09-nudge.md).
	readWithin = 10 * time.Second
	// writeWithin bounds one try of a write, and firstRetry and lastRetry are the pauses between
	// tries, each twice the one before, as of other turns.
	writeWithin = 10 * time.Second
	firstRetry  = 100 * time.Millisecond
	lastRetry   = 5 * time.Second
)

// Why a turn of a nudge ends before its model has answered.
var (
	errWrote   = errors.New("the contact wrote")
	errAborted = &agent.Error{Class: agent.Abort}
)

// Config is what a [Follower] needs; every field is required.
type Config struct {
	Store   Store
	Tags    person.Tags
	Agent   turn.Agent
	Guard   *guardrail.Guard
	Tenant  func() *tenant.Tenant // the configuration in force; a turn asks once
	Shapes  delivery.Shapes
	Owner   func() string           // this process
	Wake    func()                  // tells the outbox worker that a row was written
	Observe func(conversation.Turn) // is told of every turn that settled here
	Count   func(end string)        // is told how every due nudge ended: sent, skipped or why it was called off
	Room    time.Duration           // how long a call of the model waits for room in the budget
	Abort   time.Duration           // MODEL_ABORT_MS
	Now     func() time.Time
	Log     *slog.Logger
}

// Follower fills [nudge.Turns]. Its methods are safe for concurrent use.
type Follower struct {
	cfg   Config
	hands lane.Hands

	mu      sync.Mutex
	running map[string]context.CancelCauseFunc // by conversation
}

// New checks the config.
func New(cfg Config) (*Follower, error) {
	switch {
	case cfg.Store == nil, cfg.Tags == nil, cfg.Agent == nil, cfg.Guard == nil, cfg.Tenant == nil, cfg.Owner == nil, cfg.Wake == nil,
		cfg.Observe == nil, cfg.Count == nil, cfg.Now == nil, cfg.Log == nil:
		return nil, errors.New("follow: a collaborator is missing from the follower's config")
	case cfg.Abort <= 0, cfg.Room < 0:
		return nil, errors.New("follow: the abort must be positive")
	}
	return &Follower{cfg: cfg, running: map[string]context.CancelCauseFunc{}}, nil
}

// Holds reports whether this process works on a turn.
func (f *Follower) Holds(turnID string) bool { return f.hands.Hold(turnID) }

// Wrote aborts what is under way in a conversation whose contact wrote: the message has ended the
// turn on the database, and waits for nothing here.
func (f *Follower) Wrote(conversationID string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if abort := f.running[conversationID]; abort != nil {
		abort(errWrote)
	}
}

// begin makes a turn of a conversation abortable, before it is claimed: a message that comes
// right behind the claim finds it.
func (f *Follower) begin(ctx context.Context, conversationID string) (context.Context, func()) {
	ctx, abort := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[conversationID] = abort
	return ctx, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.running, conversationID)
		abort(nil)
	}
}

// Follow fills [nudge.Turns].
func (f *Follower) Follow(ctx context.Context, d nudge.Due) error {
	t, id := f.cfg.Tenant(), uuid.Must(uuid.NewV7()).String()
	f.hands.Take(id, 1)
	defer f.hands.Done(id)
	ctx, end := f.begin(ctx, d.ConversationID)
	defer end()
	delay, wanted := nudge.DelayOf(t.Tools, d.Delay)
	claimed, err := f.claim(ctx, Claim{
		NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: id, Owner: f.cfg.Owner(), Unwanted: !wanted,
		Unanswered: !t.Rules.Audience.Includes(d.Key.SubscriberID), Window: turn.WindowOf(t, f.cfg.Now()),
	})
	switch {
	case errors.Is(err, nudge.ErrGone), errors.Is(err, turn.ErrNotOwner):
		return nil // somebody else's, or nobody's any more
	case err != nil:
		return err
	case !claimed.Runs:
		f.cfg.Count(cmp.Or(string(claimed.CalledOff), "skipped"))
		f.cfg.Log.Info("nudge called off", "nudge", d.ID, "conversation", d.ConversationID, "delay", delay.ID, "reason", string(claimed.CalledOff))
		return nil
	}
	run := &run{f: f, tenant: t, facts: claimed.Facts, rec: claimed.Recorded, began: f.cfg.Now()}
	run.settle(ctx, run.decide(ctx))
	return nil
}

// claim takes the nudge. It is not cut short by a message: then the claim says so itself.
func (f *Follower) claim(ctx context.Context, c Claim) (Claimed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeWithin)
	defer cancel()
	return f.cfg.Store.ClaimNudge(ctx, c)
}

// capped reports whether the contact's cap, or the limit of their messages, is used up: their
// next message would go to a person.
func capped(t *tenant.Tenant, rec turn.Recorded) bool {
	_, over := limit.Over(t.Rules, rec.Turn, rec.Recent, rec.Conversation.AnsweredAt)
	return over
}
