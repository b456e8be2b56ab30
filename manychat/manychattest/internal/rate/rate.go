// Package rate counts calls in sliding windows.
package rate

import (
	"sync"
	"time"
)

// Limiter is safe for concurrent use.
type Limiter struct {
	mu      sync.Mutex
	now     func() time.Time
	block   time.Duration
	blocked time.Time
	windows map[string][]time.Time
}

// New makes a limiter. After a refusal everything is refused for block; 0 means
// that only the call over the limit is.
func New(now func() time.Time, block time.Duration) *Limiter {
	return &Limiter{now: now, block: block, windows: map[string][]time.Time{}}
}

// Limit is at most N calls in any window of the length Per.
type Limit struct {
	Key string
	N   int
	Per time.Duration
}

// Allow counts a call against all limits, or against none when one is full.
func (l *Limiter) Allow(limits ...Limit) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if now.Before(l.blocked) {
		return false
	}
	for _, lim := range limits {
		if len(l.recent(lim, now)) >= lim.N {
			l.blocked = now.Add(l.block)
			return false
		}
	}
	for _, lim := range limits {
		l.windows[lim.Key] = append(l.windows[lim.Key], now)
	}
	return true
}

// recent forgets what left the window and returns the rest.
func (l *Limiter) recent(lim Limit, now time.Time) []time.Time {
	times := l.windows[lim.Key]
	i := 0
	for i < len(times) && now.Sub(times[i]) >= lim.Per {
		i++
	}
	if i > 0 {
		times = append(times[:0], times[i:]...)
		l.windows[lim.Key] = times
	}
	return times
}
