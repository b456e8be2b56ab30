package outbox

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// deliver does what a row is for and releases it; leave gives the row's place back early.
func (w *Worker) deliver(ctx context.Context, row Row, leave func()) {
	defer func() {
		if p := recover(); p != nil {
			err := errors.New("the delivery panicked: " + redact.Panic(p))
			w.release(ctx, w.retry(spent(row, nil), err, 0), err)
		}
		w.key.left(row, true, w.cfg.Now())
	}()
	if ctx.Err() != nil || !w.mayBegin(row) {
		w.release(ctx, handBack(row), nil)
		return
	}
	if age := w.cfg.Now().Sub(row.CreatedAt); age > w.cfg.MaxAge && !row.said() {
		err := fmt.Errorf("the %s is %s old, and is not sent after %s", row.Kind, age.Round(time.Minute), w.cfg.MaxAge)
		w.release(ctx, dead(row, ReasonStale, err), err, row.lost()...)
		return
	}
	switch row.Kind {
	case ContactToken:
		w.deliverToken(ctx, row)
	case HandoffNotice:
		w.deliverNotice(ctx, row)
	default:
		w.deliverReply(ctx, row, leave)
	}
}

// mayBegin is asked just before the requests for a text, a token or a notice, and before those
// for a reply's actions: may this process make them now? What may not begin is given back
// unattempted.
func (w *Worker) mayBegin(row Row) bool {
	mine := strings.HasPrefix(row.Owner, w.cfg.Owner()+"/") // not once others took this process for dead
	return mine && w.cfg.Alive() && w.key.allows(row)
}

// said reports whether the contact has everything that a reply says.
func (r Row) said() bool { return r.Kind == Reply && r.Payload.Sent >= len(r.Payload.Texts) }

// deliverReply sends the next text of a row and releases the row, which is due again after
// the gap while texts are left: between them it holds up nobody. Behind the last come the
// actions.
func (w *Worker) deliverReply(ctx context.Context, row Row, leave func()) {
	if !row.said() { // else a process ended before it could release the row
		if w.held(ctx, row) {
			return
		}
		step, err := w.send(ctx, row)
		if step == trigger {
			row = spent(row, err)
		}
		if err != nil {
			row = w.judge(row, step, err)
			if row.Payload.Unknown > 0 && !w.progress(ctx, row, w.cfg.Now()) {
				return
			}
			w.release(ctx, row, err)
			return
		}
		w.accepted(row)
		row.Payload.Sent++
		row.Payload.Unknown = 0
		if row.said() && len(row.Payload.Actions) > 0 {
			row.Payload.SaidAt = w.cfg.Now()
		}
		if !w.progress(ctx, row, w.cfg.Now()) {
			return
		}
	}
	row.LastError = ""
	if !row.said() {
		w.yield(ctx, row, w.cfg.Gap)
		return
	}
	w.finish(ctx, row, leave)
}

// finish performs the actions of a reply that was said and releases the row. Other contacts'
// replies wait for none of it: the row gives its place back first, and one that finds too many
// before it, or that may not begin, waits in the database.
func (w *Worker) finish(ctx context.Context, row Row, leave func()) {
	ended, late := w.tooLate(row)
	if late {
		w.cfg.Log.Warn("actions of a reply would come too late, and are not begun", "row", row.ID, "turn", row.TurnID)
	}
	if n := len(row.Payload.Actions); n > 0 && !late {
		if !w.mayBegin(row) || !w.acting.enter(n) {
			w.yield(ctx, row, w.cfg.Jitter(actAgain))
			return
		}
		defer func() {
			w.acting.leave(n)
			w.Wake() // for what waits for the row itself
		}()
		leave()
		if w.held(ctx, row) {
			return
		}
		var ok bool
		if ended, ok = w.act(ctx, row); !ok {
			return
		}
	}
	row.Status, row.DeliveredAt = Delivered, w.cfg.Now()
	w.release(ctx, row, nil, ended...)
}

// progress writes down how far a row got; sent is when ManyChat took a text or may have,
// zero when it was none.
func (w *Worker) progress(ctx context.Context, row Row, sent time.Time) bool {
	return w.persist(ctx, "progress", row, func(ctx context.Context) error { return w.cfg.Store.Progress(ctx, row, sent) })
}

// step is one of the two calls of a delivery.
type step int

const (
	writeField step = iota
	trigger
)

// send makes the two calls that deliver the next text. They are not cut short when
// the worker stops: the text in hand is finished.
func (w *Worker) send(ctx context.Context, row Row) (step, error) {
	ctx = context.WithoutCancel(ctx)
	subscriber := string(row.Key.SubscriberID)
	write, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	if err := w.cfg.Sender.SetCustomFieldByName(write, subscriber, w.cfg.Field, row.Payload.Texts[row.Payload.Sent]); err != nil {
		return writeField, err
	}
	start, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	return trigger, w.cfg.Sender.SendFlow(start, subscriber, w.cfg.Flow)
}
