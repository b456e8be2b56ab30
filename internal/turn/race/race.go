// Package race decides where the reply of one message goes: into the open response, or to
// the outbox. The handler of the request waits for one answer, the turn offers it, and the
// clock may come before either.
package race

import (
	"sync"
	"time"
)

// Answer is what the response of a message carries.
type Answer[R any] struct {
	Texts []string // none: a silent response
	// Gone says that the caller closed the connection: there is nobody to answer.
	Gone bool
	// Shed says that no turn answers the message: it was handed off unrecorded.
	Shed bool
	// Reply is the turn's reply, settled on the inline path; nil: the response carries none.
	Reply *R
}

// Terms are the limits of one race.
type Terms struct {
	Started  time.Time     // the handler's start
	Deadline time.Duration // from the start; a reply that settles later is not in the response
	Slack    time.Duration // from the deadline to when the response leaves at the latest
	Gap      time.Duration // between two texts of one contact
	Now      func() time.Time
}

// Race is one message on its way to its response. It is safe for concurrent use.
type Race[R any] struct {
	Terms
	ready chan struct{} // closed when an answer is fixed

	mu        sync.Mutex
	phase     phase
	answer    Answer[R]
	recorded  bool
	writtenAt time.Time // when the response was written; zero: not known to be
	unwritten bool      // the response will never be written
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

// Begin begins a race.
func Begin[R any](t Terms) *Race[R] { return &Race[R]{Terms: t, ready: make(chan struct{})} }

// Over is a race that nobody waits for: of a turn that runs again.
func Over[R any](t Terms) *Race[R] {
	r := Begin[R](t)
	r.phase, r.unwritten, r.recorded = closed, true, true
	return r
}

// End is the latest instant at which a reply may still be settled inline, and Bound the
// latest at which the response may leave.
func (r *Race[R]) End() time.Time   { return r.Started.Add(r.Deadline) }
func (r *Race[R]) Bound() time.Time { return r.End().Add(r.Slack) }

// Ready is closed when the answer is fixed.
func (r *Race[R]) Ready() <-chan struct{} { return r.ready }

// Claim takes the inline route if it is still there: the deadline has not passed and
// the caller still waits.
func (r *Race[R]) Claim() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != open || !r.Now().Before(r.End()) {
		return false
	}
	r.phase = claimed
	return true
}

// Unclaim gives the route back after a settling transaction that certainly failed.
func (r *Race[R]) Unclaim() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase == claimed {
		r.phase = open
	}
}

// Finish fixes the answer. It reports false when the handler has left meanwhile.
func (r *Race[R]) Finish(a Answer[R]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.fix(a)
}

// Shed fixes the answer of a message that is not recorded, and reports whether it did.
func (r *Race[R]) Shed(a Answer[R]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.recorded && r.fix(a)
}

// fix fixes the answer, once, while the handler waits. The caller holds mu.
func (r *Race[R]) fix(a Answer[R]) bool {
	if r.phase == closed || r.phase == answered {
		return false
	}
	r.phase, r.answer = answered, a
	close(r.ready)
	return true
}

// Record notes that the message is safe. It reports false when the message was handed off
// before that.
func (r *Race[R]) Record() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recorded = true
	return r.phase != answered
}

// Lose closes an open route at the deadline; a claimed one is left to its
// transaction until the bound, and a fixed answer stands.
func (r *Race[R]) Lose(a Answer[R]) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.phase != open {
		return false
	}
	r.phase, r.answer = closed, a
	return true
}

// Leave ends the wait without the turn's answer, unless that was fixed meanwhile.
func (r *Race[R]) Leave(a Answer[R]) Answer[R] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.unwritten = r.unwritten || a.Gone
	if r.phase == answered {
		if a.Gone {
			return a
		}
		return r.answer
	}
	r.phase, r.answer = closed, a
	return a
}

// Forfeit makes the answer that was fixed a silent one, without the reply in it: the process
// may not be the one that answers any more.
func (r *Race[R]) Forfeit() Answer[R] {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answer = Answer[R]{Gone: r.answer.Gone}
	return r.answer
}

// Written notes what became of the response: written and flushed, or not.
func (r *Race[R]) Written(ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ok {
		r.writtenAt = r.Now()
	} else {
		r.unwritten = true
	}
}

// WrittenAt is when the response was written; zero: it is not known to be.
func (r *Race[R]) WrittenAt() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.writtenAt
}

// Unwritten reports whether the response is known not to have reached its caller.
func (r *Race[R]) Unwritten() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.unwritten
}

// Closed reports whether the handler has left.
func (r *Race[R]) Closed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.phase == closed
}

// Answer is what the response carried, or was meant to.
func (r *Race[R]) Answer() Answer[R] {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.answer
}

// Due is when a reply that goes to the outbox may leave at the earliest: a gap behind
// the acknowledgement and never before it, and not before after, until when something else
// plays. silent says that the response carries nothing, so that there is nothing to wait for.
func (r *Race[R]) Due(silent bool, after time.Time) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	silent = silent || (r.phase >= answered && len(r.answer.Texts) == 0)
	earliest := Later(r.Now(), after)
	switch {
	case silent || r.unwritten:
	case !r.writtenAt.IsZero():
		earliest = Later(earliest, r.writtenAt.Add(r.Gap))
	default:
		earliest = Later(earliest, r.Bound().Add(r.Gap))
	}
	return earliest
}

// Later is the later of two instants, on the clock of the first: the clock on the wall may
// have been set between them.
func Later(a, b time.Time) time.Time {
	ahead := b.Sub(a)
	switch {
	case ahead <= 0:
		return a
	case a.IsZero():
		return b
	}
	return a.Add(ahead)
}
