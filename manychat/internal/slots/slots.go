// Package slots gives the calls that wait for a rate limit their slots: at the limit's pace, in
// the order of their classes, and side by side with other processes that share the limit.
package slots

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Config configures a [Limiter]; every field but Lease is required.
type Config struct {
	PerSecond float64 // calls
	Classes   int     // up to 5; class 0 is the most urgent
	Now       func() time.Time
	// Lease takes a stretch of the limit for this process, by the clock of Now. Nil: the
	// limit is this process's alone.
	Lease func(ctx context.Context, length time.Duration) (from time.Time, err error)
}

// New returns a limiter. It starts nothing while no call waits.
func New(c Config) *Limiter {
	l := &Limiter{lines: newLines(c.Classes)}
	if c.Lease == nil {
		l.slots = &own{rate.NewLimiter(rate.Limit(c.PerSecond), 1)}
		return l
	}
	l.slots = &leased{lease: c.Lease, now: c.Now, every: time.Duration(math.Ceil(float64(time.Second) / c.PerSecond))}
	return l
}

// Limiter gives the slots of one rate limit to the calls that wait for them. It is safe for
// concurrent use.
type Limiter struct {
	mu    sync.Mutex
	slots slots
	lines lines
	armed bool // advance will be called
}

// slots are the instants at which a call may go out, one a slot. They are used under the
// limiter's lock.
type slots interface {
	// next is the instant of the next slot; not ok: it is not known yet, and l advances once
	// it is. It takes how many calls wait.
	next(l *Limiter, now time.Time, waiting int) (at time.Time, ok bool)
	// take uses the next slot up, whose time has come.
	take(now time.Time)
	// trouble is why no slot is known, nil when there is no trouble.
	trouble() error
}

// Wait blocks until the call has a slot. It fails at once when even the next slot would
// come after the deadline of ctx, and takes none then; the error is the context's, or what
// keeps the slots from being known.
func (l *Limiter) Wait(ctx context.Context, class int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := &waiter{class: class, granted: make(chan struct{})}
	if err := l.enter(ctx, w); err != nil {
		return err
	}
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		l.mu.Lock()
		defer l.mu.Unlock()
		if !l.lines.remove(w) {
			return nil
		}
		if err := l.slots.trouble(); err != nil {
			return err
		}
		return ctx.Err()
	}
}

func (l *Limiter) enter(ctx context.Context, w *waiter) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	deadline, bounded := ctx.Deadline()
	if at, ok := l.slots.next(l, time.Now(), 0); ok && bounded && at.After(deadline) {
		return context.DeadlineExceeded
	}
	l.lines.add(w)
	l.advance()
	return nil
}

// advance gives out the slots whose time has come and sets the clock for the next. The
// caller holds the lock.
func (l *Limiter) advance() {
	for waiting := l.lines.len(); waiting > 0; waiting-- {
		now := time.Now()
		at, ok := l.slots.next(l, now, waiting)
		if !ok {
			return
		}
		if left := at.Sub(now); left > 0 {
			l.after(left)
			return
		}
		l.slots.take(now)
		close(l.lines.next().granted)
	}
}

// after has the limiter advance after a while. The caller holds the lock.
func (l *Limiter) after(d time.Duration) {
	if l.armed {
		return
	}
	l.armed = true
	time.AfterFunc(d, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.armed = false
		l.advance()
	})
}

// own are those of a process that has the rate for itself. Its burst is one, so that
// no second holds more than the rate: going over may get an account refused for a day.
type own struct{ *rate.Limiter }

func (s *own) next(_ *Limiter, now time.Time, _ int) (time.Time, bool) {
	missing := 1 - s.TokensAt(now)
	if missing <= 0 {
		return now, true
	}
	return now.Add(time.Duration(math.Ceil(missing * float64(time.Second) / float64(s.Limit())))), true
}

func (s *own) take(now time.Time) { s.ReserveN(now, 1) }

func (s *own) trouble() error { return nil }
