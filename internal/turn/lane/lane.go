// Package lane is what one process knows of its own turns beside the database: which of them
// it works on, which wait for an earlier turn of their contact, and whether any are in
// flight.
package lane

import (
	"maps"
	"slices"
	"sync"
)

// Waiters are the turns of a process that wait. It is safe for concurrent use.
type Waiters struct {
	mu    sync.Mutex
	turns map[string]*Waiter            // by turn
	of    map[string]map[string]*Waiter // by conversation and turn
}

// Waiter is one turn that waits. C holds a word when it should look again.
type Waiter struct {
	C chan struct{}

	all                  *Waiters
	turn, conversationID string
}

// Join adds a turn of a conversation. The caller leaves.
func (w *Waiters) Join(turnID, conversationID string) *Waiter {
	one := &Waiter{C: make(chan struct{}, 1), all: w, turn: turnID, conversationID: conversationID}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turns == nil {
		w.turns, w.of = map[string]*Waiter{}, map[string]map[string]*Waiter{}
	}
	w.turns[turnID] = one
	if w.of[conversationID] == nil {
		w.of[conversationID] = map[string]*Waiter{}
	}
	w.of[conversationID][turnID] = one
	return one
}

// Leave ends the wait.
func (one *Waiter) Leave() {
	w := one.all
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, one.turn)
	if of := w.of[one.conversationID]; of != nil {
		delete(of, one.turn)
		if len(of) == 0 {
			delete(w.of, one.conversationID)
		}
	}
}

// Wake makes the turns look again that wait in a conversation; empty: all that wait.
func (w *Waiters) Wake(conversationID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	waiting := w.of[conversationID]
	if conversationID == "" {
		waiting = w.turns
	}
	wake(slices.Collect(maps.Values(waiting)))
}

// WakeTurn makes one turn look again.
func (w *Waiters) WakeTurn(turnID string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if one := w.turns[turnID]; one != nil {
		wake([]*Waiter{one})
	}
}

func wake(waiting []*Waiter) {
	for _, one := range waiting {
		select {
		case one.C <- struct{}{}:
		default:
		}
	}
}
