package actstest

import (
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

// bare are actions without what their notes say.
func bare(actions []action.Pending) []action.Pending {
	for i := range actions {
		actions[i].Text = ""
	}
	return actions
}

// saysNote reports whether a row keeps what the note says.
func (f *fixture) saysNote(t *testing.T, id string) bool {
	t.Helper()
	return strings.Contains(must(f.text(`SELECT payload FROM outbox WHERE id = $1`, id))(t), note)
}

// Holds docs/spec/07-tools.md, "The action record": what becomes of a deferred reply's
// actions, and that a note's text does not outlive them.
func testRelease(t *testing.T, f *fixture) {
	first := action.Ended{Place: 1, Status: action.Performed, At: start.Add(time.Second)}
	second := action.Ended{Place: 2, Status: action.Failed, Error: "rejected", At: start.Add(2 * time.Second)}
	for _, c := range []struct {
		name   string
		status outbox.Status
		ended  []action.Ended
		want   []action.Status // of the two staged ones
		keeps  bool            // what the note says
	}{
		{"to be tried again", outbox.Pending, nil, []action.Status{action.Staged, action.Staged}, true},
		{"one ended", outbox.Pending, []action.Ended{first}, []action.Status{action.Performed, action.Staged}, true},
		{"delivered", outbox.Delivered, []action.Ended{first, second}, []action.Status{action.Performed, action.Failed}, false},
		{"delivered and cut off", outbox.Delivered, nil, []action.Status{action.Staged, action.Staged}, false},
		{"dead", outbox.Dead, nil, []action.Status{action.DeadLettered, action.DeadLettered}, false},
		{"dead with one ended", outbox.Dead, []action.Ended{second}, []action.Status{action.DeadLettered, action.Failed}, false},
		{"withheld", outbox.Withheld, nil, []action.Status{action.Discarded, action.Discarded}, false},
	} {
		subscriber := fresh(f)
		s := acting(f.say(t, subscriber), conversation.Outbox, "later")
		f.settle(t, s)
		r := f.claimOne(t, outbox.Reply)
		diff(t, c.name+": claimed", s.Row.Payload, r.Payload)
		r.NextAttemptAt = f.now.Add(time.Hour)
		f.release(t, r, c.status, c.ended...)

		want := record()
		for i, status := range c.want {
			want[i+1].Status = status
		}
		for _, e := range c.ended {
			want[e.Place].Error, want[e.Place].At = e.Error, e.At
		}
		diff(t, c.name, want, must(f.db.Turn(t.Context(), s.Turn.ID))(t).Actions)
		diff(t, c.name+": keeps the note", c.keeps, f.saysNote(t, r.ID))
		kept := outbox.Payload{Texts: []string{"later"}, Actions: pending()}
		if !c.keeps {
			bare(kept.Actions)
		}
		diff(t, c.name+": payload", kept, f.row(t, r.ID).Payload)
	}
}

// What a row carried is what was written, whatever its holder makes of it.
func testReleaseStored(t *testing.T, f *fixture) {
	s := acting(f.say(t, "700001"), conversation.Outbox, "one", "two")
	f.settle(t, s)
	r := f.claimOne(t, outbox.Reply)
	r.Payload.Sent = 1
	ok(t, f.db.Progress(t.Context(), r, f.now))
	r.Payload = outbox.Payload{}
	f.release(t, r, outbox.Dead)
	diff(t, "statuses", []action.Status{action.Performed, action.DeadLettered, action.DeadLettered}, f.statuses(t, s.Turn.ID))
	diff(t, "payload", outbox.Payload{Texts: []string{"one", "two"}, Sent: 1, Actions: bare(pending())}, f.row(t, r.ID).Payload)

	plain := acting(f.say(t, "700002"), conversation.Outbox, "three")
	plain.Row.Payload.Actions = nil
	f.settle(t, plain)
	r = f.claimOne(t, outbox.Reply)
	r.Payload.Actions = pending()
	f.release(t, r, outbox.Dead)
	diff(t, "record of a row without actions", record(), must(f.db.Turn(t.Context(), plain.Turn.ID))(t).Actions)
}

func testReleaseRefuses(t *testing.T, f *fixture) {
	s := acting(f.say(t, "700001"), conversation.Outbox, "later")
	f.settle(t, s)
	r := f.claimOne(t, outbox.Reply)
	stranger := r
	stranger.Owner, stranger.Status, stranger.Reason = "process-b", outbox.Dead, outbox.ReasonStale
	ended := []action.Ended{{Place: 1, Status: action.Performed}}
	wantErr(t, "another owner", f.db.Release(t.Context(), stranger, ended), outbox.ErrNotOwner)
	diff(t, "record", record(), must(f.db.Turn(t.Context(), s.Turn.ID))(t).Actions)
	diff(t, "row", r, f.row(t, r.ID))
}

// Holds docs/spec/05-delivery.md, "Outbox", Actions: the mark keeps a re-claim from
// repeating them.
func testProgress(t *testing.T, f *fixture) {
	f.settle(t, acting(f.say(t, "700001"), conversation.Outbox, "later"))
	r := f.claimOne(t, outbox.Reply)
	r.Payload.Sent, r.Payload.Acting = 1, true
	ok(t, f.db.Progress(t.Context(), r, time.Time{}))
	diff(t, "row", r, f.row(t, r.ID))
	diff(t, "last sent", time.Time{}, must(f.db.Conversation(t.Context(), key("700001")))(t).LastSentAt)
	f.release(t, r, outbox.Pending)
	diff(t, "claimed again", r.Payload, f.claimOne(t, outbox.Reply).Payload)
}

func testDiscard(t *testing.T, f *fixture) {
	s := acting(f.say(t, "700001"), conversation.Outbox, "later")
	f.settle(t, s)
	ok(t, f.db.DiscardOutbox(t.Context(), s.Row.ID))
	diff(t, "pending", []action.Status{action.Performed, action.Discarded, action.Discarded}, f.statuses(t, s.Turn.ID))
	diff(t, "keeps the note", false, f.saysNote(t, s.Row.ID))

	dead := acting(f.say(t, "700002"), conversation.Outbox, "later")
	f.settle(t, dead)
	f.release(t, f.claimOne(t, outbox.Reply), outbox.Dead)
	ok(t, f.db.DiscardOutbox(t.Context(), dead.Row.ID))
	diff(t, "dead", []action.Status{action.Performed, action.DeadLettered, action.DeadLettered}, f.statuses(t, dead.Turn.ID))

	told := escalated(f.say(t, "700003"))
	f.settle(t, told)
	rows := f.claim(t, outbox.HandoffNotice)
	f.release(t, rows[0], outbox.Delivered, action.Ended{Place: 0, Status: action.Performed})
	f.release(t, rows[1], outbox.Pending)
	f.release(t, rows[2], outbox.Pending)
	for _, r := range rows[1:] {
		ok(t, f.db.DiscardOutbox(t.Context(), r.ID))
	}
	diff(t, "notice", []action.Status{action.Performed, action.Discarded, action.Discarded}, f.statuses(t, told.Turn.ID))
	diff(t, "a notice keeps the note", false, f.saysNote(t, rows[2].ID))
}

// Holds docs/spec/05-delivery.md, "Outbox", Dead letters: a reply's actions stay
// dead-lettered.
func testRetryReply(t *testing.T, f *fixture) {
	for status, became := range map[outbox.Status]action.Status{outbox.Dead: action.DeadLettered, outbox.Withheld: action.Discarded} {
		s := acting(f.say(t, fresh(f)), conversation.Outbox, "later")
		f.settle(t, s)
		f.release(t, f.claimOne(t, outbox.Reply), status)
		ok(t, f.db.RetryOutbox(t.Context(), s.Row.ID))
		r := f.claimOne(t, outbox.Reply)
		diff(t, "payload", outbox.Payload{Texts: []string{"later"}}, r.Payload)
		f.release(t, r, outbox.Delivered)
		diff(t, "statuses", []action.Status{action.Performed, became, became}, f.statuses(t, s.Turn.ID))
	}
}

func testTurnRows(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "hi", "more")
	s.Row = &outbox.Row{ID: "overflow", Payload: outbox.Payload{Texts: []string{"more"}}}
	s.Notices = handoff("notice")
	f.settle(t, s)
	unwritten := outbox.Row{ID: "unwritten", ConversationID: r.Conversation.ID, Payload: outbox.Payload{Texts: []string{"hi"}}}
	ok(t, f.db.Reroute(t.Context(), r.Turn.ID, unwritten))
	n := f.claim(t, outbox.HandoffNotice)[1] // beside the tag: the flow waits
	n.LastError = "status 400"
	f.release(t, n, outbox.Dead)
	rows := must(f.db.TurnRows(t.Context(), r.Turn.ID))(t)
	diff(t, "rows", []string{"notice tag", "notice flow", "notice webhook", "unwritten", "overflow"}, ids(rows))
	diff(t, "row", f.row(t, "notice webhook"), rows[2])
	diff(t, "why", []any{outbox.HandoffNotice, outbox.Dead, outbox.ReasonRejected, "status 400"},
		[]any{rows[2].Kind, rows[2].Status, rows[2].Reason, rows[2].LastError})
	diff(t, "of no turn", []outbox.Row(nil), must(f.db.TurnRows(t.Context(), "turn-x"))(t))
	diff(t, "of another turn", []outbox.Row(nil), must(f.db.TurnRows(t.Context(), f.say(t, "700001").Turn.ID))(t))
}
