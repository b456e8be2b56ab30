package postgres

import (
	"testing"
	"time"
)

// Holds docs/spec/15-storage.md: when the server's clock is set, no deadline of a turn in flight
// jumps with it.
func TestClockFollows(t *testing.T) {
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	c := &Clock{own: func() time.Time { return at }, began: time.Now()}
	for _, step := range []struct {
		measured measured
		set      time.Duration // the machine's clock, since the beginning
		want     time.Duration
	}{
		{measured{15 * time.Millisecond, 20 * time.Millisecond}, 0, 0},
		{measured{100 * time.Millisecond, 20 * time.Millisecond}, 0, 100 * time.Millisecond},
		{measured{0, 300 * time.Millisecond}, 0, 100 * time.Millisecond}, // a slow answer contradicts nothing
		{measured{time.Hour, 20 * time.Millisecond}, 0, 350 * time.Millisecond},
		{measured{time.Hour, time.Second}, 0, 600 * time.Millisecond},
		{measured{-time.Hour, 20 * time.Millisecond}, 0, 350 * time.Millisecond},
		{measured{320 * time.Millisecond, 20 * time.Millisecond}, 0, 320 * time.Millisecond},
		{measured{320 * time.Millisecond, 20 * time.Millisecond}, time.Hour, 320 * time.Millisecond}, // somebody set the machine's clock
		{measured{2 * time.Hour, 20 * time.Millisecond}, time.Hour, 570 * time.Millisecond},
		{measured{time.Hour, 20 * time.Millisecond}, 2 * time.Hour, time.Hour}, // it was suspended
	} {
		c.follow(step.measured, step.set)
		if got := c.Now().Sub(at); got != step.want {
			t.Errorf("after %v it is ahead by %v, want %v", step.measured, got, step.want)
		}
	}
}
