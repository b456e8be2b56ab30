package turn_test

import (
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// awaitCrash waits for the moment of a crash: any, or for every other one a moment behind
// an answer that is about to be written, or a request for an action that arrived.
func (w *world) awaitCrash() {
	ripe := w.ripe
	if w.dice.chance("crash", 0.5) {
		ripe = nil
	}
	select {
	case <-time.After(w.duration("crash", 40*time.Second)):
	case <-ripe:
		time.Sleep(w.duration("crash", 20*ms))
	}
}

// ripens offers a moment for a crash.
func (w *world) ripens(stream string) {
	if !w.dice.chance("ripe "+stream, 0.05) {
		return
	}
	select {
	case w.ripe <- struct{}{}:
	default:
	}
}

// crash ends a process wherever it is and starts the next one. Every other one that is alone
// is only taken for dead and lingers.
func (w *world) crash(p *process) {
	lingers := w.dice.chance("crash", 0.5) && !w.pair
	w.trace("CRASH of %s, lingers: %t", p.name, lingers)
	p.die(lingers)
	w.allowRepeats()
	w.replace(p)
}

// allowRepeats notes of what a crash leaves open whether it went out: the texts and the
// parts of notices in the worker's hand, and what a response that is not stamped carries
// and what follows it.
func (w *world) allowRepeats() {
	rows := w.list(outbox.Delivering)
	turns := w.recent()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range rows {
		if r.Kind == outbox.HandoffNotice {
			part := noticePart(w.recorded[r.TurnID], r.Payload.Actions[0].ID)
			w.lost[part], w.repeats[part] = true, true
		}
		if r.Kind != outbox.Reply {
			continue
		}
		for i, text := range r.Payload.Texts[r.Payload.Sent:] {
			if i == 0 || strings.HasPrefix(r.Owner, "response/") {
				w.repeats[text] = true
			}
		}
	}
	for _, t := range turns {
		if t.State == conversation.Answering {
			w.lost[t.FirstName] = true
			now, _ := shapes(w.t).For(contact.WhatsApp).Cut(t.Replies)
			for _, text := range now {
				w.repeats[text] = true
			}
		}
	}
}
