package outbox

import (
	"context"
	"slices"
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

// act performs the actions of a reply that was said, once: a row that was marked before has
// lost what became of them with the process that made them. They are not cut short when the
// worker stops. It is not ok when the row is not the worker's any more.
func (w *Worker) act(ctx context.Context, row Row) (ended []action.Ended, ok bool) {
	if len(row.Payload.Actions) == 0 {
		return nil, true
	}
	if !row.Payload.Acting {
		row.Payload.Acting = true
		if !w.progress(ctx, row, time.Time{}) {
			return nil, false
		}
		ended = w.perform(ctx, row)
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
