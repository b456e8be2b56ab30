package outbox

import (
	"context"
	"time"
)

// lookWithin bounds the look at a conversation before something of a row goes out, and
// lookAgain is when a row whose conversation could not be read is looked at again.
const (
	lookWithin = 5 * time.Second
	lookAgain  = time.Second
)

// held ends a row that may not go out by now, and gives one back whose conversation cannot be
// read. It reports that the row is not the worker's any more.
func (w *Worker) held(ctx context.Context, row Row) bool {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	as, err := w.cfg.Held(look, row)
	switch {
	case err != nil:
		w.cfg.Log.Error("whether the row may go out was not read; it waits", "row", row.ID, "turn", row.TurnID, "error", err)
		w.yield(ctx, row, lookAgain)
		return true
	case as != "":
		if row.Recallable() {
			as = Discarded // a follow-up has its time
		}
		w.cfg.Log.Info("outbox row "+string(as)+": a person has the conversation, the contact opted out, or it went on", "row", row.ID, "turn", row.TurnID)
		row = handBack(row)
		row.Status, row.LastError = as, ""
		w.release(ctx, row, nil)
		return true
	}
	return false
}
