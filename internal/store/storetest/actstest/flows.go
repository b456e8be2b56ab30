package actstest

import (
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

func flow(id string, status action.Status, why string) action.Record {
	return action.Record{Tool: action.SendFlow, ID: id, Status: status, Error: why}
}

// sending notes that a turn is about to send a flow, as its first.
func sending(r turn.Recorded, id string) turn.FlowNote {
	return noting(r, flow(id, action.Sending, ""))
}

// noting is a note of a turn's flows, about the last one.
func noting(r turn.Recorded, flows ...action.Record) turn.FlowNote {
	return turn.FlowNote{
		TurnID: r.Turn.ID, Owner: r.Turn.Owner, Attempt: r.Turn.Attempt, Actions: flows,
		Claim: action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: flows[len(flows)-1].ID, At: r.Turn.ReceivedAt},
	}
}

// fresh is a contact who has not written yet.
func fresh(f *fixture) string {
	f.made++
	return strconv.Itoa(800000 + f.made)
}

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s returned %v, want %v", what, got, want)
	}
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": a flow is on its running
// turn's record before its request, and what became of it after it.
func testNoteFlow(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	done := flow("brochure", action.Performed, "")
	done.At = start.Add(time.Second)
	for _, flows := range [][]action.Record{
		{flow("brochure", action.Sending, "")},
		{done},
		{done, flow("video", action.Sending, "")},
		{done, flow("video", action.Failed, action.OutcomeUnknown)},
	} {
		ok(t, f.db.NoteFlow(t.Context(), noting(r, flows...)))
		want := r.Turn
		want.Actions = flows
		diff(t, "turn", want, f.turn(t, r))
	}
	diff(t, "sent", []string{"brochure", "video"}, f.sent(t, "700001"))
}

func testNoteRefuses(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	for name, change := range map[string]func(n *turn.FlowNote){
		"other owner":   func(n *turn.FlowNote) { n.Owner = "process-b" },
		"other attempt": func(n *turn.FlowNote) { n.Attempt = 2 },
		"unknown turn":  func(n *turn.FlowNote) { n.TurnID = "turn-x" },
	} {
		n := sending(r, "brochure")
		change(&n)
		wantErr(t, name, f.db.NoteFlow(t.Context(), n), turn.ErrNotOwner)
	}
	diff(t, "turn", r.Turn, f.turn(t, r))
	diff(t, "claimed", []string(nil), f.sent(t, "700001"))

	ok(t, f.db.NoteFlow(t.Context(), sending(r, "brochure")))
	s := acting(r, conversation.Silent)
	f.settle(t, s)
	wantErr(t, "a settled turn", f.db.NoteFlow(t.Context(), noting(r, flow("brochure", action.Failed, "rejected"))), turn.ErrNotOwner)
	diff(t, "record", record(), f.turn(t, r).Actions)
	diff(t, "sent", []string{"brochure"}, f.sent(t, "700001"))
}

// Holds docs/spec/08-sales.md, "Flows once".
func testNoteOnce(t *testing.T, f *fixture) {
	first := f.say(t, "700001")
	ok(t, f.db.NoteFlow(t.Context(), sending(first, "brochure")))
	f.end(t, first, flow("brochure", action.Performed, ""))
	f.now = start.Add(time.Hour)
	for _, c := range []struct {
		name   string
		change func(n *turn.FlowNote)
		want   error
	}{
		{"the same flow", func(*turn.FlowNote) {}, action.ErrSent},
		{"sent at the first instant that counts", func(n *turn.FlowNote) { n.Claim.Since = start }, action.ErrSent},
		{"another flow", func(n *turn.FlowNote) { n.Actions[0].ID, n.Claim.Flow = "video", "video" }, nil},
		{"a claim that names another contact's conversation", func(n *turn.FlowNote) { n.Claim.ConversationID = "elsewhere" }, action.ErrSent},
		{"repeatable", func(n *turn.FlowNote) { n.Claim.Repeatable = true }, nil},
		{"sent too long ago to count", func(n *turn.FlowNote) { n.Claim.Since = n.Claim.At.Add(time.Microsecond) }, nil},
	} {
		r := f.say(t, "700001")
		n := sending(r, "brochure")
		c.change(&n)
		wantErr(t, c.name, f.db.NoteFlow(t.Context(), n), c.want)
		want := r.Turn
		if c.want == nil {
			want.Actions = n.Actions
		}
		diff(t, c.name+": turn", want, f.turn(t, r))
		f.end(t, r, want.Actions...)
	}
	ok(t, f.db.NoteFlow(t.Context(), sending(f.say(t, "700002"), "brochure")))
	ok(t, f.db.NoteFlow(t.Context(), sending(f.forged(t, "700003"), "brochure")))
	wantErr(t, "sent on an unbound turn", f.db.NoteFlow(t.Context(), sending(f.say(t, "700003"), "brochure")), action.ErrSent)

	again := f.say(t, "700004")
	ok(t, f.db.NoteFlow(t.Context(), sending(again, "brochure")))
	again.Turn.Owner, again.Turn.Attempt = owner, 1
	wantErr(t, "the same turn once more", f.db.NoteFlow(t.Context(), sending(again, "brochure")), action.ErrSent)
	n := sending(again, "brochure")
	n.Claim.Repeatable = true
	ok(t, f.db.NoteFlow(t.Context(), n))
}

