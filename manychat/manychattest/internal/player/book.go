package player

import (
	"slices"
	"sync"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Book holds the account's flows in the order they were defined.
type Book struct {
	Play func(contact string, f phone.Flow) // how a flow is started

	mu   sync.Mutex
	list []phone.Flow
}

// Put adds a flow, or replaces the one with its namespace.
func (b *Book) Put(f phone.Flow) {
	b.mu.Lock()
	defer b.mu.Unlock()
	f.Steps = slices.Clone(f.Steps)
	if i := b.index(f.NS); i >= 0 {
		b.list[i] = f
		return
	}
	b.list = append(b.list, f)
}

func (b *Book) index(ns string) int {
	return slices.IndexFunc(b.list, func(f phone.Flow) bool { return f.NS == ns })
}

// Get finds a flow by its namespace.
func (b *Book) Get(ns string) (phone.Flow, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := b.index(ns); i >= 0 {
		return b.list[i], true
	}
	return phone.Flow{}, false
}

// List is every flow.
func (b *Book) List() []phone.Flow {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.list)
}

// Has reports whether there is a flow with the namespace.
func (b *Book) Has(ns string) bool {
	_, ok := b.Get(ns)
	return ok
}

// Start plays a flow, if it exists.
func (b *Book) Start(contact, ns string) {
	if f, ok := b.Get(ns); ok {
		b.Play(contact, f)
	}
}
