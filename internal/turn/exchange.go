package turn

import (
	"context"
	"errors"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/flown"
	"github.com/manychat-agent/manychat-agent/internal/turn/guard"
	"github.com/manychat-agent/manychat-agent/internal/turn/race"
)

// Answer is what the response of a message carries.
type Answer = race.Answer[Reply]

// Reply is a turn's own reply in its response, settled on the inline path.
type Reply struct {
	texts   []string         // its own, without those of rows that the response carries
	acts    []action.Pending // what follows it
	carried []Carried
}

// Exchange is one message that waits for its response. The handler that began it
// calls [Exchange.Wait] once and then [Exchange.Written] once; the turn itself goes
// on whatever the handler does.
type Exchange struct {
	*race.Race[Reply]
	r      *Runner
	id     string                   // of the turn
	shape  delivery.Shape           // of the contact's channel
	tenant *tenant.Tenant           // what the turn started with, whatever is reloaded meanwhile
	token  string                   // the contact's, as the request held it; empty: none, or a turn that runs again
	flows  *flown.Flows             // that the turn sent
	rec    atomic.Pointer[Recorded] // nil until the message is recorded
	desk   *tool.Desk               // takes the calls of the turn's model; nil: none was asked
	asked  agent.Result             // what that came to
	over   bool                     // the turn, which goes to a person, used up the opening
}

func (r *Runner) exchange(id string, channel contact.Channel, race *race.Race[Reply]) *Exchange {
	t := r.cfg.Tenant()
	return &Exchange{
		Race: race,
		r:    r, id: id, shape: r.cfg.Shapes.For(channel), tenant: t, flows: flown.Of(t.Tools),
	}
}

// Wait returns what the response carries: the reply when it settles before the race
// deadline, else the acknowledgement, or nothing where docs/spec/03-turn.md asks for
// silence. It returns at the deadline plus 500 ms at the latest, and at once with
// Gone set when ctx, the request's, ends first.
func (x *Exchange) Wait(ctx context.Context) Answer {
	a := x.await(ctx)
	if x.recorded() != nil && !x.r.cfg.Alive() {
		// Others may have taken the turn over, and answer it.
		x.r.cfg.Log.Warn("answering silently: this process could not say in time that it is alive", "turn", x.id)
		return x.Forfeit()
	}
	return a
}

func (x *Exchange) await(ctx context.Context) Answer {
	lost := time.NewTimer(x.End().Sub(x.r.cfg.Now()))
	defer lost.Stop()
	select {
	case <-x.Ready():
		return x.Answer()
	case <-ctx.Done():
		return x.Leave(Answer{Gone: true})
	case <-lost.C:
	}
	if x.recorded() == nil {
		// An acknowledgement promises an answer, which only a recorded message gets.
		x.r.shed(x, errors.New("the message was not recorded before the deadline"))
	}
	a := x.lostAnswer()
	if rec := x.recorded(); rec != nil && len(a.Texts) > 0 && x.r.people.HasByNow(x.tenant, rec.Turn, x.wish()) {
		a = Answer{}
	}
	if x.Lose(a) {
		return a
	}
	bound := time.NewTimer(x.Bound().Sub(x.r.cfg.Now()))
	defer bound.Stop()
	select {
	case <-x.Ready():
		return x.Answer()
	case <-ctx.Done():
		return x.Leave(Answer{Gone: true})
	case <-bound.C:
		return x.Leave(x.lostAnswer())
	}
}

// Written tells the turn what became of the response: written and flushed, or not.
// It returns at once; what follows is done behind the response.
func (x *Exchange) Written(ok bool) {
	x.Race.Written(ok)
	x.r.flight.Go(func() {
		defer x.r.hands.Done(x.id)
		defer func() {
			if p := recover(); p != nil {
				x.r.cfg.Log.Error("what follows a response panicked; a sweep takes the turn over", "turn", x.id, "panic", redact.Panic(p), "stack", string(debug.Stack()))
			}
		}()
		x.r.after(x, ok)
	})
}

// terms are the limits of a race that starts with a handler.
func (r *Runner) terms(started time.Time) race.Terms {
	return race.Terms{Started: started, Deadline: r.cfg.Deadline, Slack: responseSlack, Gap: r.cfg.Gap, Now: r.cfg.Now}
}

// lostAnswer is the response of a lost race: the acknowledgement, or silence while an
// earlier turn of the contact is not settled, a flow of this one plays, an earlier reply is
// queued, or one went out less than a gap ago, which a flow may be about to show.
func (x *Exchange) lostAnswer() Answer {
	if x.flows.Until().After(x.r.cfg.Now()) {
		return Answer{}
	}
	rec := x.recorded()
	if rec != nil && (rec.Conversation.Holds(rec.Turn.Seq, x.r.cfg.Now()) || rec.Conversation.Mute(x.wish())) {
		return Answer{} // a person has the conversation, or the contact opted out
	}
	if rec != nil && rec.Turn.Bound && (rec.QueuedAhead || x.justSent(rec.Conversation) || rec.Behind && rec.Turn.State == conversation.Waiting) {
		return Answer{}
	}
	return Answer{Texts: x.shape.Copy(x.tenant.Rules.Messages.Acknowledgement)}
}

// justSent reports whether a text went out to the contact less than a gap ago.
func (x *Exchange) justSent(c conversation.Conversation) bool {
	since := x.r.cfg.Now().Sub(c.LastSentAt)
	return since >= 0 && since < x.r.cfg.Gap
}

// record keeps what the database knows of the message. It reports false when the
// message was handed off before that.
func (x *Exchange) record(rec *Recorded) bool {
	x.rec.Store(rec)
	return x.Record()
}

func (x *Exchange) recorded() *Recorded { return x.rec.Load() }

// wish is what the recorded messages say about writing to the contact.
func (x *Exchange) wish() conversation.Wish {
	rec := x.recorded()
	return guard.WishOf(x.tenant, rec.Turn, rec.Conversation, rec.Texts())
}

// due is when a reply that goes to the outbox may leave at the earliest: a gap behind
// the acknowledgement and never before it, and not while a flow of the turn plays. silent
// says that the response carries nothing, so that there is nothing to wait for.
func (x *Exchange) due(silent bool) time.Time { return x.Due(silent, x.flows.Until()) }
