package simtest

import (
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

// wishes are the messages by which contacts end all messages, and take that back.
type wishes struct{ end, back map[string]bool }

// forgedEnd is the one of the messages sent in a contact's name by somebody else that asks for an
// end, too. It is the contact's own as far as anybody can tell while it is bound, in their first
// burst, and asks for nothing behind that.
const forgedEnd = 4

// wish draws who ends all messages, and when they take it back. The seeds that once broke an
// invariant are played as they were then.
func (w *World) wish() {
	w.wishes = wishes{map[string]bool{}, map[string]bool{}}
	if slices.Contains(found(), int(w.dice.seed)) {
		return
	}
	var ends, backs []string
	for i := range contacts {
		forged := nameOf(i, forgedEnd, true)
		w.wishes.end[forged], ends = true, append(ends, textOf(forged, "end"))
		if !w.dice.chance("ends messages", 0.12) {
			continue
		}
		n := w.dice.below("ends messages", perContact-1)
		w.wishes.end[nameOf(i, n, false)] = true
		ends = append(ends, textOf(nameOf(i, n, false), "end"))
		if n += 1 + w.dice.below("takes back", 4); n < perContact {
			w.wishes.back[nameOf(i, n, false)] = true
			backs = append(backs, textOf(nameOf(i, n, false), "back"))
		}
	}
	w.business.Keywords.OptOut, w.business.Keywords.OptIn = keyword.NewSet(ends), keyword.NewSet(backs)
}

// textOf is what a message says: a question, or what a contact wishes.
func textOf(name, wish string) string {
	switch wish {
	case "end":
		return "Please write to me no more, number " + name
	case "back":
		return "Please write to me again, number " + name
	}
	return "A question, number " + name + ", about the courses on offer"
}

// textOf is the text of a contact's message.
func (w *World) textOf(name string) string {
	switch {
	case w.wishes.end[name]:
		return textOf(name, "end")
	case w.wishes.back[name]:
		return textOf(name, "back")
	}
	return textOf(name, "")
}

// muted is a stretch in which a contact wants no messages, and the turn that ended them.
type muted struct {
	span // zero end: for good
	by   *turnRow
}

// wishesHold: who ended all messages reads that once and nothing more of any turn, until they
// take it back; and nobody is taken to have done so who did not.
func wishesHold(r *records) {
	for i := range contacts {
		stretches := r.mutedOf(i)
		goodbyes, most := 0, 0
		for _, b := range r.bubbles[i] {
			if strings.Contains(b.text, r.w.business.Rules.Messages.OptOut) {
				goodbyes++
			}
		}
		for _, m := range stretches {
			if len(m.by.replies) > 0 {
				most++
			}
			r.checkMuted(i, m)
		}
		if goodbyes > most && !r.mayRepeat(i) {
			r.w.violate("c%d reads the answer to the end of messages %d times, and is to read it at most %d times", i, goodbyes, most)
		}
	}
}

// mutedOf goes through a contact's bound turns in their order, and checks how each ended.
func (r *records) mutedOf(contact int) (all []muted) {
	answered := map[*turnRow][]string{}
	for _, t := range r.turns {
		if end := r.end(t); end != nil && t.outcome != "duplicate" {
			answered[end] = append(answered[end], t.name())
		}
	}
	mute := false
	for _, t := range r.turns {
		names := answered[t]
		if t.contact != contact || len(names) == 0 {
			continue
		}
		ends := t.bound && slices.ContainsFunc(names, func(name string) bool { return r.w.wishes.end[name] })
		back := t.bound && !ends && slices.ContainsFunc(names, func(name string) bool { return r.w.wishes.back[name] })
		switch {
		case !t.bound:
			continue
		case !mute && ends:
			all, mute = append(all, muted{span{from: t.settled}, t}), true
		case mute && back:
			all[len(all)-1].to, mute = t.received, false // what its turn sends before it settles is wanted
		}
		if said := t.outcome == "opted_out"; said != mute && t.reason != "overload" {
			r.w.violate("the turn of %v ended %s, and its contact wants no messages: %t", names, t.outcome, mute)
		}
	}
	return all
}

// inHand is how long behind the end of messages something that was in a worker's hand may
// still arrive: two calls, and what a network has of them.
const inHand = 75 * time.Second

// checkMuted looks at one stretch in which a contact wants no messages.
func (r *records) checkMuted(contact int, m muted) {
	for _, text := range m.by.replies {
		if text != r.w.business.Rules.Messages.OptOut {
			r.w.violate("the turn of %s, which ends messages, says %s", m.by.name(), shortly(text))
		}
	}
	for _, row := range m.by.rows {
		if row.kind == "reply" && row.status == "discarded" {
			r.w.violate("the answer to %s, which ends messages, was discarded", m.by.name())
		}
	}
	if len(r.w.sets) > 0 {
		return // the database's times are of other clocks
	}
	within := func(at time.Time) bool { return at.After(m.from) && (m.to.IsZero() || at.Before(m.to)) }
	for _, t := range r.turns {
		// A turn that proves nothing is in no lane: it may settle while the end of messages is being written.
		if !t.bound && !t.received.After(m.from.Add(inHand)) {
			continue
		}
		if t.contact == contact && t != m.by && within(t.settled) && t.path != "silent" && t.outcome != "merged" {
			r.w.violate("the turn of %s ended %s by %s when its contact wanted no messages", t.name(), t.outcome, t.path)
		}
	}
	for _, b := range r.bubbles[contact] {
		if within(b.at) && b.at.After(m.from.Add(inHand)) && b.text != r.w.business.Rules.Messages.OptOut && b.text != r.w.business.Rules.Messages.Escalation {
			r.w.violate("c%d reads %s when they want no messages", contact, shortly(b.text))
		}
	}
}

// mayRepeat reports whether a text may have reached a contact twice: ManyChat's answer was
// lost, or a process died or stood still.
func (r *records) mayRepeat(contact int) bool {
	return r.lies[contact] || slices.ContainsFunc(r.w.journal, func(a *asked) bool { return a.contact == contact && a.kind == startsReply && !a.told }) ||
		slices.ContainsFunc(r.w.all, func(p *process) bool { return !p.died.IsZero() || len(p.frozen) > 0 || len(p.cutOff) > 0 })
}
