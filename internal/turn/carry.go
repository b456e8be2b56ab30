package turn

import (
	"context"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// planWithin bounds the look at what is queued before a reply.
const planWithin = time.Second

// plan decides whether the open response can carry the contact's replies that are queued,
// before the turn's own: so that a ManyChat API that is down does not silence a contact whom
// ManyChat can still show the response. Whether they are still queued so is for the settling
// transaction to say.
func (w *way) plan(rec Recorded) {
	if !rec.Turn.Bound || w.queued || !rec.QueuedAhead || w.x.Closed() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), planWithin)
	defer cancel()
	ahead, err := w.x.r.cfg.Lane.Ahead(ctx, rec.Turn.ConversationID)
	if err != nil {
		w.x.r.cfg.Log.Warn("queued replies not read; this one follows them", "turn", w.turn.ID, "error", err)
	}
	if err != nil || !w.fits(ahead) {
		w.queued = true
		return
	}
	w.ahead = ahead
	for _, row := range ahead {
		w.carried = append(w.carried, Carried{
			ID: row.ID, Sent: row.Payload.Sent, Texts: len(row.Payload.Texts), Acts: len(row.Payload.Actions) > 0,
		})
	}
}

// fits reports whether one response can carry what is unsent of the rows, and the turn's own
// texts behind it.
func (w *way) fits(ahead []outbox.Row) bool {
	now := w.x.r.cfg.Now()
	for _, row := range ahead {
		if row.Status != outbox.Pending || row.Payload.PlaysUntil.After(now) || now.Sub(row.CreatedAt) > w.x.r.cfg.MaxAge ||
			row.Payload.Sent >= len(row.Payload.Texts) {
			return false
		}
	}
	w.ahead = ahead
	_, later := w.x.shape.Cut(w.together(w.texts))
	return len(later) == 0
}

// together are the texts of a response: what it carries of earlier replies, and then its own.
func (w *way) together(own []string) []string {
	if len(w.carried) == 0 && len(w.ahead) == 0 {
		return own
	}
	var texts []string
	for _, row := range w.ahead {
		texts = append(texts, row.Payload.Texts[row.Payload.Sent:]...)
	}
	return w.x.shape.Texts(slices.Concat(texts, own))
}