// Holds docs/spec/07-tools.md, "Flows go out before the reply": behind a queued reply a flow
// follows its own text.
func testNoteBehind(t *testing.T, f *fixture) {
	row := acting(f.say(t, "700001"), conversation.Outbox, "first")
	row.Row.Payload.Actions, row.Notices = nil, handoff("notice")
	f.settle(t, row)
	r := f.say(t, "700001")
	ok(t, f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: r.Conversation.ID, TurnID: "turn-y", Flow: "had", At: f.now}))
	for _, state := range []string{"pending", "delivering"} {
		wantErr(t, "behind a "+state+" row", f.db.NoteFlow(t.Context(), sending(r, "brochure")), turn.ErrQueuedAhead)
		wantErr(t, "what was sent already", f.db.NoteFlow(t.Context(), sending(r, "had")), action.ErrSent)
		diff(t, "turn", r.Turn, f.turn(t, r))
		f.claim(t, outbox.Reply)
	}
	diff(t, "claimed", []string{"had"}, f.sent(t, "700001"))
	ok(t, f.db.NoteFlow(t.Context(), sending(f.forged(t, "700001"), "brochure"))) // nobody is waited for by it
	ok(t, f.db.NoteFlow(t.Context(), noting(r, flow("brochure", action.Performed, ""))))

	f.release(t, f.row(t, row.Row.ID), outbox.Delivered)
	ok(t, f.db.NoteFlow(t.Context(), noting(r, flow("brochure", action.Performed, ""), flow("video", action.Sending, "")))) // the notice holds nothing back

	unbound := acting(f.forged(t, "700002"), conversation.Outbox, "to the forger")
	f.settle(t, unbound)
	ok(t, f.db.NoteFlow(t.Context(), sending(f.say(t, "700002"), "brochure")))
}

// Holds docs/spec/07-tools.md, "Performing": of a flow that failed only an unknown outcome
// counts as sent.
func testNoteFailed(t *testing.T, f *fixture) {
	for _, c := range []struct {
		name   string
		status action.Status
		why    string
		sent   []string
	}{
		{"rejected", action.Failed, "rejected", nil},
		{"unknown", action.Failed, action.OutcomeUnknown, []string{"brochure"}},
		{"performed", action.Performed, "", []string{"brochure"}},
	} {
		subscriber := fresh(f)
		r := f.say(t, subscriber)
		ok(t, f.db.NoteFlow(t.Context(), sending(r, "brochure")))
		for range 2 {
			ok(t, f.db.NoteFlow(t.Context(), noting(r, flow("brochure", c.status, c.why))))
			diff(t, c.name, c.sent, f.sent(t, subscriber))
		}
	}

	holder, other := f.say(t, "700001"), f.forged(t, "700001")
	n := sending(holder, "brochure")
	n.Claim.TurnID = other.Turn.ID // the right is the turn's that notes it
	ok(t, f.db.NoteFlow(t.Context(), n))
	ok(t, f.db.NoteFlow(t.Context(), noting(other, flow("brochure", action.Failed, "rejected"))))
	diff(t, "what another turn holds", []string{"brochure"}, f.sent(t, "700001"))
}

// What became of a flow is about that flow, also when a later one is on its way already.
func testNoteSideBySide(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	ok(t, f.db.NoteFlow(t.Context(), sending(r, "brochure")))
	ok(t, f.db.NoteFlow(t.Context(), noting(r, flow("brochure", action.Sending, ""), flow("video", action.Sending, ""))))
	n := noting(r, flow("brochure", action.Failed, "rejected"), flow("video", action.Sending, ""))
	n.Claim.Flow = "brochure"
	ok(t, f.db.NoteFlow(t.Context(), n))
	diff(t, "sent", []string{"video"}, f.sent(t, "700001"))
}

