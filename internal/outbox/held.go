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

// held keeps a row back whose conversation a person has by now, and gives one back whose
// conversation cannot be read. It reports that the row is not the worker's any more.
func (w *Worker) held(ctx context.Context, row Row) bool {
	look, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookWithin)
	defer cancel()
	held, err := w.cfg.Held(look, row)
	switch {
	case err != nil:
		w.cfg.Log.Error("whether a person has the conversation was not read; the row waits", "row", row.ID, "turn", row.TurnID, "error", err)
		w.yield(ctx, row, lookAgain)
		return true
	case held:
		given := Withheld
		if row.Recallable() {
			given = Discarded // a follow-up has its time
		}
		w.cfg.Log.Info("outbox row "+string(given)+": a person has the conversation, or it went on", "row", row.ID, "turn", row.TurnID)
		row = handBack(row)
		row.Status, row.LastError = given, ""
		w.release(ctx, row, nil)
		return true
	}
	return false
}
