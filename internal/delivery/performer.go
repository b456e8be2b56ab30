package delivery

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Account is the part of the ManyChat client that performing an action uses, one contact
// a call. Its errors are [manychat.Error]; it never retries.
type Account interface {
	SetCustomFieldByName(ctx context.Context, subscriberID, field string, value any) error
	SendFlow(ctx context.Context, subscriberID, flowNS string) error
	AddTagByName(ctx context.Context, subscriberID, tag string) error
	RemoveTagByName(ctx context.Context, subscriberID, tag string) error
}

// Profiles reads contacts at ManyChat.
type Profiles interface {
	GetInfo(ctx context.Context, subscriberID string) (manychat.Subscriber, error)
}

// Claims are the rights to send flows, kept by the database.
type Claims interface {
	// ClaimFlow gives the right to send a flow to a contact, or [action.ErrSent], or
	// [action.ErrFlowLimit].
	ClaimFlow(ctx context.Context, c action.Claim) error
	// ReleaseFlow takes a right back whose flow certainly was not sent.
	ReleaseFlow(ctx context.Context, c action.Claim) error
}

// Nudges plan follow-ups, in the database.
type Nudges interface {
	// Schedule plans the one nudge of a conversation, or fails with [nudge.ErrOver] or
	// [nudge.ErrLate].
	Schedule(ctx context.Context, p nudge.Plan) error
}

// Batch is the staged actions of one turn.
type Batch struct {
	Who     contact.Key
	Tools   *tenant.Tools // the configuration that names what the ids stand for
	Actions []action.Pending
	Claim   action.Claim // of the flows and events among them: conversation, turn, and since when a flow's send counts
	// Held is asked before each action whether a person has the conversation by now: that one
	// and the rest are discarded. One that cannot be asked holds nothing up. nil: nobody has.
	Held func(ctx context.Context) (bool, error)
}

// Config is what a [Performer] needs; every field is required.
type Config struct {
	Account  Account // of what a turn waits for
	Behind   Account // of what is performed behind a reply: it holds up no call of Account
	Profiles Profiles
	Claims   Claims
	Nudges   Nudges
	Now      func() time.Time
	Log      *slog.Logger
}

// The longest that one call waits for ManyChat (docs/spec/05-delivery.md, "ManyChat client").
const (
	inTurn = 10 * time.Second // the reply waits for it
	behind = 30 * time.Second // nobody waits, and a slow success is common
	// giveBack bounds taking back the right to a flow that was not sent, which is done even
	// when the time for the actions is over. It is as long as the outbox tries one write.
	giveBack = 10 * time.Second
)

// What is said of an action that failed and that ManyChat did not answer, beside
// [action.OutcomeUnknown], [action.NotStarted] and [action.FlowLimit]. With [manychat.Error.Brief] these are all the errors of an
// [action.Ended].
const (
	AlreadySent  = "already sent"         // the contact has the flow, or may have it
	NotRecorded  = "not recorded"         // the database did not give the right to the flow
	Unconfigured = "no longer configured" // the tenant's files changed since it was staged
	Unavailable  = "not available"        // this version cannot perform it
	TooLate      = "too late"             // the nudge would have been due by the time its reply went out
)

// Performer makes the requests of actions at ManyChat: one each, one attempt each.
type Performer struct{ cfg Config }

// New checks the config and returns a performer.
func New(cfg Config) (*Performer, error) {
	if cfg.Account == nil || cfg.Behind == nil || cfg.Profiles == nil || cfg.Claims == nil || cfg.Nudges == nil || cfg.Now == nil || cfg.Log == nil {
		return nil, errors.New("delivery: a collaborator is missing from the performer's config")
	}
	return &Performer{cfg}, nil
}

// Perform makes the requests of a batch in its order, and says what became of every
// action; a failure holds up none but its follow-ons, which are discarded. The end of ctx cuts off: the request under way has failed
// with [action.OutcomeUnknown] if ManyChat may have it, and what had not begun with
// [action.NotStarted].
func (p *Performer) Perform(ctx context.Context, b Batch) []action.Ended {
	ended := make([]action.Ended, 0, len(b.Actions))
	held := false
	for _, a := range b.Actions {
		ready := follows(ended, a)
		if held = held || ready && p.held(ctx, b); held || !ready {
			ended = append(ended, action.Ended{Place: a.Place, Status: action.Discarded})
			continue
		}
		log := p.cfg.Log.With("tool", a.Tool, "id", a.ID, "turn", b.Claim.TurnID)
		e := p.one(ctx, log, b, a)
		e.Place = a.Place
		ended = append(ended, e)
	}
	return ended
}

// follows reports whether what an action follows on was performed, if it follows on anything. What
// is not in its batch had been performed before.
func follows(ended []action.Ended, a action.Pending) bool {
	return !a.FollowOn || !slices.ContainsFunc(ended, func(e action.Ended) bool {
		return e.Place == a.Place-1 && e.Status != action.Performed
	})
}

// held reports whether a person has the conversation of a batch.
func (p *Performer) held(ctx context.Context, b Batch) bool {
	if b.Held == nil || ctx.Err() != nil {
		return false
	}
	held, err := b.Held(ctx)
	if err != nil {
		p.cfg.Log.Warn("whether a person has the conversation was not read; its actions go on", "turn", b.Claim.TurnID, "error", err)
	}
	return held
}

