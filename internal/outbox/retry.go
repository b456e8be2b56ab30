package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// The schedule of docs/spec/05-delivery.md, "Outbox": 2 s doubling to 300 s, which
// is also the longest Retry-After that is honoured.
const (
	firstRetry = 2 * time.Second
	lastRetry  = 300 * time.Second
	// unauthorizedRetry is how often a row is tried while ManyChat refuses the API key.
	unauthorizedRetry = time.Minute
	// unknownTriggers is how many triggers of one text may lose their answer before
	// the row is dead: a slow success must not send twelve copies.
	unknownTriggers = 2
	// writeWithin bounds one try to write down what happened, and writeEvery is the
	// pause between tries. They go on while the worker runs: a row that is left in hand
	// would hold back its contact.
	writeWithin = 10 * time.Second
	writeEvery  = 250 * time.Millisecond
	// writeAfterStop is how long a stopped worker still tries.
	writeAfterStop = 10 * time.Second
)

// Jitter spreads a delay evenly over its upper half, so that rows that failed
// together are not tried together again.
func Jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2)
}

// backoff is the delay after the given number of attempts, before jitter.
func backoff(attempts int) time.Duration {
	d := firstRetry
	for range attempts - 1 {
		if d *= 2; d >= lastRetry {
			return lastRetry
		}
	}
	return d
}

// judge decides what a failed call makes of its row.
func (w *Worker) judge(row Row, at step, err error) Row {
	var call *manychat.Error
	if !errors.As(err, &call) {
		return w.retry(row, err, 0)
	}
	if call.Kind == manychat.KindUnauthorized {
		return w.unauthorized(row, err)
	}
	if at == trigger && call.OutcomeUnknown() {
		if row.Payload.Unknown++; row.Payload.Unknown >= unknownTriggers {
			return dead(row, ReasonUnknown, err)
		}
		return w.retry(row, err, call.RetryAfter)
	}
	if !call.Retryable() && !call.OutcomeUnknown() {
		return dead(row, ReasonRejected, err)
	}
	return w.retry(row, err, call.RetryAfter)
}

// unauthorized keeps a row while ManyChat refuses the API key: it is due as it was, and so
// the first to be tried again.
func (w *Worker) unauthorized(row Row, err error) Row {
	w.refused()
	row = handBack(row)
	row.LastError = err.Error()
	return row
}

// retry makes the row pending again after a delay, or dead when its attempts are
// used up.
func (w *Worker) retry(row Row, err error, after time.Duration) Row {
	if row.Attempts >= w.cfg.MaxAttempts {
		return dead(row, ReasonExhausted, err)
	}
	return w.later(row, err, after)
}

// later makes the row pending again after a delay.
func (w *Worker) later(row Row, err error, after time.Duration) Row {
	delay := max(w.cfg.Jitter(backoff(row.Attempts)), min(after, lastRetry))
	row.Status, row.LastError, row.NextAttemptAt = Pending, err.Error(), w.cfg.Now().Add(delay)
	return row
}

// handBack makes the row pending as if it had not been claimed.
func handBack(row Row) Row {
	row.Status = Pending
	row.Attempts--
	return row
}

// spent notes that a row's flow may have been sent, unless err says that it was not: then the
// contact may be sent another for it.
func spent(row Row, err error) Row {
	var call *manychat.Error
	unsent := errors.As(err, &call) && (call.Kind == manychat.KindUnauthorized || call.Status == 0 && !call.OutcomeUnknown())
	if !unsent {
		row.Counted = 0
	}
	return row
}

// dead makes the row a dead letter.
func dead(row Row, why Reason, err error) Row {
	row.Status, row.Reason, row.LastError = Dead, why, err.Error()
	return row
}

// release writes the end of the worker's hold on a row; why is what ended it, nil
// when nothing failed, and ended is what became of actions of its turn.
func (w *Worker) release(ctx context.Context, row Row, why error, ended ...action.Ended) {
	log := w.cfg.Log.With("row", row.ID, "turn", row.TurnID, "attempts", row.Attempts)
	switch {
	case row.Status == Dead:
		log.Error("outbox row is a dead letter", "reason", row.Reason, cause(why))
	case why != nil:
		log.Warn("outbox delivery failed, will be tried again", cause(why))
	case row.Status == Delivered:
		log.Info("outbox row delivered")
	}
	w.persist(ctx, "release", row, func(ctx context.Context) error { return w.cfg.Store.Release(ctx, row, ended) })
	w.key.left(row, why != nil && !row.Status.Final(), w.cfg.Now())
}

// cause is what a log says of a failed delivery: ManyChat's message and the names of
// the account's objects stay in the row's last_error.
func cause(err error) slog.Attr {
	var call *manychat.Error
	if errors.As(err, &call) {
		return slog.Group("manychat", "endpoint", call.Endpoint, "kind", call.Kind, "status", call.Status, "code", call.Code)
	}
	return slog.Any("error", err)
}

// persist runs a write until the database takes it or the row turns out to be another
// owner's. A stopped worker tries a little longer, because what it writes down has
// already happened; then the row stays as it is and the next start takes it over.
func (w *Worker) persist(ctx context.Context, what string, row Row, write func(context.Context) error) bool {
	last, cancel := afterStop(ctx, writeAfterStop)
	defer cancel()
	for logged := false; ; logged = true {
		try, cancel := context.WithTimeout(last, writeWithin)
		err := write(try)
		cancel()
		if err == nil {
			return true
		}
		if errors.Is(err, ErrNotOwner) || last.Err() != nil {
			w.cfg.Log.Error("outbox "+what+" was not written", "row", row.ID, "error", err)
			return false
		}
		if !logged {
			w.cfg.Log.Error("outbox "+what+" not written, trying until the database takes it", "row", row.ID, "error", err)
		}
		wait(last, writeEvery)
	}
}

// afterStop is a context that ends a while after another one does.
func afterStop(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	last, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		wait(last, grace)
		cancel()
	})
	return last, func() {
		stop()
		cancel()
	}
}
