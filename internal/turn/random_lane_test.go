package turn_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// thinking is a turn whose model runs.
type thinking struct {
	p       *process
	ctx     context.Context
	message string
	ended   bool
}

// thinks notes that a turn's model runs, until it ends.
//
// Holds docs/spec/03-turn.md, "One turn at a time per contact": no two bound turns of a
// contact run at once, but for those of a process that others take for dead.
func (w *world) thinks(ctx context.Context, p *process, message string) (end func()) {
	if !w.isBoundMessage(message) {
		return func() {}
	}
	subscriber, _, _ := strings.Cut(message, "-")
	one := &thinking{p: p, ctx: ctx, message: message}
	w.mu.Lock()
	others := slices.Clone(w.thinking[subscriber])
	w.thinking[subscriber] = append(w.thinking[subscriber], one)
	w.mu.Unlock()
	for _, o := range others {
		w.mu.Lock()
		over := o.ended || o.ctx.Err() != nil
		w.mu.Unlock()
		if !over && !o.p.isDoubtful() && !p.isDoubtful() {
			w.violate("%q runs while %q does", message, o.message)
		}
	}
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		one.ended = true
	}
}

// isDoubtful reports whether others may have taken a process for dead.
func (p *process) isDoubtful() bool { return p.isDead() || p.wasAway() > 0 }

// isRecorded notes a message that is safe.
func (w *world) isRecorded(name string, a turn.Arrival, rec turn.Recorded) {
	w.mu.Lock()
	w.recorded[a.TurnID], w.bound[a.FirstName] = a.FirstName, rec.Turn.Bound
	if a.Owner == "" {
		w.unowned[a.FirstName] = true
	} else {
		w.owners[a.Owner] = name
	}
	w.mu.Unlock()
	w.trace("%s: %q is %s, bound %t, merges %d", name, a.FirstName, rec.Turn.State, rec.Turn.Bound, len(rec.Merged))
	w.recognised(rec)
}

// recognised checks whether a message was rightly taken, or not taken, for one that the
// contact has just written.
//
// Holds docs/spec/03-turn.md, "One turn at a time per contact": the same message twice.
func (w *world) recognised(rec turn.Recorded) {
	same := false
	for _, t := range w.recentOf(string(rec.Turn.Key.SubscriberID)) {
		before := rec.Turn.ReceivedAt.Sub(t.ReceivedAt)
		if t.ID == rec.Turn.ID || t.Text != rec.Turn.Text || t.Bound != rec.Turn.Bound || t.Outcome == conversation.Duplicate ||
			before < 0 || before >= turn.DuplicateWithin {
			continue
		}
		answer := t.Turn
		if into, found := w.mergedInto()[t.ID]; found {
			var err error
			if answer, err = w.db.Turn(context.Background(), into); err != nil {
				w.t.Error(err)
			}
		}
		same = same || answer.State != conversation.Settled && answer.RespondedAt.IsZero()
	}
	if is := rec.Turn.Outcome == conversation.Duplicate; is != same {
		w.violate("%q, %q, is a duplicate: %t, want %t", rec.Turn.FirstName, rec.Turn.Text, is, same)
	}
}

// mergedInto reads which turns are answered by which.
func (w *world) mergedInto() map[string]string {
	into := map[string]string{}
	rows, err := w.db.Read().QueryContext(context.Background(), "SELECT id, merged_into FROM turns WHERE merged_into IS NOT NULL")
	if err != nil {
		w.t.Error(err)
		return into
	}
	defer rows.Close()
	for rows.Next() {
		var id, by string
		if err := rows.Scan(&id, &by); err != nil {
			w.t.Error(err)
		}
		into[id] = by
	}
	if err := rows.Err(); err != nil {
		w.t.Error(err)
	}
	return into
}

func (w *world) readMerged() { w.into = w.mergedInto() }

// isBound reports whether a turn is.
func (w *world) isBound(turnID string) bool { return w.isBoundMessage(w.message(turnID)) }

func (w *world) isBoundMessage(message string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.bound[message]
}

// ownerSettles checks that a turn is settled by who took it over last.
//
// Holds docs/spec/03-turn.md, "Crash recovery": every write of a turn carries its owner.
func (w *world) ownerSettles(t conversation.Turn) {
	w.mu.Lock()
	owner, found := w.taken[t.ID]
	w.mu.Unlock()
	if found && owner != t.Owner {
		w.violate("the turn of %q is settled although another process has taken it over", t.FirstName)
	}
}