// SendFlow sends the flow of b.Claim inside a turn: the caller claimed the contact's right to
// it. Actions are passed over.
func (p *Performer) SendFlow(ctx context.Context, b Batch) action.Ended {
	log := p.cfg.Log.With("tool", action.SendFlow, "id", b.Claim.Flow, "turn", b.Claim.TurnID)
	flow, ok := b.Tools.Flow(b.Claim.Flow)
	if !ok {
		return failed(log, Unconfigured)
	}
	ended, _ := p.request(ctx, log, inTurn, func(ctx context.Context) error {
		return p.cfg.Account.SendFlow(ctx, string(b.Who.SubscriberID), flow.FlowNs)
	})
	return ended
}

// one performs one action of a batch.
func (p *Performer) one(ctx context.Context, log *slog.Logger, b Batch, a action.Pending) action.Ended {
	if ctx.Err() != nil {
		return failed(log, action.NotStarted)
	}
	switch a.Tool {
	case action.SendFlow:
		return p.flow(ctx, log, b, a)
	case action.ScheduleNudge:
		return p.nudge(ctx, log, b, a)
	case action.SendEvent:
		return p.event(ctx, log, b, a)
	}
	call, why := p.call(string(b.Who.SubscriberID), b.Tools, a)
	if call == nil {
		return failed(log, why)
	}
	ended, _ := p.request(ctx, log, behind, call)
	return ended
}

// flow sends a flow that the contact does not have yet.
func (p *Performer) flow(ctx context.Context, log *slog.Logger, b Batch, a action.Pending) action.Ended {
	flow, ok := b.Tools.Flow(a.ID)
	if !ok {
		return failed(log, Unconfigured)
	}
	b.Claim = Sent{flow, a.Origin, a.ContactAsked}.Right(b.Claim)
	return p.claimed(ctx, log, b, flow.FlowNs)
}

// event fires an event for a contact, once.
func (p *Performer) event(ctx context.Context, log *slog.Logger, b Batch, a action.Pending) action.Ended {
	e, ok := event(b.Tools, a.ID)
	if !ok {
		return failed(log, Unconfigured)
	}
	b.Claim.Flow, b.Claim.Since = action.EventClaim(e.ID), time.Time{}
	return p.claimed(ctx, log, b, e.FlowNs)
}

// claimed sends a flow by its namespace under the claim of b, which it gives back when the flow was
// not sent.
func (p *Performer) claimed(ctx context.Context, log *slog.Logger, b Batch, ns string) action.Ended {
	b.Claim.At = p.cfg.Now()
	switch err := p.cfg.Claims.ClaimFlow(ctx, b.Claim); {
	case errors.Is(err, action.ErrSent):
		return failed(log, AlreadySent)
	case errors.Is(err, action.ErrFlowLimit):
		return failed(log, action.FlowLimit)
	case err != nil:
		return failed(log.With("error", err), NotRecorded)
	}
	ended, unsent := p.request(ctx, log, behind, func(ctx context.Context) error {
		return p.cfg.Behind.SendFlow(ctx, string(b.Who.SubscriberID), ns)
	})
	if unsent {
		p.release(ctx, log, b.Claim)
	}
	return ended
}

// release takes a claim back. Should it fail, the contact does not get the flow from later
// turns either, which is better than twice.
func (p *Performer) release(ctx context.Context, log *slog.Logger, c action.Claim) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), giveBack)
	defer cancel()
	if err := p.cfg.Claims.ReleaseFlow(ctx, c); err != nil {
		log.Error("the right to a flow that was not sent is not given back", "error", err)
	}
}

// request makes one request and says what became of it; unsent means that ManyChat
// certainly did not do it.
func (p *Performer) request(ctx context.Context, log *slog.Logger, within time.Duration, call func(context.Context) error) (ended action.Ended, unsent bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := call(ctx)
	if err == nil {
		return action.Ended{Status: action.Performed, At: p.cfg.Now()}, false
	}
	why := reason(err)
	ended = failed(log.With(cause(err)), why)
	if answered(err) {
		ended.At = p.cfg.Now()
	}
	return ended, why != action.OutcomeUnknown
}

// failed notes and logs an action that failed, once, in words that are safe to keep.
func failed(log *slog.Logger, why string) action.Ended {
	log.Warn("an action failed and is not tried again", "reason", why)
	return action.Ended{Status: action.Failed, Error: why}
}

// reason is what is kept of a failed call: none of ManyChat's words, which may quote the
// account or the contact.
func reason(err error) string {
	call, ok := errors.AsType[*manychat.Error](err)
	switch {
	case !ok || call.OutcomeUnknown():
		return action.OutcomeUnknown
	case call.Kind == manychat.KindTimeout:
		return action.NotStarted
	}
	return call.Brief()
}

// brief is what is said of a failed call where its outcome is of no matter.
func brief(err error) string {
	if call, ok := errors.AsType[*manychat.Error](err); ok {
		return call.Brief()
	}
	return "not one of ManyChat's errors"
}

// answered reports whether ManyChat answered a failed call, in words of its own.
func answered(err error) bool {
	call, ok := errors.AsType[*manychat.Error](err)
	return ok && call.Status != 0 && !call.OutcomeUnknown()
}

// cause is what a log says of a failed call: ManyChat's message and the names of the
// account's objects are left out.
func cause(err error) slog.Attr {
	call, ok := errors.AsType[*manychat.Error](err)
	if !ok {
		return slog.String("error", brief(err))
	}
	return slog.Group("manychat", "endpoint", call.Endpoint, "kind", call.Kind, "status", call.Status, "code", call.Code)
}
