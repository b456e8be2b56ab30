package manychat

import (
	"context"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// family is a group of endpoints that share one of ManyChat's rate limits.
type family int

const (
	flows  family = iota // sendFlow
	reads                // subscriber reads
	writes               // subscriber writes
)

// perSecond holds ManyChat's rates, the lower figure where its OpenAPI file and its
// help article differ.
var perSecond = [...]rate.Limit{flows: 20, reads: 10, writes: 10}

// familyNames are what the limits are called where processes share them.
var familyNames = [...]string{flows: "flows", reads: "reads", writes: "writes"}

// limits holds the limiter of each family.
type limits [len(perSecond)]*limiter

func newLimits(cfg ClientConfig) *limits {
	var l limits
	for f, r := range perSecond {
		r *= rate.Limit(cfg.RPSScale)
		if cfg.Lease == nil {
			l[f] = &limiter{slots: &ownSlots{rate.NewLimiter(r, 1)}}
			continue
		}
		l[f] = &limiter{slots: &leasedSlots{
			lease: cfg.Lease, name: familyNames[f], now: cfg.Now,
			every: time.Duration(math.Ceil(float64(time.Second) / float64(r))),
		}}
	}
	return &l
}

// limiter gives the slots of one rate limit to the calls that wait for them.
type limiter struct {
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
	next(l *limiter, now time.Time, waiting int) (at time.Time, ok bool)
	// take uses the next slot up, whose time has come.
	take(now time.Time)
	// trouble is why no slot is known, nil when there is no trouble.
	trouble() error
}

// wait blocks until the call has a slot. It fails at once when even the next slot would
// come after the deadline of ctx, and takes none then; the error is the context's, or what
// keeps the slots from being known.
func (l *limiter) wait(ctx context.Context, class Class) error {
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

func (l *limiter) enter(ctx context.Context, w *waiter) error {
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
func (l *limiter) advance() {
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
func (l *limiter) after(d time.Duration) {
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

// ownSlots are those of a process that has the rate for itself. Its burst is one, so that
// no second holds more than the rate: going over may get an account refused for a day.
type ownSlots struct{ *rate.Limiter }

func (s *ownSlots) next(_ *limiter, now time.Time, _ int) (time.Time, bool) {
	missing := 1 - s.TokensAt(now)
	if missing <= 0 {
		return now, true
	}
	return now.Add(time.Duration(math.Ceil(missing * float64(time.Second) / float64(s.Limit())))), true
}

func (s *ownSlots) take(now time.Time) { s.ReserveN(now, 1) }

func (s *ownSlots) trouble() error { return nil }
