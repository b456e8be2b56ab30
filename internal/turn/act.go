package turn

import (
	"context"
	"runtime/debug"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/turn/aside"
	"github.com/manychat-agent/manychat-agent/internal/turn/race"
)

// actWithin bounds the actions behind a response (docs/spec/03-turn.md, "Steps").
const actWithin = 10 * time.Second

// actLatest is how long behind its response an action may still begin.
const actLatest = time.Minute

// opened is the desk that takes the calls of a turn's model. Where the request does not prove who
// its contact is, nothing is offered: whoever holds the secret alone neither reads a contact nor
// writes to them.
func (x *Exchange) opened(rec Recorded) *tool.Desk {
	t := tool.Turn{Earlier: x.flows.Record()}
	if rec.Turn.Bound {
		t.Tools, t.Flows, t.Contact, t.Nudges = x.tenant.Tools, x.sender(rec), &reader{x, rec}, true
		t.Sent, t.Sale, t.Fence, t.Menu = rec.Sent, rec.Sale, prompt.Fence, &x.r.menu
	}
	x.desk = tool.NewDesk(t)
	return x.desk
}

// acted is what a turn does besides replying, by how it ends. One that no model saw goes on with
// what an earlier try of it sent.
func (x *Exchange) acted(rec Recorded, outcome conversation.Outcome) tool.Result {
	if x.desk == nil && len(x.flows.Record()) == 0 {
		return tool.Result{}
	}
	if x.desk == nil {
		x.opened(rec)
	}
	acts := x.flows.Closed(x.desk.Close())
	acts.Calls = x.asked.Trace(acts.Calls, x.desk.Tools())
	return aside.Settled(acts, outcome, x.tenant.Tools)
}

// act performs what follows a response that was written. The turn is not over before.
func (r *Runner) act(x *Exchange, rec Recorded, pending []action.Pending) {
	done := r.perform(x, rec, pending)
	r.persist("what became of actions not written", rec.Turn.ID, func(ctx context.Context) error {
		return r.cfg.Acts.Acted(ctx, rec.Turn.ID, done)
	})
	r.cfg.Wake()
}

// perform makes the requests, unless the response left so long ago that the conversation has
// moved on: the database may have been away. A defect behind them costs the turn its
// actions and no other turn anything.
func (r *Runner) perform(x *Exchange, rec Recorded, pending []action.Pending) (done []action.Ended) {
	failed := func(why string) {
		done = done[:0]
		for _, p := range pending {
			done = append(done, action.Ended{Place: p.Place, Status: action.Failed, Error: why})
		}
	}
	if r.cfg.Now().Sub(x.WrittenAt()) > actLatest || !r.cfg.Alive() {
		failed(action.NotStarted)
		return done
	}
	defer func() {
		if p := recover(); p != nil {
			r.cfg.Log.Error("actions panicked", "turn", rec.Turn.ID, "panic", redact.Panic(p), "stack", string(debug.Stack()))
			failed(action.OutcomeUnknown)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), actWithin)
	defer cancel()
	return r.cfg.Account.Perform(ctx, delivery.Batch{
		Who: rec.Turn.Key, Tools: x.tenant.Tools, Actions: pending,
		Claim: x.claims(rec),
		Held: func(ctx context.Context) (bool, error) {
			return r.people.Has(ctx, x.tenant, rec.Turn.ConversationID, rec.Turn.Seq)
		},
	})
}

// notify adds to a settlement what tells the business of a handoff; quiet says that the
// contact is not told of it again.
func (r *Runner) notify(x *Exchange, s *Settlement, quiet bool) {
	pending, due := s.Pending, r.cfg.Now() // behind the reply, which tells the contact first
	if s.Row != nil {
		pending, due = slices.Concat(pending, s.Row.Payload.Actions), race.Later(due, s.Row.NextAttemptAt)
	}
	s.Notices = aside.Notices(&s.Turn, aside.Handoff{
		Rules: x.tenant.Rules.Handoff, Quiet: quiet, NotifiedAt: x.recorded().Conversation.NotifiedAt,
		Notes: pending, Now: r.cfg.Now(), Due: due.Add(r.cfg.Gap),
	})
}
