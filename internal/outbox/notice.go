package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// errRefused is why a notice is dead of which only an earlier hold knows what was refused.
var errRefused = errors.New("a part of the notice failed; the turn's record says which, and why")

// deliverNotice makes the parts of a handoff notice that are left, one after the other. A
// part that is refused holds up none of the others; one that may work later ends the hold.
func (w *Worker) deliverNotice(ctx context.Context, row Row) {
	var refused error // the first of this hold
	ended, parts := row.lost(), row.Payload.Actions
	for row.Payload.Sent < len(parts) {
		if ctx.Err() != nil {
			w.release(ctx, handBack(row), nil, ended...)
			return
		}
		part := parts[row.Payload.Sent]
		err := w.notify(ctx, row, part)
		if mayHave(part, err) {
			row.Payload.Unknown++
		}
		end, over := w.endOf(row, part, err)
		if over {
			ended = append(ended, end)
			row.Payload.Sent++
			row.Payload.Unknown = 0
		}
		if over && err != nil {
			w.cfg.Log.Warn("a part of a handoff notice failed", "row", row.ID, "turn", row.TurnID, "part", part.ID, cause(err))
			row.Payload.Acting = true
			refused = first(refused, err)
		}
		if (over || row.Payload.Unknown > 0) && !w.progress(ctx, row, time.Time{}) {
			return
		}
		if !over {
			w.release(ctx, w.postpone(row, err), err, ended...)
			return
		}
	}
	if row.Payload.Acting {
		refused = first(refused, errRefused)
		w.release(ctx, dead(row, reasonOf(refused), refused), refused, ended...)
		return
	}
	row.Status, row.LastError, row.DeliveredAt = Delivered, "", w.cfg.Now()
	w.release(ctx, row, nil, ended...)
}

// notify makes one part. It is not cut short when the worker stops.
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

// endOf is what became of a part, if it is over: made, refused, or a flow that went out
// twice perhaps.
func (w *Worker) endOf(row Row, part action.Pending, err error) (end action.Ended, over bool) {
	end = action.Ended{Place: part.Place, Status: action.Failed}
	var call *manychat.Error
	var failure interface {
		Retryable() bool
		Brief() string
	}
	switch {
	case err == nil:
		end.Status, end.At = action.Performed, w.cfg.Now()
		return end, true
	case mayHave(part, err):
		end.Error = action.OutcomeUnknown
		return end, row.Payload.Unknown >= unknownTriggers
	case errors.As(err, &call) && call.Kind == manychat.KindUnauthorized:
		return end, false // the account's key, no fault of the part
	case errors.As(err, &failure) && !failure.Retryable():
		end.Error = failure.Brief()
		return end, true
	}
	return end, false
}

// mayHave reports whether a failed part is a flow that may have started all the same. The
// other parts may be repeated as often as it takes.
func mayHave(part action.Pending, err error) bool {
	var call *manychat.Error
	return part.ID == action.NoticeFlow && errors.As(err, &call) && call.OutcomeUnknown()
}

// postpone decides when a notice is tried again whose part may work later.
func (w *Worker) postpone(row Row, err error) Row {
	var call *manychat.Error
	var waiting interface{ After() time.Duration }
	switch {
	case errors.As(err, &call) && call.Kind == manychat.KindUnauthorized:
		return w.unauthorized(row, err)
	case errors.As(err, &call):
		return w.retry(row, err, call.RetryAfter)
	case errors.As(err, &waiting):
		return w.retry(row, err, waiting.After())
	}
	return w.retry(row, err, 0)
}

// reasonOf is why a notice is dead of which a part failed.
func reasonOf(err error) Reason {
	var call *manychat.Error
	if errors.As(err, &call) && call.OutcomeUnknown() {
		return ReasonUnknown
	}
	return ReasonRejected
}

// first is the first of two errors that is one.
func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}
