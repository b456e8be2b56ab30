// Package carry says what an open response can carry of a contact's earlier replies, which are
// still queued, before the turn's own. It is pure.
package carry

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// Load is the queued reply rows of a contact, in their order.
type Load []outbox.Row

// Terms are what decides whether a response can carry a load.
type Terms struct {
	Shape  delivery.Shape // of the contact's channel
	Now    time.Time
	MaxAge time.Duration // OUTBOX_MAX_AGE_MIN
}

// Fits reports whether one response can carry what is unsent of the rows, and a turn's own texts
// behind it.
func (l Load) Fits(own []string, t Terms) bool {
	for _, row := range l {
		if row.Status != outbox.Pending || row.Payload.PlaysUntil.After(t.Now) || t.Now.Sub(row.CreatedAt) > t.MaxAge ||
			row.Payload.Sent >= len(row.Payload.Texts) || row.Recallable() {
			return false
		}
	}
	_, later := t.Shape.Cut(l.Together(own, t.Shape))
	return len(later) == 0
}

// Together are the texts of a response: what it carries, and then its own.
func (l Load) Together(own []string, shape delivery.Shape) []string {
	if len(l) == 0 {
		return own
	}
	var texts []string
	for _, row := range l {
		texts = append(texts, row.Payload.Texts[row.Payload.Sent:]...)
	}
	return shape.Texts(slices.Concat(texts, own))
}
