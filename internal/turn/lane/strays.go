package lane

import (
	"sync"
	"time"
)

// Strays are messages that were handed off while nobody knew whether they are recorded.
// Should one turn up, it is settled with nothing to say.
type Strays struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// strayFor is how long such a message may take to turn up.
const strayFor = 10 * time.Minute

// manyStrays are so many that the old ones are looked for.
const manyStrays = 1024

// Add notes a turn.
func (s *Strays) Add(turnID string, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since == nil {
		s.since = map[string]time.Time{}
	}
	for id, at := range s.since {
		if len(s.since) < manyStrays {
			break
		}
		if now.Sub(at) > strayFor {
			delete(s.since, id)
		}
	}
	s.since[turnID] = now
}

// Hold reports whether a turn is one.
func (s *Strays) Hold(turnID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, found := s.since[turnID]
	return found
}
