package turn_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// calls are the requests for actions of a message's turn, notices aside, by what they were
// for.
func (w *world) calls(message string) map[string][]*asked {
	calls := map[string][]*asked{}
	for _, a := range w.phone.asked {
		if a.message == message && a.of != notice {
			calls[a.what] = append(calls[a.what], a)
		}
	}
	return calls
}

// turnOf is the place of a message's turn.
func (w *world) turnOf(message string) int {
	return slices.IndexFunc(w.turns, func(t store.RecentTurn) bool { return t.FirstName == message })
}

// what names an entry of a record as [asked] names its request; empty: it is a notice's.
func (w *world) what(r action.Record) string {
	tools := w.business.Tools
	flow, _ := tools.Flow(r.ID)
	tag, _ := tools.Tag(r.ID)
	field, _ := tools.Field(r.ID)
	note, _ := tools.Note(r.ID)
	return map[action.Kind]string{
		action.SendFlow: "flow " + flow.FlowNs, action.AddTag: "tag " + tag.Tag, action.RemoveTag: "untag " + tag.Tag,
		action.SetField: "field " + field.Field + "=" + r.Value, action.WriteNote: fmt.Sprintf("field %s=%d", note.Field, r.Length),
	}[r.Tool]
}

// Holds docs/spec/17-quality.md, "Reliability": no flow goes out twice, whatever crashed,
// but for the repeatable ones; and no other contact's action reaches a contact.
func flowsGoOutOnce(w *world) {
	got := map[string]int{}
	for _, a := range w.phone.asked {
		if !strings.HasPrefix(a.message, a.subscriber+"-") {
			w.violate("%s of %q is asked for %s", a.what, a.message, a.subscriber)
		}
		if a.taken && a.of != notice {
			got[a.subscriber+" "+a.what]++
		}
	}
	for _, f := range w.business.Tools.Flows {
		for c := range contacts {
			if n := got[fmt.Sprintf("%d flow %s", 900+c, f.FlowNs)]; n > 1 && !f.Repeatable {
				w.violate("%d got the flow %s %d times", 900+c, f.ID, n)
			}
		}
	}
}

// Holds docs/spec/07-tools.md, "Performing": in the order staged, one request each, one
// attempt each.
func actionsAreTriedOnce(w *world) {
	last := map[string]int{} // place by message
	for _, a := range w.phone.asked {
		if a.of != behind {
			continue
		}
		place := slices.IndexFunc(w.turns[w.turnOf(a.message)].Actions, func(r action.Record) bool { return w.what(r) == a.what })
		if place < last[a.message] {
			w.violate("%s of %q is asked for before its turn comes", a.what, a.message)
		}
		last[a.message] = place
	}
	for _, t := range w.turns {
		for what, calls := range w.calls(t.FirstName) {
			if len(calls) > 1 {
				w.violate("%s of %q was asked for %d times", what, t.FirstName, len(calls))
			}
		}
	}
}

// Holds docs/spec/17-quality.md, "Reliability", and docs/spec/07-tools.md, "Performing":
// actions run after their text, the last of the reply's.
func actionsFollowTheirText(w *world) {
	for _, t := range w.turns {
		for _, text := range t.Replies {
			out := w.out(text)
			for what, calls := range w.calls(t.FirstName) {
				switch a := calls[0]; {
				case a.of != behind || !a.taken:
				case out.IsZero():
					w.violate("%s of %q arrived although %q was not said", what, t.FirstName, short(text))
				case a.arrived.Before(out):
					w.violate("%s of %q arrived %s before %q was said", what, t.FirstName, out.Sub(a.arrived), short(text))
				}
			}
		}
	}
}

// out is when a text went out first: with a response, or when ManyChat took its trigger;
// zero: never.
func (w *world) out(text string) time.Time { return w.phone.first[text] }

// Holds docs/spec/17-quality.md, "Reliability": an escalated turn performs nothing but the
// onEscalation note and the handoff notice; docs/spec/07-tools.md, "Performing": the note
// when the model or the threshold escalated, and a flow that was sent before stays sent.
func handoffsDoNothing(w *world) {
	for _, t := range w.turns {
		for what, calls := range w.calls(t.FirstName) {
			isNote := t.Outcome == conversation.Escalated && strings.HasPrefix(what, "field agent_handover=")
			if t.Reason != "" && calls[0].of == behind && !isNote {
				w.violate("%q is %s, and still asks for %s", t.FirstName, t.Outcome, what)
			}
		}
	}
}

