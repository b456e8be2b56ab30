// Package broadcast hands events to subscribers in the order they were queued,
// without a goroutine of its own: whoever queues an event while nobody is
// delivering delivers it, and all that are queued meanwhile.
package broadcast

import (
	"maps"
	"slices"
	"sync"
)

// Hub is ready to use as a zero value and safe for concurrent use.
type Hub[E any] struct {
	mu         sync.Mutex
	queue      []E
	delivering bool
	next       int
	subs       map[int]func(E)
}

// Subscribe calls f with every later event, one at a time, until cancel is
// called. f may call back into anything, this hub included.
func (h *Hub[E]) Subscribe(f func(E)) (cancel func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.subs == nil {
		h.subs = map[int]func(E){}
	}
	id := h.next
	h.next++
	h.subs[id] = f
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.subs, id)
	}
}

// Queue adds events without delivering them. Call it under the lock that orders
// the changes they tell of, and [Hub.Flush] after releasing it.
func (h *Hub[E]) Queue(events ...E) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subs) > 0 {
		h.queue = append(h.queue, events...)
	}
}

// Flush delivers what is queued, unless another goroutine (or a caller further up
// the stack) is doing so already.
func (h *Hub[E]) Flush() {
	h.mu.Lock()
	if h.delivering {
		h.mu.Unlock()
		return
	}
	h.delivering = true
	for len(h.queue) > 0 {
		batch := h.queue
		h.queue = nil
		subs := h.ordered()
		h.mu.Unlock()
		for _, e := range batch {
			for _, f := range subs {
				f(e)
			}
		}
		h.mu.Lock()
	}
	h.delivering = false
	h.mu.Unlock()
}

func (h *Hub[E]) ordered() []func(E) {
	fs := make([]func(E), 0, len(h.subs))
	for _, id := range slices.Sorted(maps.Keys(h.subs)) {
		fs = append(fs, h.subs[id])
	}
	return fs
}
