package turn_test

import (
	"context"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// parts are the requests for a part of a notice, and whether ManyChat took one.
func (w *world) parts(message, part string) (taken int) {
	for _, a := range w.phone.asked {
		if a.of == notice && a.message == message && a.part == part && a.taken {
			taken++
		}
	}
	return taken
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": every handoff that was recorded is
// made known by one notice, and nothing else is; its record says what became of it.
func noticesArrive(w *world) {
	for _, t := range w.turns {
		rows := w.noticeOf(t)
		if !t.Bound && t.Reason != "" && len(rows) == 0 {
			continue // whoever writes in a contact's name is told of once an hour
		}
		if (len(rows) > 0) != (t.Reason != "") {
			w.violate("the turn of %q, %s, has %d rows of a notice", t.FirstName, t.Outcome, len(rows))
			continue
		}
		var record []action.Record
		for _, r := range t.Actions {
			if r.Tool == action.NotifyHandoff {
				record = append(record, r)
			}
		}
		want := 0
		switch {
		case len(rows) > 0 && !t.Bound:
			want = 1 // no flow, which would use up what ManyChat allows the contact
		case len(rows) > 0 && t.Path == conversation.Silent && t.Reason != conversation.ByOverload && !w.said[t.FirstName].shed:
			want = 1 // the contact is not told again, and no flow speaks to them
		case len(rows) > 0:
			want = 2
		}
		if len(record) != want || len(rows) != want {
			w.violate("the record of %q, %s by %s, holds %d parts of a notice, in %d rows", t.FirstName, t.Outcome, t.Path, len(record), len(rows))
			continue
		}
		for _, row := range rows {
			place := row.Payload.Actions[0].Place
			w.noticed(t.FirstName, t.Actions[place], row.Status)
		}
	}
}

// noticed compares the entry of a part of a notice with what ManyChat saw of it.
func (w *world) noticed(message string, r action.Record, status outbox.Status) {
	taken := w.parts(message, r.ID) > 0
	part := noticePart(message, r.ID)
	unsure := w.repeats[part] || w.lost[part]
	var holds bool
	switch r.Status {
	case action.Performed:
		holds = taken
	case action.Failed, action.DeadLettered:
		holds = status == outbox.Dead && (!taken || unsure)
	}
	if r.Status == action.Failed && r.Error == action.OutcomeUnknown && unsure {
		holds = true // of a hold that could not say
	}
	if !holds {
		w.violate("the %s of the notice of %q, %s, is recorded as %s %q, taken: %t", r.ID, message, status, r.Status, r.Error, taken)
	}
}

// Holds docs/spec/17-quality.md, "Reliability": a part of a notice repeats only where
// ManyChat's answer was lost or the process died with it in hand.
func noticesAreSentOnce(w *world) {
	for _, t := range w.turns {
		for _, part := range []string{action.NoticeTag, action.NoticeFlow} {
			if n := w.parts(t.FirstName, part); n > 1 && !w.repeats[noticePart(t.FirstName, part)] {
				w.violate("the %s of the notice of %q arrived %d times", part, t.FirstName, n)
			}
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": recorded by length, never by text: what notes say
// is not kept behind the end of their turn and of their row.
func nothingIsKept(w *world) {
	if w.pending > 0 {
		w.violate("%d turns still hold actions that wait for a response", w.pending)
	}
	for id, rows := range w.rows {
		for _, r := range rows {
			if slices.ContainsFunc(r.Payload.Actions, func(p action.Pending) bool { return p.Text != "" }) {
				w.violate("a row of %q, %s, keeps what a note says", w.recorded[id], r.Status)
			}
		}
	}
}

// countPending reads how many turns hold actions that wait for a response.
func (w *world) countPending() {
	row := w.db.Read().QueryRowContext(context.Background(), "SELECT count(*) FROM turns WHERE pending IS NOT NULL")
	if err := row.Scan(&w.pending); err != nil {
		w.t.Error(err)
	}
}

// Holds docs/spec/07-tools.md, "The tools": every call answers with what happened. What
// the model of the settled try was told is what the record says.
func modelsAreToldTheTruth(w *world) {
	for _, t := range w.turns {
		status := map[string]action.Record{}
		for _, r := range t.Actions {
			status[w.what(r)] = r
		}
		for _, heard := range w.told {
			if heard.message != t.FirstName {
				continue
			}
			calls := w.calls(t.FirstName)[heard.what]
			if heard.answer == `{"sent":true}` && !slices.ContainsFunc(calls, func(a *asked) bool { return !a.answered.IsZero() }) {
				w.violate("the model of %q was told that %s was sent, ManyChat was asked: %s", t.FirstName, heard.what, fates(calls))
			}
			r, found := status[heard.what]
			if heard.process == w.owners[t.Owner] && !w.honest(heard, r, found) {
				w.violate("the model of %q was told %s of %s, which is %s %q", t.FirstName, heard.answer, heard.what, r.Status, r.Error)
			}
		}
	}
}

// honest compares what the model was told with the record.
func (w *world) honest(heard told, r action.Record, found bool) bool {
	switch {
	case heard.what == "":
		return strings.HasPrefix(heard.answer, "bad: ") || strings.HasPrefix(heard.answer, `{"available":`)
	case strings.HasPrefix(heard.answer, "bad: "):
		return strings.Contains(heard.answer, "no tool can be called any more")
	}
	switch heard.answer {
	case `{"sent":true}`:
		return r.Status == action.Performed
	case `{"sent":false,"reason":"unknown"}`:
		return r.Status == action.Failed && r.Error == action.OutcomeUnknown
	case `{"sent":false,"reason":"failed"}`:
		return r.Status == action.Failed && r.Error != action.OutcomeUnknown
	case `{"sent":false,"reason":"already_sent"}`:
		return !found
	case `{"sent":false,"reason":"over_cap"}`, `{"staged":false,"reason":"over_cap"}`:
		return r.Status == action.DroppedOverCap
	case `{"staged":true}`:
		return found && r.Status != action.DroppedOverCap && r.Status != action.Sending
	}
	return false
}
