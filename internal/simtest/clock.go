package simtest

import (
	"sync/atomic"
	"time"
	"unsafe"
)

// wall is the clock of a machine: somebody may set the time of day, while the time that has
// passed goes on as before.
type wall struct{ ahead atomic.Int64 } // whole seconds

// set moves the time of day by whole seconds.
func (w *wall) set(seconds int64) { w.ahead.Add(seconds) }

// Now is the time of day as it is set, with the monotonic reading of the bubble's clock. No
// function of package time makes one of the two differ from the other, as the real clock
// does when it is set.
func (w *wall) Now() time.Time {
	now := time.Now()
	// The first word of a [time.Time] with a monotonic reading holds the seconds above the
	// 30 bits of its nanoseconds.
	word := (*uint64)(unsafe.Pointer(&now))
	*word += uint64(w.ahead.Load()) << 30
	return now
}
