package slots

import (
	"context"
	"fmt"
	"time"
)

const (
	// leaseFor bounds a stretch. The calls of another process wait for its end, also those
	// inside a turn.
	leaseFor = 200 * time.Millisecond
	// leaseWithin bounds one question for a stretch, and leaseAgain is the pause behind one
	// that failed.
	leaseWithin = 5 * time.Second
	leaseAgain  = 250 * time.Millisecond
)

// leased are those of a process that shares the rate with others. A stretch is cut into
// slots, each of which holds one call; what is not used when its time is over is lost, so
// that no late call falls into another process's stretch.
type leased struct {
	lease func(context.Context, time.Duration) (time.Time, error)
	every time.Duration
	now   func() time.Time // the clock of lease

	begin  time.Time // of the next slot
	left   int
	took   time.Duration // the last question: what passes of a stretch before it is known
	asking bool
	failed error
}

func (s *leased) next(l *Limiter, now time.Time, waiting int) (time.Time, bool) {
	for s.left > 0 && !now.Before(s.begin.Add(s.every)) {
		s.use()
	}
	if s.left > 0 {
		return s.begin, true
	}
	if waiting > 0 && !s.asking {
		s.asking = true
		n := min(waiting, max(1, int(leaseFor/s.every))) + int(s.took/s.every)
		go s.ask(l, n)
	}
	return time.Time{}, false
}

func (s *leased) take(time.Time) { s.use() }

func (s *leased) use() {
	s.begin = s.begin.Add(s.every)
	s.left--
}

func (s *leased) trouble() error {
	if s.failed == nil {
		return nil
	}
	return fmt.Errorf("the rate that the processes share could not be asked for: %v", s.failed)
}

// ask leases a stretch of n slots.
func (s *leased) ask(l *Limiter, n int) {
	ctx, cancel := context.WithTimeout(context.Background(), leaseWithin)
	asked := time.Now()
	from, err := s.lease(ctx, time.Duration(n)*s.every)
	cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.failed = err; err != nil {
		time.AfterFunc(leaseAgain, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			s.asking = false
			l.advance()
		})
		return
	}
	s.asking = false
	s.took = time.Since(asked)
	s.begin, s.left = time.Now().Add(from.Sub(s.now())), n
	l.advance()
}
