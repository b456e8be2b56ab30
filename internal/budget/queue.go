package budget

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// waiter is a call that waits. The keeper's lock guards it until it is out of the queue;
// then done is closed, and nothing but hurried changes any more.
type waiter struct {
	call    Call
	reason  error // why it was not let in when that was last tried; nil: it was not tried
	hurried bool  // it is not tried again

	done    chan struct{}
	granted *Reservation
	refused error
}

// wait blocks until the call is let in, refused, or ctx ends.
func (k *Keeper) wait(ctx context.Context, w *waiter) (*Reservation, error) {
	patience := time.NewTimer(max(0, w.call.By.Sub(k.cfg.Now())))
	defer patience.Stop()
	for {
		select {
		case <-w.done:
			if w.refused != nil {
				return k.refuse(w.refused)
			}
			if w.reason != nil {
				k.cfg.Count(Waited)
			}
			return w.granted, nil
		case <-patience.C:
			k.hurry(w)
		case <-ctx.Done():
			return k.refuse(fmt.Errorf("%w: %w", k.leave(w), context.Cause(ctx)))
		}
	}
}

// hurry refuses a call that was tried, and lets any other be tried once.
func (k *Keeper) hurry(w *waiter) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w.hurried = true
	k.give(w)
	k.next()
}

// leave takes a call out of the queue, and gives back what it was granted meanwhile. It
// says why the call was not let in before.
func (k *Keeper) leave(w *waiter) error {
	k.mu.Lock()
	w.hurried = true
	reason := w.reason
	if reason == nil {
		reason = ErrUnavailable
	}
	k.finish(w, nil, reason)
	k.next()
	granted := w.granted
	k.mu.Unlock()
	if granted != nil {
		granted.Settle(Amount{})
	}
	return reason
}

// next lets in what waited behind a call that is gone; k.mu is held.
func (k *Keeper) next() {
	if k.serve(); len(k.queue) > 0 {
		k.look()
	}
}

// tried records why a call that still waits was not let in, and refuses it when it waits
// no longer; k.mu is held.
func (k *Keeper) tried(w *waiter, reason error) {
	if slices.Contains(k.queue, w) {
		w.reason = reason
		k.give(w)
	}
}

// give refuses a call that has been tried and waits no longer; k.mu is held.
func (k *Keeper) give(w *waiter) {
	if w.hurried && w.reason != nil {
		k.finish(w, nil, w.reason)
	}
}

// finish ends a call's wait, unless it has ended; k.mu is held.
func (k *Keeper) finish(w *waiter, granted *Reservation, refused error) {
	i := slices.Index(k.queue, w)
	if i < 0 {
		return
	}
	k.queue = slices.Delete(k.queue, i, i+1)
	w.granted, w.refused = granted, refused
	close(w.done)
}

// serve lets in what waits as far as what is unused today reaches, and refuses what
// nothing can make room for; k.mu is held.
func (k *Keeper) serve() {
	if len(k.queue) == 0 {
		return
	}
	a := k.account(DayOf(k.cfg.Now()))
	for len(k.queue) > 0 && a.holds(k.queue[0].call) {
		w := k.queue[0]
		k.finish(w, k.reserve(a, w.call.Worst), nil)
	}
	for _, w := range slices.Clone(k.queue) {
		if a.hopeless(w.call) {
			k.finish(w, nil, ErrExhausted)
		}
	}
}

// admit lets in calls that the ledger admitted; k.mu is held.
func (k *Keeper) admit(a *account, calls []*waiter) {
	for _, w := range calls {
		if slices.Contains(k.queue, w) {
			k.finish(w, k.reserve(a, w.call.Worst), nil)
		}
	}
}

// batch is the calls at the head of the queue that come with one cap; k.mu is held.
func (k *Keeper) batch() []*waiter {
	n := 0
	for n < len(k.queue) && k.queue[n].call.Terms.Cap == k.queue[0].call.Terms.Cap {
		n++
	}
	return slices.Clone(k.queue[:n])
}
