package turn

import (
	"context"
	"errors"
	"runtime/debug"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/flown"
)

// Answer is what the response of a message carries.
type Answer struct {
	Texts []string // none: a silent response
	// Gone says that the caller closed the connection: there is nobody to answer.
	Gone bool
	// Shed says that no turn answers the message: it was handed off unrecorded.
	Shed bool

	inline bool             // it is the turn's reply, settled on the inline path
	acts   []action.Pending // what follows it
}

// Exchange is one message that waits for its response. The handler that began it
// calls [Exchange.Wait] once and then [Exchange.Written] once; the turn itself goes
// on whatever the handler does.
type Exchange struct {
	r       *Runner
	shape   delivery.Shape // of the contact's channel
	tenant  *tenant.Tenant // what the turn started with, whatever is reloaded meanwhile
	token   string         // the contact's, as the request held it; empty: none, or a turn that runs again
	started time.Time      // the handler's start
	ready   chan struct{}  // closed when an answer is fixed
	flows   *flown.Flows   // that the turn sent

	mu        sync.Mutex
	phase     phase
	answer    Answer
	rec       *Recorded   // nil until the message is recorded
	writtenAt time.Time   // when the response was written; zero: not known to be
	unwritten bool        // the response will never be written
	acts      tool.Result // what the calls of the turn's model came to
}

// phase is where the one route of a reply is decided. It only moves forward, except
// from claimed back to open when a settling transaction failed.
type phase int

const (
	open     phase = iota // the response can still carry the reply
	claimed               // the turn is settling inline
	answered              // the answer is fixed: the response carries it
	closed                // the handler left: the reply goes to the outbox
)

func newExchange(r *Runner, channel contact.Channel, started time.Time) *Exchange {
	t := r.cfg.Tenant()
	return &Exchange{r: r, shape: r.cfg.Shapes.For(channel), tenant: t, started: started, ready: make(chan struct{}), flows: flown.Of(t.Tools)}
}

// deadline is the latest instant at which a reply may still be settled inline, and
// bound the latest at which the response may leave.
func (x *Exchange) deadline() time.Time { return x.started.Add(x.r.cfg.Deadline) }
func (x *Exchange) bound() time.Time    { return x.deadline().Add(responseSlack) }

// Wait returns what the response carries: the reply when it settles before the race
// deadline, else the acknowledgement, or nothing where docs/spec/03-turn.md asks for
// silence. It returns at the deadline plus 500 ms at the latest, and at once with
// Gone set when ctx, the request's, ends first.
func (x *Exchange) Wait(ctx context.Context) Answer {
	lost := time.NewTimer(x.deadline().Sub(x.r.cfg.Now()))
	defer lost.Stop()
	select {
	case <-x.ready:
		return x.answer
	case <-ctx.Done():
		return x.leave(Answer{Gone: true})
	case <-lost.C:
	}
	if x.recorded() == nil {
		// An acknowledgement promises an answer, which only a recorded message gets.
		x.r.shed(x, errors.New("the message was not recorded before the deadline"))
	}
	if a := x.lostAnswer(); x.lose(a) {
		return a
	}
	bound := time.NewTimer(x.bound().Sub(x.r.cfg.Now()))
	defer bound.Stop()
	select {
	case <-x.ready:
		return x.answer
	case <-ctx.Done():
		return x.leave(Answer{Gone: true})
	case <-bound.C:
		return x.leave(x.lostAnswer())
	}
}

// Written tells the turn what became of the response: written and flushed, or not.
// It returns at once; what follows is done behind the response.
func (x *Exchange) Written(ok bool) {
	x.mu.Lock()
	if ok {
		x.writtenAt = x.r.cfg.Now()
	} else {
		x.unwritten = true
	}
	x.mu.Unlock()
	x.r.flight.Go(func() {
		defer func() {
			if p := recover(); p != nil {
				x.r.cfg.Log.Error("what follows a response panicked; the next start takes the turn over", "panic", redact.Panic(p), "stack", string(debug.Stack()))
			}
		}()
		x.r.after(x, ok)
	})
}

// written is when the response was written; zero: it is not known to be.
func (x *Exchange) written() time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.writtenAt
}

// claim takes the inline route if it is still there: the deadline has not passed and
// the caller still waits.
func (x *Exchange) claim() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase != open || !x.r.cfg.Now().Before(x.deadline()) {
		return false
	}
	x.phase = claimed
	return true
}

// unclaim gives the route back after a settling transaction that certainly failed.
func (x *Exchange) unclaim() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase == claimed {
		x.phase = open
	}
}

// finish fixes the answer. It reports false when the handler has left meanwhile.
func (x *Exchange) finish(a Answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.fix(a)
}

// shed fixes the answer of a message that is not recorded, and reports whether it did.
func (x *Exchange) shed(a Answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rec == nil && x.fix(a)
}

// fix fixes the answer, once, while the handler waits. The caller holds mu.
func (x *Exchange) fix(a Answer) bool {
	if x.phase == closed || x.phase == answered {
		return false
	}
	x.phase, x.answer = answered, a
	close(x.ready)
	return true
}

// lose closes an open route at the deadline; a claimed one is left to its
// transaction until the bound, and a fixed answer stands.
func (x *Exchange) lose(a Answer) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.phase != open {
		return false
	}
	x.phase, x.answer = closed, a
	return true
}

// leave ends the wait without the turn's answer, unless that was fixed meanwhile.
func (x *Exchange) leave(a Answer) Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.unwritten = x.unwritten || a.Gone
	if x.phase == answered {
		if a.Gone {
			return a
		}
		return x.answer
	}
	x.phase, x.answer = closed, a
	return a
}

// lostAnswer is the response of a lost race: the acknowledgement, or silence while
// a flow of the turn plays or an earlier reply of the contact is queued.
func (x *Exchange) lostAnswer() Answer {
	if x.flows.Until().After(x.r.cfg.Now()) {
		return Answer{}
	}
	if rec := x.recorded(); rec != nil && rec.Turn.Bound && rec.QueuedAhead {
		return Answer{}
	}
	return Answer{Texts: x.shape.Copy(x.tenant.Rules.Messages.Acknowledgement)}
}

// isClosed reports whether the handler has left.
func (x *Exchange) isClosed() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.phase == closed
}

// response is what the response carried, or was meant to.
func (x *Exchange) response() Answer {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.answer
}

// record keeps what the database knows of the message. It reports false when the
// message was handed off before that.
func (x *Exchange) record(rec *Recorded) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.rec = rec
	return x.phase != answered
}

func (x *Exchange) recorded() *Recorded {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.rec
}

// due is when a reply that goes to the outbox may leave at the earliest: a gap behind
// the acknowledgement and never before it, and not while a flow of the turn plays. silent says that the response carries
// nothing, so that there is nothing to wait for.
func (x *Exchange) due(silent bool) time.Time {
	x.mu.Lock()
	defer x.mu.Unlock()
	silent = silent || (x.phase >= answered && len(x.answer.Texts) == 0)
	earliest := later(x.r.cfg.Now(), x.flows.Until())
	switch {
	case silent || x.unwritten:
	case !x.writtenAt.IsZero():
		earliest = later(earliest, x.writtenAt.Add(x.r.cfg.Gap))
	default:
		earliest = later(earliest, x.bound().Add(x.r.cfg.Gap))
	}
	return earliest
}

// later is the later of two instants, on the clock of the first: the clock on the wall may
// have been set between them.
func later(a, b time.Time) time.Time {
	ahead := b.Sub(a)
	switch {
	case ahead <= 0:
		return a
	case a.IsZero():
		return b
	}
	return a.Add(ahead)
}
