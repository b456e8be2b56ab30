package joint

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// The topics of what processes on one database tell each other.
const (
	laneFreed = "lane"   // with a conversation: its next turn may start, or is another's now
	rowsDue   = "outbox" // rows were written by a process that has no worker
)

// mostFreed is how many conversations may wait to be told about; more are left to those that
// look for themselves every second.
const mostFreed = 1024

// Signals are what this process tells the others on its database, and hears from them. All of
// it is a hint: whoever waits looks for itself too.
type Signals struct {
	db    *store.DB
	freed chan string
	due   chan struct{}
}

// NewSignals are those of a process on a database.
func NewSignals(db *store.DB) *Signals {
	return &Signals{db: db, freed: make(chan string, mostFreed), due: make(chan struct{}, 1)}
}

// Freed notes that a conversation's next turn may start. It never blocks.
func (s *Signals) Freed(conversationID string) {
	if !s.db.Shared() {
		return
	}
	select {
	case s.freed <- conversationID:
	default:
	}
}

// Due notes that rows were written. It never blocks.
func (s *Signals) Due() {
	select {
	case s.due <- struct{}{}:
	default:
	}
}

// Tell tells the others until ctx ends: of a conversation only when a turn waits in it.
func (s *Signals) Tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.due:
			_ = s.db.Notify(ctx, rowsDue, "") // who is not told looks for itself
		case id := <-s.freed:
			if waits, err := s.db.Waits(ctx, id); err == nil && waits {
				_ = s.db.Notify(ctx, laneFreed, id)
			}
		}
	}
}

// Hear passes on what others tell until ctx ends. An empty topic says that something may have
// been missed.
func (s *Signals) Hear(ctx context.Context, turns *turn.Runner, worker *outbox.Worker) {
	s.db.Listen(ctx, func(topic, payload string) {
		if topic != rowsDue {
			turns.Wake(payload)
		}
		if topic != laneFreed {
			worker.Wake()
		}
	})
}
