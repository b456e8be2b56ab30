package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// errLost is why a notice is dead whose flow was begun as often as it may be, each time by
// a process that died with it.
var errLost = errors.New("the processes that sent the flow died before they could write down what became of it")

// deliverNotice makes the one part of a handoff notice that a row is, and releases the row.
// A tag and a webhook are made as often as it takes. A flow is counted before it is made,
// so that one whose process dies is tried once more and no oftener.
func (w *Worker) deliverNotice(ctx context.Context, row Row) {
	part := row.Payload.Actions[0]
	if part.ID == action.NoticeFlow {
		if w.held(ctx, row) {
			return
		}
		if row.Payload.Unknown >= unknownTriggers {
			w.release(ctx, dead(row, ReasonUnknown, errLost), errLost, row.lost()...)
			return
		}
		row.Payload.Unknown++
		if !w.progress(ctx, row, time.Time{}) {
			return
		}
	}
	made, err := w.makePart(ctx, row, part)
	if !made {
		return
	}
	row = spent(row, err)
	if err == nil {
		if part.ID != action.NoticeWebhook {
			w.accepted(row)
		}
		row.Status, row.LastError, row.DeliveredAt = Delivered, "", w.cfg.Now()
		w.release(ctx, row, nil, action.Ended{Place: part.Place, Status: action.Performed, At: row.DeliveredAt})
		return
	}
	if part.ID == action.NoticeFlow && !outcomeUnknown(err) {
		row.Payload.Unknown--
		if !w.progress(ctx, row, time.Time{}) {
			return
		}
	}
	row, ended := w.judgeNotice(row, err)
	w.release(ctx, row, err, ended...)
}

// makePart makes the part, or gives the row back when there is no place for it.
func (w *Worker) makePart(ctx context.Context, row Row, part action.Pending) (made bool, err error) {
	if part.ID == action.NoticeWebhook {
		return w.post(ctx, row, part)
	}
	return true, w.notify(ctx, row, part)
}

// notify makes the part. It is not cut short when the worker stops.
func (w *Worker) notify(ctx context.Context, row Row, part action.Pending) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = errors.New("the notice panicked: " + redact.Panic(p))
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	return w.cfg.Actions.Notify(ctx, row, part)
}

// judgeNotice decides what a part that failed makes of its row and of the turn's record.
func (w *Worker) judgeNotice(row Row, err error) (Row, []action.Ended) {
	var call *manychat.Error
	var refusal interface {
		Retryable() bool
		Brief() string
	}
	switch {
	case errors.As(err, &call) && call.Kind == manychat.KindUnauthorized:
		return w.unauthorized(row, err), nil // the account's key, no fault of the part
	case row.Payload.Unknown >= unknownTriggers:
		row = dead(row, ReasonUnknown, err)
	case errors.As(err, &refusal) && !refusal.Retryable():
		end := action.Ended{Place: row.Payload.Actions[0].Place, Status: action.Failed, Error: refusal.Brief()}
		return dead(row, ReasonRejected, err), []action.Ended{end}
	default:
		row = w.retry(row, err, waits(err))
	}
	if row.Status != Dead {
		return row, nil
	}
	return row, row.lost()
}

// outcomeUnknown reports whether what failed may have been done all the same.
func outcomeUnknown(err error) bool {
	var call *manychat.Error
	return errors.As(err, &call) && call.OutcomeUnknown()
}

// waits is how long a part that failed asks to be left alone.
func waits(err error) time.Duration {
	var call *manychat.Error
	var waiting interface{ After() time.Duration }
	switch {
	case errors.As(err, &call):
		return call.RetryAfter
	case errors.As(err, &waiting):
		return waiting.After()
	}
	return 0
}

// lost is the end of a notice's flow that may have been started all the same, of a row that
// goes on no more. Of every other row the store knows the end.
func (r Row) lost() []action.Ended {
	if r.Kind != HandoffNotice || r.Payload.Unknown == 0 {
		return nil
	}
	return []action.Ended{unknown(r.Payload.Actions[0])}
}