// answers checks the answer of a request as it is fixed.
//
// Holds docs/spec/03-turn.md, "One turn at a time per contact": a waiter whose deadline
// passes answers silently.
func (w *world) answers(p *process, message string, a turn.Answer) {
	if a.Shed || len(a.Texts) == 0 || p.isDoubtful() {
		return
	}
	for _, t := range w.recent() {
		if t.FirstName == message && t.State == conversation.Waiting && t.Owner != "" {
			w.violate("%q waits, and its response says %q", message, short(a.Texts...))
		}
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a message that another turn
// answers, or that is the same as one before, is answered silently.
func mergedAreSilent(w *world) {
	for _, t := range w.turns {
		e := w.said[t.FirstName]
		over := t.State == conversation.Merged || t.Outcome == conversation.Duplicate
		if over && !e.shed && len(e.texts) > 0 && !w.unowned[t.FirstName] {
			w.violate("%q, %s, is answered by %q", t.FirstName, t.Outcome, short(e.texts...))
		}
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": messages that wait together
// are answered together, also when the newest was handed off before it was recorded.
func mergedAreAnswered(w *world) {
	for _, t := range w.turns {
		if len(w.others(t)) > 0 && t.Path == conversation.Silent && t.Reason == conversation.ByOverload {
			w.violate("%q was handed off in silence, and with it other messages", t.FirstName)
		}
	}
}

// others are the turns whose messages a turn answers besides its own, in the contact's order.
func (w *world) others(t store.RecentTurn) (others []store.RecentTurn) {
	for _, o := range w.turns {
		if w.into[o.ID] == t.ID {
			others = append(others, o)
		}
	}
	slices.SortFunc(others, bySeq)
	return others
}

// answer is what the model says to the messages of a turn.
func (w *world) answer(t store.RecentTurn) string {
	said := ""
	for _, o := range append(w.others(t), t) {
		said += "\n" + o.Text
	}
	return "re " + t.FirstName + ": " + said[1:]
}

func bySeq(a, b store.RecentTurn) int { return cmp.Compare(a.Seq, b.Seq) }

// ofContacts are the bound turns of each contact in their order.
func (w *world) ofContacts() map[string][]store.RecentTurn {
	turns := map[string][]store.RecentTurn{}
	for _, t := range w.turns {
		if t.Bound {
			turns[t.ConversationID] = append(turns[t.ConversationID], t)
		}
	}
	for _, of := range turns {
		slices.SortFunc(of, bySeq)
	}
	return turns
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a reply never overtakes an
// earlier one, whatever carries them.
func repliesKeepTheirOrder(w *world) {
	for _, turns := range w.ofContacts() {
		var last time.Time
		after := ""
		for _, t := range turns {
			for _, text := range t.Replies {
				at := w.out(text)
				if at.IsZero() {
					continue
				}
				if at.Before(last) {
					w.violate("%q overtakes %q by %s", short(text), short(after), last.Sub(at))
				}
				last, after = at, text
			}
		}
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": no acknowledgement comes
// before a text that belongs before it, or less than a gap behind one, since a flow may not
// have shown it yet.
func acknowledgementsKeepTheirPlace(w *world) {
	for _, turns := range w.ofContacts() {
		for i, t := range turns {
			e := w.said[t.FirstName]
			if !slices.Equal(e.texts, []string{ackCopy}) || e.unsure {
				continue
			}
			for _, earlier := range turns[:i] {
				for _, text := range earlier.Replies {
					switch at := w.out(text); {
					case at.After(e.answered):
						w.violate("%q is acknowledged %s before %q", t.FirstName, at.Sub(e.answered), short(text))
					case at.After(e.answered.Add(instant - gap)):
						w.violate("%q is acknowledged %s behind %q", t.FirstName, e.answered.Sub(at), short(text))
					}
				}
			}
		}
	}
}

// Holds docs/spec/03-turn.md, "Steps": the actions of a contact's turns are performed in the
// order of the turns.
func actionsKeepTheirOrder(w *world) {
	last := map[string]store.RecentTurn{} // by contact and process
	taken := slices.Clone(w.phone.asked)
	taken = slices.DeleteFunc(taken, func(a *asked) bool { return a.of != behind || !a.taken })
	slices.SortStableFunc(taken, func(a, b *asked) int { return a.arrived.Compare(b.arrived) })
	for _, a := range taken {
		t, of := w.turns[w.turnOf(a.message)], a.subscriber+" "+a.process
		if t.Seq < last[of].Seq {
			w.violate("%s of %q is performed behind an action of %q", a.what, a.message, last[of].FirstName)
		}
		last[of] = t
	}
}
