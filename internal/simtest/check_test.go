package simtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// check looks whether every invariant held.
func (w *World) check() {
	r := w.read()
	for _, holds := range []func(*records){
		messagesAreRecorded, messagesAreAnswered, repliesArrive, repliesKeepTheirOrder, textsReachTheirContact, textsAreOfTheirTurn,
		textsRepeatWithCause, copiesArrive, actionsFollowTheirText, actionsHappenOnce, handoffsDoNothing, oneTurnRuns, theDeadStartNothing, writesAreTheOwners,
		responsesKeepTheBound, wishesHold, budgetHolds, logsAreClean,
		nudgesKeepTheirRules, nudgesComeOnce, nudgesAreWithdrawn,
		salesAddUp, linksAreFollowed, onceIsOnce,
	} {
		holds(r)
	}
}

// messagesAreRecorded: a message that was accepted is in the database, and one is handed off
// unrecorded only where the database was in trouble.
func messagesAreRecorded(r *records) {
	byName := map[string][]*request{}
	for _, q := range r.w.requests {
		if !q.began.IsZero() {
			byName[q.name] = append(byName[q.name], q)
		}
	}
	recorded := map[string]int{}
	inline, outbox := map[string]int{}, map[string]int{}
	for _, t := range r.turns {
		recorded[t.name()]++
		switch {
		case !t.escalated():
		case t.path == "inline":
			inline[t.name()]++
		case t.path == "outbox":
			outbox[t.name()]++
		}
	}
	for name, requests := range byName {
		accepted, copies, must, excused := 0, 0, 0, false
		for _, q := range requests {
			until := q.wrote
			if until.IsZero() {
				until = q.process.died
			}
			s := span{q.began, until}
			trouble := q.process.wasFrozen(s) || q.process.wasTroubled(s)
			excused = excused || trouble
			texts := q.texts()
			switch {
			case q.status == 200 && len(texts) == 1 && texts[0] == r.w.business.Rules.Messages.Escalation:
				if copies++; outbox[name] > 0 && q.diedBehind() { // it was inline, and its stamp was lost
					inline[name]++
				}
			case q.status == 200 && !q.wrote.IsZero():
				accepted++
			case q.wrote.IsZero() && !trouble && q.process.died.Sub(q.began) > time.Second:
				must++
			}
		}
		if n := recorded[name]; n < accepted+must || n > len(requests) {
			r.w.violate("%s was accepted %d times, was waiting %d times when its process died, and is recorded %d times", name, accepted, must, n)
		}
		if copies > inline[name] && !excused {
			r.w.violate("%s was handed off without being recorded, and nothing was in its way", name)
		}
	}
}

// messagesAreAnswered: every recorded message is answered by exactly one settled turn, a merged
// one by the turn that names it.
func messagesAreAnswered(r *records) {
	answered := map[*turnRow][]string{}
	for _, t := range r.turns {
		end := r.end(t)
		switch {
		case end == nil:
			r.w.violate("%s is %s for ever", t.name(), t.state)
			continue
		case t.outcome == "duplicate", t.isNudge(): // which answers none
			continue
		}
		answered[end] = append(answered[end], t.name())
	}
	for t, names := range answered {
		if t.outcome == "answered" {
			named := messagesIn(strings.Join(t.replies, " "))
			slices.Sort(named)
			slices.Sort(names)
			if !slices.Equal(named, slices.Compact(names)) {
				r.w.violate("the turn of %s answers %v, and is to answer %v", t.name(), named, names)
			}
		}
		told := t.escalated() && (r.w.business.Rules.EscalationQuietMinutes > 0 || slices.ContainsFunc(names, r.handedOff))
		if t.path == "silent" && t.reason != "overload" && t.outcome != "opted_out" && !told {
			r.w.violate("the turn of %s ended silently: %s %s", t.name(), t.outcome, t.reason)
		}
	}
}

// handedOff reports whether a response to a message said that a person takes over: it was not
// recorded in time, and turned up later.
func (r *records) handedOff(name string) bool {
	return slices.ContainsFunc(r.w.requests, func(q *request) bool {
		texts := q.texts()
		return q.name == name && q.status == 200 && len(texts) == 1 && texts[0] == r.w.business.Rules.Messages.Escalation
	})
}

// repliesArrive: every reply is delivered, or dead, withheld or discarded with its reason.
func repliesArrive(r *records) {
	for _, t := range r.turns {
		var excused []string
		for _, row := range t.rows {
			if row.status == "pending" || row.status == "delivering" || (row.status == "dead") != (row.reason != "") {
				r.w.violate("a row of %s, a %s, is %s for the reason %q", t.name(), row.kind, row.status, row.reason)
			}
			if row.kind == "reply" {
				excused = append(excused, row.unsent()...)
			}
		}
		for _, mark := range t.marks() {
			if r.shown(t.contact, mark) > 0 || r.lies[t.contact] || strings.Contains(strings.Join(excused, " "), mark) {
				continue
			}
			if slices.ContainsFunc(r.outs[mark], func(o out) bool { return o.inline && (!o.got || o.forged) || r.whileSet(o.at) }) {
				continue // the network swallowed the response, or another than ManyChat got it
			}
			r.w.violate("%s, of the turn of %s by %s, never arrived", mark, t.name(), t.path)
			break
		}
	}
}

