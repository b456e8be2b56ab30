package simtest

import (
	"testing"
	"testing/synctest"
	"time"
)

// Holds docs/spec/17-quality.md, "Reliability": in a play a clock can be set, and what was
// measured by the time that passed does not jump.
func TestWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w wall
		if now := w.Now(); !now.Round(0).Equal(time.Now()) {
			t.Errorf("the clock says %s at %s", now, time.Now())
		}
		before := w.Now()
		time.Sleep(time.Second)
		w.set(-90)
		if passed := w.Now().Sub(before); passed != time.Second {
			t.Errorf("%s passed", passed)
		}
		if ahead := time.Until(w.Now().Round(0)); ahead != -90*time.Second {
			t.Errorf("the clock is ahead by %s", ahead)
		}
	})
}
