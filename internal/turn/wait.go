package turn

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// lookEvery is how often a waiting turn looks whether it may start, whoever failed to wake it.
const lookEvery = time.Second

// wait waits until a recorded turn may start, and starts it. It reports false when it will
// not be run here: another turn answers its message, it is another process's, or this one
// stops. A request whose turn waits past its deadline has its silent response by then.
func (r *Runner) wait(x *Exchange) (started bool) {
	rec := *x.recorded()
	waiter := r.waiters.Join(rec.Turn.ID, rec.Turn.ConversationID)
	defer waiter.Leave()
	since := r.cfg.Now()
	for failed := false; ; {
		if r.stops() {
			x.Finish(Answer{})
			return false
		}
		next, err := r.start(x, rec)
		switch {
		case err == nil:
			next.Turn.Timings.Wait = conversation.Since(since, r.cfg.Now())
			x.rec.Store(&next)
			return true
		case errors.Is(err, ErrMerged), errors.Is(err, ErrNotOwner):
			x.Finish(Answer{})
			return false
		case !errors.Is(err, ErrWaits) && !failed:
			r.cfg.Log.Error("turn not started, trying until the database takes it", "turn", rec.Turn.ID, "error", err)
			failed = true
		}
		look := time.NewTimer(lookEvery)
		select {
		case <-waiter.C:
		case <-look.C:
		case <-r.draining:
		}
		look.Stop()
	}
}

// start starts a waiting turn. What only its request told goes on with it.
func (r *Runner) start(x *Exchange, waiting Recorded) (Recorded, error) {
	ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
	defer cancel()
	rec, err := r.cfg.Lane.Start(ctx, Start{
		TurnID: waiting.Turn.ID, ConversationID: waiting.Turn.ConversationID, Owner: waiting.Turn.Owner,
		Window: WindowOf(x.tenant, r.cfg.Now()),
	})
	rec.Binding, rec.TokenRow, rec.Behind = waiting.Binding, waiting.TokenRow, waiting.Behind
	rec.Turn.Interventions, rec.Turn.Timings = waiting.Turn.Interventions, waiting.Turn.Timings
	return rec, err
}
