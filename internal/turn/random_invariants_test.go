package turn_test

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// invariants hold at the end of every seed. What holds at an event is checked there: see
// claimed, settledInline and do.
var invariants = []func(*world){
	responsesLeaveInTime,
	messagesAreSettledOnce,
	mergedAreSilent,
	mergedAreAnswered,
	repliesKeepTheirOrder,
	acknowledgementsKeepTheirPlace,
	actionsKeepTheirOrder,
	nothingIsLeftOver,
	turnsAnswerTheirMessage,
	textsReachOnlyTheirContact,
	repliesArrive,
	repeatsAreAllowed,
	responsesComeFirst,
	flowsKeepTheGap,

	flowsGoOutOnce,
	actionsAreTriedOnce,
	actionsFollowTheirText,
	handoffsDoNothing,
	recordsAgree,
	capsHold,
	repliesWaitForFlows,
	flowsAreNotTalkedOver,
	noticesArrive,
	noticesAreSentOnce,
	nothingIsKept,
	modelsAreToldTheTruth,
}

// instant is what the database rounds a time to.
const instant = time.Microsecond

// Holds docs/spec/03-turn.md, "The race": the response leaves at deadline + 500 ms at the
// latest, whatever the database does.
func responsesLeaveInTime(w *world) {
	for text, e := range w.said {
		if e.took > bound {
			w.violate("the response to %q left after %s", text, e.took)
		}
	}
}

// Holds docs/spec/17-quality.md, "Reliability": every recorded message is answered by
// exactly one settled turn.
func messagesAreSettledOnce(w *world) {
	turns := map[string]int{}
	for _, t := range w.turns {
		turns[t.ID]++
		by := slices.IndexFunc(w.turns, func(o store.RecentTurn) bool { return o.ID == w.into[t.ID] })
		switch {
		case t.State == conversation.Merged && by < 0:
			w.violate("no turn answers %q, which is merged", t.FirstName)
		case t.State == conversation.Merged:
			if o := w.turns[by]; o.State != conversation.Settled || o.Outcome == conversation.Duplicate || o.ConversationID != t.ConversationID || !o.Bound || o.Seq < t.Seq {
				w.violate("%q is to be answered by %q, which is %s, %s", t.FirstName, o.FirstName, o.State, o.Outcome)
			}
		case t.State != conversation.Settled:
			w.violate("the turn of %q is %s at the end", t.FirstName, t.State)
		}
	}
	for id, text := range w.recorded {
		if turns[id] != 1 {
			w.violate("the recorded message %q has %d turns", text, turns[id])
		}
	}
	if len(w.turns) != len(w.recorded) {
		w.violate("%d turns of %d recorded messages", len(w.turns), len(w.recorded))
	}
}

// Holds docs/spec/17-quality.md, "Reliability": every reply is delivered, or dead with its
// reason.
func nothingIsLeftOver(w *world) {
	for id, rows := range w.rows {
		for _, r := range rows {
			if !r.Status.Final() {
				w.violate("part %d of the reply to %q is %s after %d attempts", r.Part, w.recorded[id], r.Status, r.Attempts)
			}
			if (r.Status == outbox.Dead) != (r.Reason != "") {
				w.violate("part %d of the reply to %q is %s for the reason %q", r.Part, w.recorded[id], r.Status, r.Reason)
			}
		}
	}
}

// Holds docs/spec/02-inbound.md, "Errors", and docs/spec/03-turn.md, "Steps": a turn's reply
// is the answer to its message, and nothing exactly when the message was handed off
// before it was recorded.
func turnsAnswerTheirMessage(w *world) {
	for _, t := range w.turns {
		handedOff := w.said[t.FirstName].shed && len(w.said[t.FirstName].texts) > 0
		silent := t.Path == conversation.Silent
		switch {
		case t.State == conversation.Merged, t.Outcome == conversation.Duplicate:
		case silent && handedOff && t.Reason != "" && len(w.others(t)) > 0: // the same is not said again
		case silent && t.Reason != conversation.ByOverload && (t.Reason == "" || w.business.Rules.EscalationQuietMinutes == 0):
			w.violate("the turn of %q ended silently: %s, %s", t.FirstName, t.Outcome, t.Reason)
		case handedOff && !silent && len(w.others(t)) == 0 && w.owners[t.Owner] == w.said[t.FirstName].process: // another process does not know
			w.violate("%q was handed off and then answered by %s", t.FirstName, t.Path)
		case !silent && t.Reason != "":
			if len(t.Replies) != 1 || w.copies[t.Replies[0]] != t.FirstName {
				w.violate("%q, handed off, is answered by %q", t.FirstName, short(t.Replies...))
			}
		case !silent && !strings.HasPrefix(strings.Join(t.Replies, " "), w.answer(t)):
			w.violate("the reply to %q is %q", t.FirstName, short(t.Replies...))
		}
	}
}

