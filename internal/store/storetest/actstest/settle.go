package actstest

import (
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

var calls = []action.Call{
	{Step: 1, Tool: action.AddTag, ID: "interested", Answer: action.AnsweredStaged},
	{Step: 2, Tool: action.WriteNote, ID: "access", Length: 12, Answer: action.AnsweredStaged},
	{Step: 2, Answer: action.AnsweredBad, Reason: "unknown tool"},
}

// Holds docs/spec/07-tools.md, "The action record": it is written with the turn, and no
// tools and none chosen are distinct.
func testSettle(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "hi")
	s.Turn.Calls = calls
	s.Turn.Outcome, s.Turn.Reason = conversation.Escalated, conversation.Complaint
	s.Notices = handoff("notice")
	for i := range s.Notices {
		s.Notices[i].NextAttemptAt, s.Notices[i].CreatedAt = start.Add(time.Minute), start
		s.Notices[i].Kind = outbox.Reply // it is a notice whatever the caller calls it
	}
	f.settle(t, s)
	got := f.turn(t, r)
	diff(t, "actions", record(), got.Actions)
	diff(t, "calls", calls, got.Calls)
	diff(t, "waiting", column.Object(pending()), f.waiting(t, r))
	for _, want := range s.Notices {
		want.Kind, want.Status = outbox.HandoffNotice, outbox.Pending
		want.TurnID, want.ConversationID, want.Key, want.Seq = r.Turn.ID, r.Conversation.ID, r.Turn.Key, r.Turn.Seq
		diff(t, "notice", want, f.row(t, want.ID))
	}
	recent := must(f.db.RecentTurns(t.Context(), "demo", "700001", 1))(t)
	diff(t, "recent turn", []any{record(), calls}, []any{recent[0].Actions, recent[0].Calls})

	for name, actions := range map[string][]action.Record{"no tools": nil, "none chosen": {}} {
		plain := acting(f.say(t, fresh(f)), conversation.Inline, "hi")
		plain.Turn.Actions, plain.Pending = actions, nil
		f.settle(t, plain)
		got := must(f.db.Turn(t.Context(), plain.Turn.ID))(t)
		diff(t, name, actions, got.Actions)
		diff(t, name+": calls", []action.Call(nil), got.Calls)
	}

	deferred := acting(f.say(t, "700003"), conversation.Outbox, "later")
	deferred.Pending, deferred.Notices = pending(), handoff("beside")
	f.settle(t, deferred)
	diff(t, "a deferred turn's actions are in its row", pending(), f.row(t, deferred.Row.ID).Payload.Actions)
	diff(t, "and nowhere else", "none", f.waiting(t, turn.Recorded{Turn: deferred.Turn}))
	diff(t, "its notice", handoff("")[2].Payload, f.row(t, "beside webhook").Payload)
}

// Holds docs/spec/06-contact.md, "Pause and opt-out", Handoff notice: a settlement that fails writes
// no notice.
func testSettleFails(t *testing.T, f *fixture) {
	told := acting(f.say(t, "700001"), conversation.Outbox, "a person takes over")
	told.Turn.Outcome, told.Turn.Reason = conversation.Escalated, conversation.Complaint
	f.settle(t, told)
	r := f.say(t, "700001")
	late := f.say(t, "700002")
	ok(t, f.db.Stamp(t.Context(), turn.Stamp{ConversationID: late.Conversation.ID, At: start}))
	for _, c := range []struct {
		name   string
		r      turn.Recorded
		change func(s *turn.Settlement)
		want   error
	}{
		{"quiet", r, func(s *turn.Settlement) { s.Quiet = time.Hour }, turn.ErrQuiet},
		{"queued ahead", r, func(*turn.Settlement) {}, turn.ErrQueuedAhead},
		{"too soon", late, func(s *turn.Settlement) { s.Gap = gap }, nil},
		{"another's", late, func(s *turn.Settlement) { s.Turn.Owner = "process-b" }, turn.ErrNotOwner},
		{"a notice that breaks a rule", late, func(s *turn.Settlement) { s.Notices[2].ID = told.Row.ID }, turn.ErrRefused},
		{"a part of a notice twice", late, func(s *turn.Settlement) { s.Notices[2].Part = 1 }, turn.ErrRefused},
	} {
		s := acting(c.r, conversation.Inline, "hi")
		s.Turn.Outcome, s.Turn.Reason = conversation.Escalated, conversation.Complaint
		s.Notices = handoff("notice")
		c.change(&s)
		err := f.db.Settle(t.Context(), s)
		var soon *turn.TooSoonError
		if err == nil || !errors.Is(err, c.want) && (c.want != nil || !errors.As(err, &soon)) {
			t.Errorf("%s: Settle returned %v, want %v", c.name, err, c.want)
		}
		diff(t, c.name+": turn", c.r.Turn, f.turn(t, c.r))
		diff(t, c.name+": waiting", "none", f.waiting(t, c.r))
		diff(t, c.name+": rows", 0, len(must(f.db.TurnRows(t.Context(), c.r.Turn.ID))(t)))
	}
}

