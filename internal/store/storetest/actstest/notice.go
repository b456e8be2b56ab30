package actstest

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/states.md, "A row of the outbox": a dead part of a notice may end once more, also
// one that was refused, and the others stay as they ended.
func testRetryNotice(t *testing.T, f *fixture) {
	s := escalated(f.say(t, "700001"))
	f.settle(t, s)
	rows := f.claim(t, outbox.HandoffNotice)
	f.release(t, rows[0], outbox.Delivered, action.Ended{Place: 0, Status: action.Performed, At: f.now})
	f.release(t, rows[1], outbox.Dead, action.Ended{Place: 1, Status: action.Failed, Error: "rejected", At: f.now})
	f.release(t, rows[2], outbox.Dead)
	want := handoffRecord()
	want[0].Status, want[0].At = action.Performed, f.now
	want[1].Status, want[1].Error, want[1].At = action.Failed, "rejected", f.now
	want[2].Status = action.DeadLettered
	diff(t, "dead", want, must(f.db.Turn(t.Context(), s.Turn.ID))(t).Actions)

	diff(t, "retried", 2, must(f.db.RetryAllDead(t.Context()))(t).Queued)
	want[1], want[2] = handoffRecord()[1], handoffRecord()[2]
	diff(t, "retried", want, must(f.db.Turn(t.Context(), s.Turn.ID))(t).Actions)
	again := f.claim(t, outbox.HandoffNotice)
	diff(t, "goes on", ids(rows[1:]), ids(again))
	for i, r := range again {
		diff(t, "payload", handoff("")[i+1].Payload, r.Payload)
		f.release(t, r, outbox.Delivered, action.Ended{Place: i + 1, Status: action.Performed})
	}
	diff(t, "delivered", []action.Status{action.Performed, action.Performed, action.Performed}, f.statuses(t, s.Turn.ID))
}

// Holds docs/states.md, "A row of the outbox": what becomes of a part of a notice, of what its
// note says, and of both when an operator has it tried again.
func testNoticeParts(t *testing.T, f *fixture) {
	const other = action.Staged // of the parts beside it
	for _, c := range []struct {
		name   string
		status outbox.Status
		ended  []action.Ended
		want   action.Status
		keeps  bool          // what the note says
		again  action.Status // behind a retry; empty: none is possible
	}{
		{"tried again", outbox.Pending, nil, action.Staged, true, ""},
		{"made", outbox.Delivered, []action.Ended{{Place: 2, Status: action.Performed}}, action.Performed, false, ""},
		{"refused", outbox.Dead, []action.Ended{{Place: 2, Status: action.Failed, Error: "rejected"}}, action.Failed, true, action.Staged},
		{"given up", outbox.Dead, nil, action.DeadLettered, true, action.Staged},
		{"dead although made", outbox.Dead, []action.Ended{{Place: 2, Status: action.Performed}}, action.Performed, true, action.Performed},
		{"withheld", outbox.Withheld, nil, action.Discarded, true, action.Staged},
	} {
		s := escalated(f.say(t, fresh(f)))
		s.Notices = s.Notices[2:]
		f.settle(t, s)
		r := f.claimOne(t, outbox.HandoffNotice)
		r.NextAttemptAt = f.now.Add(time.Hour)
		f.release(t, r, c.status, c.ended...)
		diff(t, c.name, []action.Status{other, other, c.want}, f.statuses(t, s.Turn.ID))
		diff(t, c.name+": keeps the note", c.keeps, f.saysNote(t, r.ID))
		if c.again == "" {
			continue
		}
		ok(t, f.db.RetryOutbox(t.Context(), r.ID))
		diff(t, c.name+": retried", []action.Status{other, other, c.again}, f.statuses(t, s.Turn.ID))
		diff(t, c.name+": retried, keeps the note", true, f.saysNote(t, r.ID))
		f.release(t, f.claimOne(t, outbox.HandoffNotice), c.status)
		ok(t, f.db.DiscardOutbox(t.Context(), r.ID))
		diff(t, c.name+": discarded, keeps the note", false, f.saysNote(t, r.ID))
	}
}

