package outbox

import (
	"context"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
)

const (
	// postsInHand is how many webhooks of notices are posted at once. Their receiver is not
	// ManyChat and may hang; the other places of notices are for tags and flows.
	postsInHand = 8
	// slowPost is how long a post takes at least whose failure says that its receiver hangs.
	slowPost = time.Second
	// postPause is how long nothing is posted to a receiver that hangs: as long as one post
	// waits for it.
	postPause = 10 * time.Second
)

// posts are the webhooks in hand. All of a process's go to one receiver, the tenant's.
type posts struct {
	mu     sync.Mutex
	inHand int
	paused time.Time // nothing is posted before
}

// begin takes a place for a post; without one it says from when to try again at the soonest.
func (p *posts) begin(now time.Time) (from time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.inHand >= postsInHand || now.Before(p.paused) {
		return p.paused, false
	}
	p.inHand++
	return now, true
}

// end gives the place of a post back that began then, and notes what it says of the receiver.
func (p *posts) end(began, now time.Time, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inHand--
	switch {
	case err == nil:
		p.paused = time.Time{}
	case now.Sub(began) >= slowPost:
		p.paused = now.Add(postPause)
	}
}

// post makes a notice's webhook. It is not made when there is no place for it: it waits in the
// database then, where it holds up nobody, and the longer it has waited the less often it asks.
func (w *Worker) post(ctx context.Context, row Row, part action.Pending) (made bool, err error) {
	began := w.cfg.Now()
	from, ok := w.posts.begin(began)
	if !ok {
		again := w.cfg.Jitter(min(max(began.Sub(row.CreatedAt)/4, firstRetry), lastRetry))
		w.yield(ctx, row, max(again, from.Sub(began)))
		return false, nil
	}
	err = w.notify(ctx, row, part)
	w.posts.end(began, w.cfg.Now(), err)
	return true, err
}

// yield gives a row back unattempted, to be due again after a while.
func (w *Worker) yield(ctx context.Context, row Row, after time.Duration) {
	row = handBack(row)
	row.NextAttemptAt = w.cfg.Now().Add(after)
	w.release(ctx, row, nil)
}
