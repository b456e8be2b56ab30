package postgres

import (
	"testing"
	"time"
)

// Holds docs/spec/15-storage.md: when the server's clock is set, no deadline of a turn in flight
// jumps with it.
func TestClockFollows(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := &Clock{own: func() time.Time { return at }}
	for _, step := range []struct{ measured, want time.Duration }{
		{100 * time.Millisecond, 100 * time.Millisecond},
		{time.Hour, 350 * time.Millisecond},
		{time.Hour, 600 * time.Millisecond},
		{-time.Hour, 350 * time.Millisecond},
		{340 * time.Millisecond, 340 * time.Millisecond},
	} {
		c.follow(step.measured)
		if got := c.Now().Sub(at); got != step.want {
			t.Errorf("after %v it is ahead by %v, want %v", step.measured, got, step.want)
		}
	}
}