// A flow that was not sent, and whose note of that was lost, may be sent later.
func testSettleGivesBack(t *testing.T, f *fixture) {
	for name, c := range map[string]struct {
		record []action.Record
		want   error
	}{
		"rejected":     {[]action.Record{flow("brochure", action.Failed, "rejected")}, nil},
		"unknown":      {[]action.Record{flow("brochure", action.Failed, action.OutcomeUnknown)}, action.ErrSent},
		"performed":    {[]action.Record{flow("brochure", action.Performed, "")}, action.ErrSent},
		"another flow": {[]action.Record{flow("video", action.Failed, "rejected")}, action.ErrSent},
		"sent before it failed": {
			[]action.Record{flow("brochure", action.Performed, ""), flow("brochure", action.Failed, "rejected")}, action.ErrSent,
		},
	} {
		r := f.say(t, fresh(f))
		ok(t, f.db.NoteFlow(t.Context(), sending(r, "brochure")))
		s := acting(r, conversation.Inline, "hi")
		s.Turn.Actions, s.Pending = c.record, nil
		f.settle(t, s)
		f.stamp(t, r, false)
		next := f.say(t, string(r.Turn.Key.SubscriberID))
		wantErr(t, name, f.db.NoteFlow(t.Context(), sending(next, "brochure")), c.want)
	}
}

// Holds docs/spec/03-turn.md, "Steps": with actions behind it a response does not settle its
// turn, and they do.
func testStampActs(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "hi", "more")
	s.Row = &outbox.Row{ID: "overflow", Payload: outbox.Payload{Texts: []string{"more"}}}
	f.settle(t, s)
	f.now = start.Add(time.Second)
	f.stamp(t, r, true)
	want := f.turn(t, r)
	diff(t, "stamped", []any{conversation.Answering, f.now}, []any{want.State, want.RespondedAt})
	diff(t, "last sent", f.now, must(f.db.Conversation(t.Context(), key("700001")))(t).LastSentAt)

	f.now = start.Add(time.Minute)
	for _, acts := range []bool{true, false} {
		f.stamp(t, r, acts)
		diff(t, "stamped twice", want, f.turn(t, r))
		diff(t, "waiting", column.Object(pending()), f.waiting(t, r))
		diff(t, "last sent", start.Add(time.Second), must(f.db.Conversation(t.Context(), key("700001")))(t).LastSentAt)
	}
	if err := f.db.Reroute(t.Context(), r.Turn.ID, outbox.Row{ConversationID: r.Conversation.ID}); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("rerouting a stamped turn returned %v, want ErrNotOwner", err)
	}
	diff(t, "claimed while it acts", 0, len(f.claim(t, outbox.Reply)))

	ended := []action.Ended{
		{Place: 1, Status: action.Performed, At: f.now},
		{Place: 2, Status: action.Failed, Error: "rejected", At: f.now},
		{Place: 0, Status: action.Failed}, // it ended before
		{Place: 7, Status: action.Failed}, // there is none
	}
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, ended))
	want.State = conversation.Settled
	want.Actions[1].Status, want.Actions[1].At = action.Performed, f.now
	want.Actions[2].Status, want.Actions[2].Error, want.Actions[2].At = action.Failed, "rejected", f.now
	diff(t, "acted", want, f.turn(t, r))
	diff(t, "waiting afterwards", "none", f.waiting(t, r))
	ended[0].Status = action.Failed
	wantErr(t, "acting twice", f.db.Acted(t.Context(), r.Turn.ID, ended), turn.ErrNotOwner)
	diff(t, "acted twice", want, f.turn(t, r))
	diff(t, "claimed afterwards", []string{"overflow"}, ids(f.claim(t, outbox.Reply)))
}

// A response with nothing behind it settles its turn, and nothing of actions is kept.
func testStampPlain(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.settle(t, acting(r, conversation.Inline, "hi"))
	f.stamp(t, r, false)
	diff(t, "state", conversation.Settled, f.turn(t, r).State)
	diff(t, "record", record(), f.turn(t, r).Actions)
	diff(t, "waiting", "none", f.waiting(t, r))

	none := f.say(t, "700002")
	s := acting(none, conversation.Inline, "hi")
	s.Turn.Actions, s.Pending = nil, nil
	f.settle(t, s)
	f.stamp(t, none, true)
	ok(t, f.db.Acted(t.Context(), none.Turn.ID, nil))
	diff(t, "no tools", []action.Record(nil), f.turn(t, none).Actions)
}

func testActedRefuses(t *testing.T, f *fixture) {
	running, unstamped, settled := f.say(t, "700001"), f.say(t, "700002"), f.say(t, "700003")
	f.settle(t, acting(unstamped, conversation.Inline, "hi"))
	f.settle(t, acting(settled, conversation.Outbox, "hi"))
	for name, r := range map[string]turn.Recorded{
		"running": running, "unstamped": unstamped, "settled": settled, "unknown": {Turn: conversation.Turn{ID: "turn-x"}},
	} {
		wantErr(t, name, f.db.Acted(t.Context(), r.Turn.ID, []action.Ended{{Place: 1, Status: action.Performed}}), turn.ErrNotOwner)
	}
	diff(t, "running", running.Turn, f.turn(t, running))
	diff(t, "unstamped", conversation.Answering, f.turn(t, unstamped).State)
	diff(t, "its record", record(), f.turn(t, unstamped).Actions)
	diff(t, "what waits", column.Object(pending()), f.waiting(t, unstamped))
}

// Holds docs/spec/07-tools.md, "Performing": the actions of a response that was not written
// are its row's.
func testReroute(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.settle(t, acting(r, conversation.Inline, "hi"))
	ok(t, f.db.Reroute(t.Context(), r.Turn.ID, outbox.Row{
		ID: "row", ConversationID: r.Conversation.ID, Payload: outbox.Payload{Texts: []string{"hi"}, Actions: pending()},
	}))
	diff(t, "waiting", "none", f.waiting(t, r))
	diff(t, "row", outbox.Payload{Texts: []string{"hi"}, Actions: pending()}, f.row(t, "row").Payload)
	diff(t, "record", record(), f.turn(t, r).Actions)
}
