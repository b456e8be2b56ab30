package outbox

import (
	"context"
	"errors"

	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// errStuck is why a token's row ends without a call to ManyChat.
var errStuck = errors.New("too many writes of the contact's token have an unknown outcome; the contact's next message brings another")

// deliverToken writes a contact's token. Its row has as many attempts as its age allows:
// the contact's history depends on it, and every attempt writes another token.
func (w *Worker) deliverToken(ctx context.Context, row Row) {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), callTimeout)
	defer cancel()
	minted, err := w.cfg.Tokens.Deliver(call, token.Delivery{
		Who: row.Key, Generation: row.Payload.Generation,
	})
	switch {
	case err != nil:
		row = w.judgeToken(row, err)
	case minted == token.Fresh:
		w.accepted(row)
		row.Status, row.LastError, row.DeliveredAt = Delivered, "", w.cfg.Now()
	case minted == token.Void:
		row.Status, row.LastError = Discarded, ""
	default:
		err = errStuck
		row = dead(row, ReasonUnknown, err)
	}
	w.release(ctx, row, err)
}

// judgeToken decides what a failed write makes of a token's row.
func (w *Worker) judgeToken(row Row, err error) Row {
	var call *manychat.Error
	if !errors.As(err, &call) {
		return w.later(row, err, 0)
	}
	switch {
	case call.Kind == manychat.KindUnauthorized:
		return w.unauthorized(row, err)
	case !call.Retryable() && !call.OutcomeUnknown():
		return dead(row, ReasonRejected, err)
	}
	return w.later(row, err, call.RetryAfter)
}
