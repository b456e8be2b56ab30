package outbox

import (
	"sync"
	"time"
)

// key is what a worker knows of its API key. While ManyChat refuses it, one row is tried a
// minute: a rotated key must not dead-letter everything, and everything goes on with the
// first success.
type key struct {
	mu    sync.Mutex
	bad   bool
	again time.Time // the next row is tried from then on
	trial Hold      // the row that is being tried
}

// refuse notes that ManyChat refused the key, and reports whether that is new.
func (k *key) refuse(now time.Time) (first bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	first = !k.bad
	k.bad, k.again = true, now.Add(unauthorizedRetry)
	return first
}

// accept notes that ManyChat did what a row asked for, and reports whether that ends a
// refusal. Only the row that is tried tells: others may have asked before it began.
func (k *key) accept(r Row) (ended bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if ended = k.bad && k.trial == (Hold{r.Owner, r.ID}); ended {
		k.bad, k.trial = false, Hold{}
	}
	return ended
}

func (k *key) refused() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.bad
}

// try makes a claimed row the one that is tried.
func (k *key) try(r Row) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.trial = Hold{r.Owner, r.ID}
}

// allows reports whether a row may be attempted.
func (k *key) allows(r Row) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.bad || k.trial == Hold{r.Owner, r.ID}
}

// left notes that the row that was tried has been released. The next is tried at once when it
// told nothing of the key, and of those that ask again only in a while.
func (k *key) left(r Row, told bool, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.trial != (Hold{r.Owner, r.ID}) {
		return
	}
	k.trial = Hold{}
	if k.again = now; told {
		k.again = now.Add(unauthorizedRetry)
	}
}

// wait is how long no row may be claimed; zero: one may. While one is tried it is the end of
// that which the worker waits for.
func (k *key) wait(now time.Time) time.Duration {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case !k.bad:
		return 0
	case k.trial != Hold{}:
		return pollEvery
	}
	return max(0, k.again.Sub(now))
}

// refused notes that ManyChat refused the API key.
func (w *Worker) refused() {
	if w.key.refuse(w.cfg.Now()) {
		w.cfg.Log.Error("ManyChat refuses the API key: set MANYCHAT_API_TOKEN to a valid key; deliveries stay queued, and one is tried every minute")
		w.cfg.Refused(true)
	}
}

// accepted notes that ManyChat did what a row asked for.
func (w *Worker) accepted(r Row) {
	if w.key.accept(r) {
		w.cfg.Log.Info("ManyChat takes the API key again: deliveries go on")
		w.cfg.Refused(false)
		w.Wake()
	}
}
