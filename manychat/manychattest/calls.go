package manychattest

import (
	"slices"
	"sync"
)

// callLog remembers the newest calls.
type callLog struct {
	limit int

	mu   sync.Mutex
	list []Call
}

func (l *callLog) add(c Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.list) >= 2*l.limit { // drop half at a time, so that adding stays cheap
		l.list = slices.Clone(l.list[len(l.list)-l.limit:])
	}
	l.list = append(l.list, c)
}

func (l *callLog) all() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.list[max(0, len(l.list)-l.limit):])
}

func (l *callLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = nil
}