// repliesKeepTheirOrder: a contact's replies arrive in turn order.
func repliesKeepTheirOrder(r *records) {
	for i := range contacts {
		var last time.Time
		before := ""
		for _, t := range r.turns {
			if t.contact != i || !t.bound {
				continue
			}
			for _, mark := range t.marks() {
				at := r.firstShown(i, mark)
				if at.IsZero() {
					continue
				}
				if late := last.Sub(at); late > 0 && !(late < 3*time.Second && r.whileSet(at)) {
					r.w.violate("%s arrived %s before %s, which is of an earlier turn or sentence", mark, late, before)
				}
				if at.After(last) && r.accepted(mark) {
					last, before = at, mark
				}
			}
		}
	}
}

// accepted reports whether a process ever heard that a mark was taken. What ManyChat denies and does
// all the same comes when it comes.
func (r *records) accepted(mark string) bool {
	return slices.ContainsFunc(r.outs[mark], func(o out) bool { return o.told })
}

// textsReachTheirContact: a text reaches only its contact.
func textsReachTheirContact(r *records) {
	for i, bubbles := range r.bubbles {
		for _, b := range bubbles {
			for _, name := range append(messagesIn(b.text), marksIn(b.text)...) {
				if contactOf(name) != i {
					r.w.violate("c%d reads %s", i, name)
				}
			}
		}
	}
	for _, a := range r.w.journal {
		if place, ok := placeIn(a.name); ok && (a.kind == acts || a.kind == sendsFlow) && place/(2*perContact) != a.contact {
			r.w.violate("what belongs to another contact was done: %s", a.what)
		}
	}
}

// textsAreOfTheirTurn: what a contact reads is of a settled turn, and is what that one says.
func textsAreOfTheirTurn(r *records) {
	said := map[string]bool{}
	for _, t := range r.turns {
		for _, mark := range t.marks() {
			said[mark] = true
		}
	}
	for i, bubbles := range r.bubbles {
		for _, b := range bubbles {
			for _, mark := range marksIn(b.text) {
				if !said[mark] {
					r.w.violate("c%d reads %s, which no settled turn says", i, mark)
					break
				}
			}
		}
	}
}

// textsRepeatWithCause: a text repeats only where ManyChat's answer was lost, or its process
// died, stood still or was cut off from the database until others took it for dead, between a
// write and its stamp.
func textsRepeatWithCause(r *records) {
	for i := range contacts {
		var repeated []string
		for mark, outs := range r.outs {
			if contactOf(mark) != i || r.shown(i, mark) < 2 || r.lies[i] {
				continue
			}
			excused, earlier := false, outs
			if len(outs) == r.shown(i, mark) {
				earlier = outs[:len(outs)-1] // the last needs no cause
			}
			for _, o := range earlier {
				s := span{o.at, o.at.Add(time.Minute)}
				excused = excused || !o.told || s.meets(span{o.process.died, o.process.died}) && !o.process.died.IsZero() || o.process.wasFrozen(s) || o.process.wasCutOff(s) || r.whileSet(o.at)
			}
			if !excused {
				repeated = append(repeated, mark)
			}
		}
		if len(repeated) > 0 {
			slices.Sort(repeated)
			r.w.violate("c%d reads %s %d times, without cause", i, repeated[0], r.shown(i, repeated[0]))
		}
	}
}

// copiesArrive: the copies of handoffs arrive, once a turn.
func copiesArrive(r *records) {
	escalation := r.w.business.Rules.Messages.Escalation
	for i, bubbles := range r.bubbles {
		shown, most, least, repeats, unread := 0, 0, 0, 0, 0
		for _, b := range bubbles {
			shown += strings.Count(b.text, escalation)
		}
		for _, t := range r.turns {
			if t.contact != i || !slices.Contains(t.replies, escalation) {
				continue
			}
			most++
			if len(t.rows) > 0 && t.rows[len(t.rows)-1].kind == "reply" && t.rows[len(t.rows)-1].status == "delivered" && t.path == "outbox" {
				least++
			}
		}
		for _, q := range r.w.requests {
			if contactOf(q.name) == i && slices.Contains(q.texts(), escalation) {
				most++ // handed off unrecorded, or written and then taken over
			}
			if contactOf(q.name) == i && !q.got {
				unread += strings.Count(strings.Join(q.texts(), "\n"), escalation) // written, or carried, for nobody
			}
		}
		for _, a := range r.w.journal {
			if a.contact == i && a.kind == startsReply && !a.told {
				repeats++
			}
		}
		for _, p := range r.w.all {
			if !p.died.IsZero() || len(p.frozen) > 0 {
				repeats++
			}
		}
		if shown > most+repeats || shown < least-unread && !r.lies[i] && len(r.w.sets) == 0 {
			r.w.violate("c%d reads the copy of a handoff %d times, and is to read it %d to %d times", i, shown, least, most)
		}
	}
}

// shown is how many bubbles of a contact hold a mark.
func (r *records) shown(contact int, mark string) (n int) {
	for _, b := range r.bubbles[contact] {
		if strings.Contains(b.text, mark) {
			n++
		}
	}
	return n
}

func (r *records) firstShown(contact int, mark string) time.Time {
	for _, b := range r.bubbles[contact] {
		if strings.Contains(b.text, mark) {
			return b.at
		}
	}
	return time.Time{}
}

// placeIn is the message that a tag, a flow or a value is for.
func placeIn(name string) (place int, ok bool) {
	for _, form := range []string{"tag-%d", "content20260101000000_%06d", "choice=value%d"} {
		if n, err := fmt.Sscanf(name, form, &place); n == 1 && err == nil {
			return place, true
		}
	}
	if message := messageName.FindString(name); message != "" {
		return placeOf(message), true
	}
	return 0, false
}
