package lane

import "sync"

// Hands are the turns that a process works on. It is safe for concurrent use.
type Hands struct {
	mu    sync.Mutex
	turns map[string]int // how many parts of its work are not done
}

// Take notes a turn whose work has a number of parts.
func (h *Hands) Take(turnID string, parts int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turns == nil {
		h.turns = map[string]int{}
	}
	h.turns[turnID] += parts
}

// Done notes that one part is done.
func (h *Hands) Done(turnID string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.turns[turnID] > 1 {
		h.turns[turnID]--
		return
	}
	delete(h.turns, turnID)
}

// Hold reports whether the process works on a turn.
func (h *Hands) Hold(turnID string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.turns[turnID] > 0
}

// Flight counts goroutines that may begin while others wait for the last to end.
type Flight struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when none is left; nil: nobody waits
}

// Go runs fn in a goroutine of its own.
func (f *Flight) Go(fn func()) {
	f.mu.Lock()
	f.n++
	f.mu.Unlock()
	go func() {
		defer f.done()
		fn()
	}()
}

func (f *Flight) done() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n--; f.n == 0 && f.idle != nil {
		close(f.idle)
		f.idle = nil
	}
}

// Idle is closed as soon as no goroutine is left.
func (f *Flight) Idle() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == 0 {
		none := make(chan struct{})
		close(none)
		return none
	}
	if f.idle == nil {
		f.idle = make(chan struct{})
	}
	return f.idle
}