// Holds docs/spec/01-principles.md, C5: one contact's data never reaches another.
func textsReachOnlyTheirContact(w *world) {
	for _, b := range w.phone.seen {
		of := b.text
		if message, copied := w.copies[of]; copied {
			of = message
		}
		if of != ackCopy && !strings.Contains(of, b.subscriber+"-") {
			w.violate("%s sees %q", b.subscriber, short(b.text))
		}
	}
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message": no text is
// lost, but for what was unsent when its row died.
func repliesArrive(w *world) {
	seen := w.phone.count()
	for _, t := range w.turns {
		unsent := w.unsent(t)
		for _, text := range t.Replies {
			if seen[text] == 0 && !slices.Contains(unsent, text) {
				w.violate("%q, of the reply to %q by %s, never arrived", short(text), t.FirstName, t.Path)
			}
		}
	}
}

// Holds docs/spec/17-quality.md, "Reliability": a text repeats only where ManyChat's answer
// was lost, or the process died between a write and its stamp.
func repeatsAreAllowed(w *world) {
	seen := w.phone.count()
	for _, t := range w.turns {
		for _, text := range t.Replies {
			if seen[text] > 1 && !w.repeats[text] {
				w.violate("%q, of the reply to %q by %s, arrived %d times", short(text), t.FirstName, t.Path, seen[text])
			}
		}
	}
}

// Holds docs/spec/03-turn.md, "The race", and docs/spec/05-delivery.md, "Outbox": what is
// deferred is never sent before its message's response, the acknowledgement or the first
// text, and not within a gap behind it. The gap is not kept across a crash: what the next
// process takes over is due at once.
func responsesComeFirst(w *world) {
	for _, t := range w.turns {
		e := w.said[t.FirstName]
		if len(e.texts) == 0 {
			continue
		}
		for _, r := range w.phone.writes {
			behind := r.arrived.Sub(e.answered)
			switch {
			case !slices.Contains(t.Replies, r.text):
			case behind < 0:
				w.violate("%q was written to the field %s before the response to its message", short(r.text), -behind)
			case behind < gap-instant && r.process == e.process:
				w.violate("%q was written to the field %s behind the response to its message", short(r.text), behind)
			}
		}
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": pacing, from ManyChat's answer to a trigger to
// the next field write of the contact. A process that dies in between may not have
// noted the answer, and of one that was away the row in hand may be another's.
func flowsKeepTheGap(w *world) {
	for _, s := range w.phone.starts {
		for _, r := range w.phone.writes {
			behind := r.arrived.Sub(s.answered)
			if r.subscriber == s.subscriber && r.process == s.process && !w.strayed[r.process] && r.arrived.After(s.arrived) && behind < gap-instant {
				w.violate("%q was written to the field %s behind the trigger of %q", short(r.text), behind, short(s.text))
			}
		}
	}
}

// claimed checks the rows that a process takes in hand.
//
// Holds docs/spec/05-delivery.md, "Outbox": a contact's reply rows go out in order, one
// at a time.
func (w *world) claimed(process string, rows []outbox.Row) {
	queued := w.list(outbox.Pending, outbox.Delivering)
	for _, r := range rows {
		w.trace("%s: claims %s", process, w.part(r))
		if r.Kind != outbox.Reply {
			continue
		}
		for _, other := range queued {
			switch {
			case other.ConversationID != r.ConversationID || other.ID == r.ID || other.Kind != outbox.Reply:
			case other.Status == outbox.Delivering:
				w.violate("%s is in hand together with %s", w.part(r), w.part(other))
			case w.isBound(r.TurnID) && !w.isBound(other.TurnID): // it is not waited for
			case !w.isBound(r.TurnID) && w.isBound(other.TurnID):
				w.violate("%s, unbound, overtakes %s", w.part(r), w.part(other))
			case cmp.Or(cmp.Compare(other.Seq, r.Seq), cmp.Compare(other.Part, r.Part)) < 0:
				w.violate("%s overtakes %s", w.part(r), w.part(other))
			}
		}
		w.paced("row of "+w.part(r), r.ConversationID)
	}
}

// settledInline checks a reply that is about to leave in its response.
//
// Holds docs/spec/03-turn.md, "One turn at a time per contact": a reply never overtakes one
// that is queued.
func (w *world) settledInline(t conversation.Turn) {
	if !t.Bound {
		return
	}
	for _, r := range w.list(outbox.Pending, outbox.Delivering) {
		if r.Owner == "response/"+t.ID {
			w.trace("the response to %q carries %s", t.FirstName, w.part(r))
			continue
		}
		if r.Kind == outbox.Reply && r.ConversationID == t.ConversationID && r.TurnID != t.ID && w.isBound(r.TurnID) {
			w.violate("the reply to %q leaves in the response before %s", t.FirstName, w.part(r))
		}
	}
	w.paced("reply to "+t.FirstName, t.ConversationID)
}

// paced checks that something may go out now.
//
// Holds docs/spec/05-delivery.md, "Outbox": pacing, from every text that the database knows
// to have gone out. A reply
// that is not bound keeps none in its response.
func (w *world) paced(what, conversationID string) {
	w.mu.Lock()
	last := w.lastSent[conversationID]
	w.mu.Unlock()
	if behind := time.Since(last); behind < gap-instant {
		w.violate("the %s goes out %s behind a text", what, behind)
	}
}

// count is how often each text was seen.
func (p *phones) count() map[string]int {
	seen := map[string]int{}
	for _, b := range p.seen {
		seen[b.text]++
	}
	return seen
}

// unsent are the texts of a turn that were not known to be sent when their row died.
func (w *world) unsent(t store.RecentTurn) (texts []string) {
	for _, r := range w.rows[t.ID] {
		if r.Kind == outbox.Reply && r.Status == outbox.Dead {
			texts = append(texts, r.Payload.Texts[r.Payload.Sent:]...)
		}
	}
	return texts
}