// Holds docs/spec/05-delivery.md, "Outbox", Order: of notices there is none, and they hold
// nothing back.
func testNoticeOrder(t *testing.T, f *fixture) {
	f.settle(t, escalated(f.say(t, "700001"))) // turn-000001
	second := f.say(t, "700001")
	diff(t, "queued ahead", false, second.QueuedAhead)
	f.settle(t, acting(second, conversation.Inline, "at once"))
	f.stamp(t, second, false)
	reply := acting(f.say(t, "700001"), conversation.Outbox, "later")
	f.settle(t, reply)
	f.settle(t, escalated(f.say(t, "700001"))) // turn-000004

	f.now = start.Add(time.Second) // inside the gap
	diff(t, "beside each other, inside the gap", []string{
		"notice-turn-000001 tag", "notice-turn-000001 flow", "notice-turn-000001 webhook",
		"notice-turn-000004 tag", "notice-turn-000004 flow", "notice-turn-000004 webhook",
	}, ids(f.claim(t, outbox.HandoffNotice)))
	f.now = start.Add(gap)
	diff(t, "a reply beside them", []string{reply.Row.ID}, ids(f.claim(t, outbox.Reply)))
}

// Holds docs/spec/05-delivery.md, "Outbox": the flow of a notice, which may speak to the
// contact, waits for the reply of its turn; what the contact does not see does not.
func testNoticeFlowWaits(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Outbox, "a person takes over")
	s.Notices = handoff("notice")
	f.settle(t, s)
	f.now = start.Add(gap)
	diff(t, "beside the reply", []string{"notice tag", "notice webhook"}, ids(f.claim(t, outbox.HandoffNotice)))
	reply := f.claimOne(t, outbox.Reply)
	diff(t, "while it is in hand", 0, len(f.claim(t, outbox.HandoffNotice)))
	f.release(t, reply, outbox.Dead)
	diff(t, "behind it", []string{"notice flow"}, ids(f.claim(t, outbox.HandoffNotice)))
}

// Holds docs/spec/03-turn.md, "Steps": a notice waits until its turn is settled.
func testNoticeWaits(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "a person takes over")
	s.Notices = handoff("notice")
	f.settle(t, s)
	due := func() bool {
		_, found, err := f.db.NextDue(t.Context(), gap, []outbox.Kind{outbox.HandoffNotice})
		ok(t, err)
		return found
	}
	diff(t, "answering", []any{0, false}, []any{len(f.claim(t, outbox.HandoffNotice)), due()})
	f.stamp(t, r, true)
	diff(t, "acting", []any{0, false}, []any{len(f.claim(t, outbox.HandoffNotice)), due()})
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, nil))
	diff(t, "settled, due", true, due())
	diff(t, "settled", []string{"notice tag", "notice flow", "notice webhook"}, ids(f.claim(t, outbox.HandoffNotice)))
}

// A notice that dies takes nothing back of what the contact was told, and a person must look.
func testNoticeDies(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "a person takes over")
	s.Turn.Outcome, s.Turn.Reason, s.Notices = conversation.Escalated, conversation.Complaint, handoff("notice")[:1]
	s.Pending, s.Turn.Actions = nil, handoffRecord()
	f.settle(t, s)
	f.stamp(t, r, false)
	for _, end := range []func(){
		func() { f.release(t, f.claimOne(t, outbox.HandoffNotice), outbox.Dead) },
		func() { ok(t, f.db.DiscardOutbox(t.Context(), "notice tag")) },
	} {
		end()
		c := must(f.db.Conversation(t.Context(), key("700001")))(t)
		diff(t, "told, and needs a person", []any{start, true}, []any{c.HandoffSaidAt, c.NeedsPerson})
		next := f.say(t, "700001")
		diff(t, "said", "a person takes over", next.History[1].Text)
		f.end(t, next)
	}
	quiet := turn.Settlement{Turn: f.say(t, "700001").Turn, Quiet: time.Hour}
	quiet.Turn.Outcome, quiet.Turn.Reason, quiet.Turn.Path = conversation.Escalated, conversation.Complaint, conversation.Inline
	quiet.Turn.Replies, quiet.Turn.SettledAt = []string{"again"}, f.now
	wantErr(t, "telling it again", f.db.Settle(t.Context(), quiet), turn.ErrQuiet)
}
