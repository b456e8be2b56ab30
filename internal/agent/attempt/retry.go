package attempt

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// The waits between attempts: they double from the first to the longest. A contact waits
// for the answer, so they begin short.
const (
	firstWait   = 300 * time.Millisecond
	longestWait = 5 * time.Second
)

// pause is how long to wait after a number of failed attempts, at least what the provider
// asked for; again is false when trying again cannot help, or not before ctx ends.
func (t *Turn) pause(ctx context.Context, err error, failures int) (wait time.Duration, again bool) {
	var e *llm.Error
	if !errors.As(err, &e) || !e.Retryable() {
		return 0, false
	}
	longest := firstWait << min(failures-1, 10)
	wait = t.caller.config.Jitter(min(longest, longestWait))
	wait = max(wait, e.RetryAfter)
	deadline, bounded := ctx.Deadline()
	return wait, !bounded || wait < deadline.Sub(t.caller.config.Now())
}

// sleep waits, and reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// Jitter is somewhere between the half of a wait and the whole, so that calls that failed
// together do not come again together.
func Jitter(d time.Duration) time.Duration {
	if d <= 1 {
		return d
	}
	return d/2 + rand.N(d/2)
}
