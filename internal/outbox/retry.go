package outbox

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// The schedule of docs/spec/05-delivery.md, "Outbox": 2 s doubling to 300 s, which
// is also the longest Retry-After that is honoured.
const (
	firstRetry = 2 * time.Second
	lastRetry  = 300 * time.Second
	// unauthorizedRetry is how often a row is tried again while ManyChat refuses the
	// API token: a rotated key must not dead-letter everything.
	unauthorizedRetry = time.Minute
	// unknownTriggers is how many triggers of one text may lose their answer before
	// the row is dead: a slow success must not send twelve copies.
	unknownTriggers = 2
	// persistFor is how long a worker tries to write down what happened while the
	// database does not answer.
	persistFor = 30 * time.Second
	// persistEvery is the pause between those tries.
	persistEvery = 250 * time.Millisecond
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
		w.cfg.Log.Error("ManyChat refuses the API token: set MANYCHAT_API_TOKEN to a valid key; replies stay queued")
		row = handBack(row)
		row.LastError, row.NextAttemptAt = err.Error(), w.cfg.Now().Add(unauthorizedRetry)
		return row
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

// retry makes the row pending again after a delay, or dead when its attempts are
// used up.
func (w *Worker) retry(row Row, err error, after time.Duration) Row {
	if row.Attempts >= w.cfg.MaxAttempts {
		return dead(row, ReasonExhausted, err)
	}
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

// dead makes the row a dead letter.
func dead(row Row, why Reason, err error) Row {
	row.Status, row.Reason, row.LastError = Dead, why, err.Error()
	return row
}

// release writes the end of the worker's hold on a row; why is what ended it, nil
// when nothing failed.
func (w *Worker) release(ctx context.Context, row Row, why error) {
	log := w.cfg.Log.With("row", row.ID, "turn", row.TurnID, "attempts", row.Attempts)
	switch {
	case row.Status == Dead:
		log.Error("outbox row is a dead letter", "reason", row.Reason, cause(why))
	case why != nil:
		log.Warn("outbox delivery failed, will be tried again", cause(why))
	case row.Status == Delivered:
		log.Info("outbox row delivered")
	}
	w.persist(ctx, "release", row, func(ctx context.Context) error { return w.cfg.Store.Release(ctx, row) })
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

// persist runs a write until the database takes it, the row turns out to be another
// owner's, or persistFor has passed; then the row stays as it is and is taken over
// later. It outlives ctx, because what it writes down has already happened.
func (w *Worker) persist(ctx context.Context, what string, row Row, write func(context.Context) error) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), persistFor)
	defer cancel()
	for {
		err := write(ctx)
		if err == nil {
			return true
		}
		if !errors.Is(err, ErrNotOwner) {
			timer := time.NewTimer(persistEvery)
			select {
			case <-timer.C:
				continue
			case <-ctx.Done():
				timer.Stop()
			}
		}
		w.cfg.Log.Error("outbox "+what+" was not written", "row", row.ID, "error", err)
		return false
	}
}
