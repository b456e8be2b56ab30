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

// Now is the time of day as it is set, with a monotonic reading that was not. In a bubble
// time.Now has none, and no function of package time makes one, so it is put together here as
// [time.Time] keeps it.
func (w *wall) Now() time.Time {
	now := time.Now()
	const monotonic, nanoseconds = 1 << 63, 30 // a flag, and the bits below the seconds
	seconds := uint64(now.Unix() + w.ahead.Load() - firstYear().Unix())
	words := (*[2]uint64)(unsafe.Pointer(&now))
	passed := uint64(now.UnixNano())
	words[0] = monotonic | seconds<<nanoseconds | uint64(now.Nanosecond())
	words[1] = passed
	return now
}

// firstYear is where the seconds of a time with a monotonic reading count from.
func firstYear() time.Time { return time.Date(1885, 1, 1, 0, 0, 0, 0, time.UTC) }