// Holds docs/spec/07-tools.md, "The action record": it says of every action what ManyChat
// saw of it.
func recordsAgree(w *world) {
	for _, t := range w.turns {
		calls := w.calls(t.FirstName)
		seen := map[string]bool{}
		for _, r := range t.Actions {
			what := w.what(r)
			if what == "" {
				continue
			}
			if seen[what] {
				w.violate("%s stands twice in the record of %q", what, t.FirstName)
			}
			seen[what] = true
			if !w.agrees(t, r, calls[what]) {
				w.violate("%s of %q is recorded as %s %q, ManyChat was asked: %s", what, t.FirstName, r.Status, r.Error, fates(calls[what]))
			}
		}
		for what := range calls {
			if !seen[what] {
				w.violate("the record of %q, by %s, knows nothing of %s: %s", t.FirstName, t.Path, what, fates(calls[what]))
			}
		}
	}
}

// agrees compares an entry with its requests. What a process that died behind a response
// did not write down may have been done.
func (w *world) agrees(t store.RecentTurn, r action.Record, calls []*asked) bool {
	taken := slices.ContainsFunc(calls, func(a *asked) bool { return a.taken })
	answered := slices.ContainsFunc(calls, func(a *asked) bool { return !a.answered.IsZero() })
	switch r.Status {
	case action.Performed:
		return answered
	case action.Failed:
		return !taken || r.Error == action.OutcomeUnknown
	case action.Staged:
		return w.lost[t.FirstName] && t.Path == conversation.Inline
	case action.Discarded, action.DroppedOverCap, action.DeadLettered:
		return len(calls) == 0
	}
	return false
}

func fates(calls []*asked) (all string) {
	for _, a := range calls {
		all += fmt.Sprintf("%s by %s, taken %t, answered %t; ", a.of, a.process, a.taken, !a.answered.IsZero())
	}
	return all
}

// Holds docs/spec/07-tools.md, "Bounds": staged or sent actions a turn.
func capsHold(w *world) {
	for _, t := range w.turns {
		n := 0
		for _, r := range t.Actions {
			if r.Tool != action.NotifyHandoff && r.Status != action.DroppedOverCap {
				n++
			}
		}
		if n > 8 {
			w.violate("the turn of %q staged or sent %d actions", t.FirstName, n)
		}
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": the reply of a turn that
// sent flows, a handoff included, is not delivered before they end.
func repliesWaitForFlows(w *world) {
	for _, t := range w.turns {
		until := w.playsUntil(t)
		for _, text := range t.Replies {
			for _, e := range w.said {
				if slices.Contains(e.texts, text) && e.answered.Before(until.Add(-instant)) {
					w.violate("%q leaves %s before the flow of its turn ends", short(text), until.Sub(e.answered))
				}
			}
			for _, r := range w.phone.writes {
				if r.text == text && r.arrived.Before(until.Add(-instant)) {
					w.violate("%q is written to the field %s before the flow of its turn ends", short(text), until.Sub(r.arrived))
				}
			}
		}
	}
}

// playsUntil is when the flows end that a turn knows to have been accepted.
func (w *world) playsUntil(t store.RecentTurn) (until time.Time) {
	calls := w.calls(t.FirstName)
	for _, r := range t.Actions {
		flow, _ := w.business.Tools.Flow(r.ID)
		for _, a := range calls[w.what(r)] {
			end := a.answered.Add(flow.Settle())
			if r.Tool == action.SendFlow && r.Status == action.Performed && a.of == inTurn && end.After(until) {
				until = end
			}
		}
	}
	return until
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": a race lost while a flow
// plays is silent.
func flowsAreNotTalkedOver(w *world) {
	for message, e := range w.said {
		if !slices.Equal(e.texts, []string{ackCopy}) {
			continue
		}
		left := e.began.Add(e.took)
		for what, calls := range w.calls(message) {
			flow := w.business.Tools.Flows[max(0, slices.IndexFunc(w.business.Tools.Flows, func(f tenant.Flow) bool { return "flow "+f.FlowNs == what }))]
			if a := calls[0]; a.of == inTurn && a.process == e.process && !a.answered.IsZero() && a.answered.Before(left) && a.answered.Add(flow.Settle()).After(left) {
				w.violate("%q is acknowledged %s before %s ends", message, a.answered.Add(flow.Settle()).Sub(left), what)
			}
		}
	}
}

// noticeOf are the rows that tell of a turn's handoff.
func (w *world) noticeOf(t store.RecentTurn) (rows []outbox.Row) {
	for _, r := range w.rows[t.ID] {
		if r.Kind == outbox.HandoffNotice {
			rows = append(rows, r)
		}
	}
	return rows
}
