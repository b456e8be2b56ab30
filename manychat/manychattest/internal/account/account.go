// Package account is the state of the emulated ManyChat account: contacts, tags,
// custom fields, bot fields, chats and armed callbacks, behind one lock.
package account

import (
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Account guards a [State].
type Account struct {
	mu      sync.Mutex
	state   *State
	now     func() time.Time
	changed func(Change)
	flush   func()
}

// Change tells what one [Account.Update] did, in its order. Item is nil when a
// contact or the account changed in another way.
type Change struct {
	Contact string
	Item    *phone.Item
}

// Hooks are told of changes: Changed under the lock, in order, and Flush after
// the lock is released.
type Hooks struct {
	Changed func(Change)
	Flush   func()
}

// New makes an empty account.
func New(now func() time.Time, hooks Hooks) *Account {
	return &Account{state: newState(), now: now, changed: hooks.Changed, flush: hooks.Flush}
}

// Update runs f alone with the state. Changes that f makes are kept even when it
// returns an error, which Update passes on.
func (a *Account) Update(f func(*State) error) error {
	err := a.locked(f)
	a.flush()
	return err
}

func (a *Account) locked(f func(*State) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.now = a.now()
	err := f(a.state)
	for _, c := range a.state.changes {
		a.changed(c)
	}
	a.state.changes = nil
	return err
}

// View runs f alone with the state, which f must not change.
func (a *Account) View(f func(*State)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.state.now = a.now()
	f(a.state)
}

// Snapshot is the state as JSON.
func (a *Account) Snapshot() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return json.Marshal(a.state)
}

// Restore replaces the state by a snapshot.
func (a *Account) Restore(data []byte) error {
	s := newState()
	if err := json.Unmarshal(data, s); err != nil {
		return fmt.Errorf("restoring the account: %w", err)
	}
	if s.Contacts == nil {
		s.Contacts = map[string]*Contact{}
	}
	for id, c := range s.Contacts {
		if c == nil {
			return fmt.Errorf("restoring the account: contact %s is null", id)
		}
		c.ensureMaps()
	}
	a.mu.Lock()
	a.state = s
	a.mu.Unlock()
	return a.Update(func(s *State) error { s.Touch(""); return nil })
}
