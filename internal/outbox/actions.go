package outbox

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// actWithin bounds the actions of one reply: eight at most (docs/spec/07-tools.md,
// "Bounds"), each of which usually takes a second and may take callTimeout. The contact's
// next reply waits for them.
const actWithin = 60 * time.Second

// actAgain is when a reply that was said, and for whose actions there is no place, looks for
// one again.
const actAgain = 5 * time.Second

// actUntil is how long behind the last text of a reply its actions may begin. They are part
// of what the contact reads: a flow or a tag an hour later answers a conversation that went on.
const actUntil = 60 * time.Minute

// places are those of the actions in hand.
type places struct {
	mu    sync.Mutex
	taken int
}

// enter takes places for the actions of a reply, for all or for none.
func (p *places) enter(actions int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken > 0 && p.taken+actions > actionsInHand {
		return false
	}
	p.taken += actions
	return true
}

func (p *places) leave(actions int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken -= actions
}

// tooLate is the end of the actions of a reply that was said too long ago, none of which has
// begun.
func (w *Worker) tooLate(row Row) (ended []action.Ended, late bool) {
	said := row.Payload.SaidAt
	if row.Payload.Acting || said.IsZero() || w.cfg.Now().Sub(said) <= actUntil {
		return nil, false
	}
	for _, a := range row.Payload.Actions {
		ended = append(ended, action.Ended{Place: a.Place, Status: action.Failed, Error: action.NotStarted})
	}
	return ended, true
}

// act performs the actions of a reply that was said, once: a row that was marked before has
// lost what became of them with the process that made them. They are not cut short when the
// worker stops. It is not ok when the row is not the worker's any more.
func (w *Worker) act(ctx context.Context, row Row) (ended []action.Ended, ok bool) {
	if !row.Payload.Acting {
		row.Payload.Acting = true
		if !w.progress(ctx, row, time.Time{}) {
			return nil, false
		}
		ended = w.perform(ctx, row)
		if slices.ContainsFunc(ended, func(e action.Ended) bool { return e.Status == action.Performed }) {
			w.accepted(row)
		}
	}
	for _, a := range row.Payload.Actions {
		if !slices.ContainsFunc(ended, func(e action.Ended) bool { return e.Place == a.Place }) {
			ended = append(ended, unknown(a))
		}
	}
	return ended, true
}

// perform has a row's actions performed. A panic is none of the contact's business, who has
// the text: the row is delivered all the same.
func (w *Worker) perform(ctx context.Context, row Row) (ended []action.Ended) {
	defer func() {
		if p := recover(); p != nil {
			w.cfg.Log.Error("performing actions panicked", "row", row.ID, "turn", row.TurnID, "error", redact.Panic(p))
			ended = nil
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), actWithin)
	defer cancel()
	return w.cfg.Actions.Perform(ctx, row)
}

// unknown is the end of an action of which nobody knows whether ManyChat did it.
func unknown(a action.Pending) action.Ended {
	return action.Ended{Place: a.Place, Status: action.Failed, Error: action.OutcomeUnknown}
}
