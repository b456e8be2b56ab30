package sweep

import (
	"slices"
	"sync"
	"time"
)

// watch sees others' beats change, by this process's own monotonic clock. Only time in which
// this process itself beat counts: an outage of the database or a clock that was set makes
// nobody look dead.
type watch struct {
	mu     sync.Mutex
	others map[string]sight
	last   time.Time // the end of the last confirmed look; zero: the one before it failed
}

// sight is how often a process had beaten, and for how long that has not changed.
type sight struct {
	beats  int64
	silent time.Duration
}

// see notes the beats of the others, of a look that began and ended. A beat that came while
// the look was under way is no older than the look's end.
func (w *watch) see(beats map[string]int64, began, ended time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := make(map[string]sight, len(beats))
	for id, n := range beats {
		s := sight{beats: n}
		if before, found := w.others[id]; found && before.beats == n {
			s.silent = before.silent
			if !w.last.IsZero() {
				s.silent += began.Sub(w.last)
			}
		}
		seen[id] = s
	}
	w.others, w.last = seen, ended
}

// lose notes that this process could not beat, or did not: the others may not have been able
// to either.
func (w *watch) lose() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = time.Time{}
	for id, s := range w.others {
		w.others[id] = sight{beats: s.beats}
	}
}

// forget forgets processes that are buried.
func (w *watch) forget(dead []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range dead {
		delete(w.others, id)
	}
}

// silent are the processes that have not beaten for a lease, and how often each had beaten.
func (w *watch) silent(lease time.Duration) (dead []string, beats map[string]int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	beats = map[string]int64{}
	for id, s := range w.others {
		if s.silent >= lease {
			dead = append(dead, id)
			beats[id] = s.beats
		}
	}
	slices.Sort(dead)
	return dead, beats
}
