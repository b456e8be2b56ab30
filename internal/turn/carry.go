package turn

import (
	"context"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/turn/carry"
)

// planWithin bounds the look at what is queued before a reply.
const planWithin = time.Second

// plan decides whether the open response can carry the contact's replies that are queued,
// before the turn's own: so that a ManyChat API that is down does not silence a contact whom
// ManyChat can still show the response. Whether they are still queued so is for the settling
// transaction to say. With an opt-out none of them goes out.
func (w *way) plan(rec Recorded) {
	if !rec.Turn.Bound || w.queued || !rec.QueuedAhead || w.x.Closed() || w.x.wish().Out {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), planWithin)
	defer cancel()
	ahead, err := w.x.r.cfg.Lane.Ahead(ctx, rec.Turn.ConversationID)
	if err != nil {
		w.x.r.cfg.Log.Warn("queued replies not read; this one follows them", "turn", w.turn.ID, "error", err)
	}
	load := carry.Load(ahead)
	if err != nil || !load.Fits(w.texts, carry.Terms{Shape: w.x.shape, Now: w.x.r.cfg.Now(), MaxAge: w.x.r.cfg.MaxAge}) {
		w.queued = true
		return
	}
	w.ahead = load
	for _, row := range ahead {
		w.carried = append(w.carried, Carried{
			ID: row.ID, Sent: row.Payload.Sent, Texts: len(row.Payload.Texts), Acts: len(row.Payload.Actions) > 0,
		})
	}
}