// Holds docs/spec/08-sales.md, "Flows once": flows behind a reply are claimed as those
// before one are.
func testClaim(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	c := action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: "brochure", At: f.now}
	stranger := c
	stranger.TurnID = "turn-x"
	ok(t, f.db.ClaimFlow(t.Context(), c))
	wantErr(t, "claimed twice", f.db.ClaimFlow(t.Context(), c), action.ErrSent)
	wantErr(t, "claimed by another turn", f.db.ClaimFlow(t.Context(), stranger), action.ErrSent)
	wantErr(t, "noted by another turn", f.db.NoteFlow(t.Context(), sending(f.forged(t, "700001"), "brochure")), action.ErrSent)

	ok(t, f.db.ReleaseFlow(t.Context(), stranger))
	wantErr(t, "given back by another turn", f.db.ClaimFlow(t.Context(), c), action.ErrSent)
	for range 2 {
		ok(t, f.db.ReleaseFlow(t.Context(), c))
	}
	c.At = time.Time{} // now
	ok(t, f.db.ClaimFlow(t.Context(), c))
	c.Since = f.now
	wantErr(t, "sent now", f.db.ClaimFlow(t.Context(), c), action.ErrSent)
}

// Holds docs/spec/17-quality.md, "Reliability": no flow goes out twice.
func testClaimConcurrently(t *testing.T, f *fixture) {
	const n = 40
	var won, sent atomic.Int64
	var wg sync.WaitGroup
	for i := range n {
		r := f.forged(t, "700001") // of one contact only unbound turns run at once
		wg.Go(func() {
			note, err := sending(r, "brochure"), error(nil)
			if i%2 == 0 {
				err = f.db.NoteFlow(t.Context(), note)
			} else {
				err = f.db.ClaimFlow(t.Context(), note.Claim)
			}
			switch {
			case err == nil:
				won.Add(1)
			case errors.Is(err, action.ErrSent):
				sent.Add(1)
			default:
				t.Errorf("claiming returned %v", err)
			}
		})
	}
	wg.Wait()
	diff(t, "got the right, were refused", []int64{1, n - 1}, []int64{won.Load(), sent.Load()})
}

// A contact who has a flow still has it when a second try of it fails.
func testGiveBackEarlier(t *testing.T, f *fixture) {
	first := f.say(t, "700001")
	ok(t, f.db.NoteFlow(t.Context(), sending(first, "link")))
	f.end(t, first, flow("link", action.Performed, ""))
	f.now = start.Add(time.Hour)
	second := f.say(t, "700001")
	c := action.Claim{ConversationID: second.Conversation.ID, TurnID: second.Turn.ID, Flow: "link", At: f.now, Repeatable: true}
	for range 2 {
		ok(t, f.db.ClaimFlow(t.Context(), c))
		for range 2 {
			ok(t, f.db.ReleaseFlow(t.Context(), c))
		}
	}
	c.Repeatable = false
	for since, want := range map[time.Time]error{start.Add(time.Microsecond): nil, start: action.ErrSent} {
		c.Since = since
		wantErr(t, "since "+since.Format(time.TimeOnly), f.db.ClaimFlow(t.Context(), c), want)
		ok(t, f.db.ReleaseFlow(t.Context(), c))
	}
	diff(t, "sent", []string{"link"}, f.sent(t, "700001"))
}

// Holds docs/spec/08-sales.md, "Flows once": what a contact was sent, bound or unbound,
// within the days of history.
func testSent(t *testing.T, f *fixture) {
	first := f.say(t, "700001")
	diff(t, "at first", []string(nil), first.Sent)
	for _, id := range []string{"video", "brochure"} {
		ok(t, f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: first.Conversation.ID, TurnID: first.Turn.ID, Flow: id, At: f.now}))
	}
	f.end(t, first)
	f.now = start.AddDate(0, 0, 30)
	edge := f.say(t, "700001")
	diff(t, "at the window's edge", []string{"brochure", "video"}, edge.Sent)
	f.end(t, edge)
	diff(t, "of an unbound turn", []string{"brochure", "video"}, f.sent(t, "700001"))
	diff(t, "of somebody else", []string(nil), f.say(t, "700002").Sent)
	f.now = f.now.Add(time.Microsecond)
	diff(t, "behind it", []string(nil), f.say(t, "700001").Sent)
}
