package actstest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// perHour is how many flows ManyChat allows for one contact and hour.
const perHour = 100

// over is a turn of a contact that has ended in silence.
func (f *fixture) over(t *testing.T, subscriber string) turn.Recorded {
	t.Helper()
	r := f.say(t, subscriber)
	s := escalated(r)
	s.Notices, s.Turn.Actions = nil, nil
	f.settle(t, s)
	return r
}

// deferred settles a turn of a contact whose reply waits in the outbox, and returns its row.
func (f *fixture) deferred(t *testing.T, subscriber string) string {
	t.Helper()
	s := acting(f.say(t, subscriber), conversation.Outbox, "late")
	f.settle(t, s)
	return s.Row.ID
}

// claimCounted claims the due rows of a kind as a worker gets them.
func (f *fixture) claimCounted(t *testing.T, kind outbox.Kind) []outbox.Row {
	t.Helper()
	return must(f.db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: f.now, Gap: gap, Room: map[outbox.Kind]int{kind: 10}}))(t)
}

// claimFlow claims a flow behind a reply.
func (f *fixture) claimFlow(t *testing.T, r turn.Recorded, id string) error {
	t.Helper()
	return f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: id, At: f.now})
}

// sendFlows sends a contact so many flows now.
func (f *fixture) sendFlows(t *testing.T, r turn.Recorded, n int) {
	t.Helper()
	for range n {
		f.made++
		if err := f.claimFlow(t, r, fmt.Sprintf("flow-%d", f.made)); err != nil {
			t.Fatal(err)
		}
	}
}

// flowsOf is how many flows are counted for a contact.
func (f *fixture) flowsOf(t *testing.T, subscriber string) string {
	t.Helper()
	return must(f.text("SELECT coalesce(sum(flows), 0) FROM flow_slots WHERE subscriber_id = $1", subscriber))(t)
}

// Holds docs/spec/05-delivery.md, "ManyChat client": 100 flows per contact and hour. A row of a
// contact that is at the limit is due when the contact no longer is, and no hour holds more.
func testFlowLimit(t *testing.T, f *fixture) {
	r := f.over(t, "700001")
	f.now = start.Add(5 * time.Minute)
	f.sendFlows(t, r, perHour-1)
	f.now = start.Add(25 * time.Minute)
	row := f.deferred(t, "700001")
	got := f.claimOne(t, outbox.Reply)
	diff(t, "the last that there is room for", row, got.ID)
	f.release(t, got, outbox.Delivered)

	f.now = f.now.Add(time.Minute)
	late := f.deferred(t, "700001")
	other := f.deferred(t, "700002")
	diff(t, "at the limit", []string{other}, ids(f.claim(t, outbox.Reply)))
	waits := f.row(t, late)
	diff(t, "waiting row", []any{outbox.Pending, 0, ""}, []any{waits.Status, waits.Attempts, waits.Owner})
	due := start.Add(10*time.Minute + time.Hour + 2*time.Minute) // when an hour no longer touches the ten minutes of the 99
	diff(t, "due", due, waits.NextAttemptAt)
	at, ok, err := f.db.NextDue(t.Context(), gap, outbox.Kinds())
	if err != nil || !ok {
		t.Fatalf("NextDue: %v, %v", ok, err)
	}
	diff(t, "next due", due, at)
	f.now = due
	diff(t, "when there is room again", late, f.claimOne(t, outbox.Reply).ID)
	diff(t, "slots kept", "2", f.flowsOf(t, "700001"))
}

// Holds docs/spec/05-delivery.md, "ManyChat client": the limit is one for what every room sends.
func testFlowLimitOfAll(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	note := func(r turn.Recorded, flow string) error {
		return f.db.NoteFlow(t.Context(), turn.FlowNote{
			TurnID: r.Turn.ID, Owner: owner, Attempt: r.Turn.Attempt,
			Actions: []action.Record{{Tool: action.SendFlow, ID: flow, Status: action.Sending}}, Claim: action.Claim{Flow: flow, At: f.now},
		})
	}
	f.sendFlows(t, r, perHour-2)
	if err := note(r, "film"); err != nil {
		t.Fatalf("a flow before the reply: %v", err)
	}
	f.settle(t, escalated(r))
	diff(t, "notice", 3, len(f.claimCounted(t, outbox.HandoffNotice)))
	diff(t, "flows", "100", f.flowsOf(t, "700001"))
	r = f.say(t, "700001")
	if err := note(r, "brochure"); !errors.Is(err, action.ErrFlowLimit) {
		t.Errorf("at the limit NoteFlow returned %v", err)
	}
	if err := f.claimFlow(t, r, "brochure"); !errors.Is(err, action.ErrFlowLimit) {
		t.Errorf("at the limit ClaimFlow returned %v", err)
	}
	f.settle(t, acting(r, conversation.Outbox, "one too many"))
	diff(t, "a reply at the limit", []string{}, ids(f.claim(t, outbox.Reply)))
	diff(t, "flows", "100", f.flowsOf(t, "700001"))
	f.now = f.now.Add(2 * time.Hour)
	if err := f.claimFlow(t, r, "brochure"); err != nil {
		t.Errorf("a flow that the limit had held: %v", err)
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": a row given back unattempted gives its count back,
// and so does a flow that was not sent, once.
func testFlowLimitGivenBack(t *testing.T, f *fixture) {
	f.deferred(t, "700001")
	row := f.claimCounted(t, outbox.Reply)[0]
	diff(t, "claimed", "1", f.flowsOf(t, "700001"))
	f.now = f.now.Add(25 * time.Minute)
	f.release(t, row, outbox.Pending)
	diff(t, "given back", "0", f.flowsOf(t, "700001"))

	r := f.say(t, "700002")
	c := action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: "film", At: f.now}
	if err := f.db.ClaimFlow(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	diff(t, "claimed flow", "1", f.flowsOf(t, "700002"))
	f.now = f.now.Add(25 * time.Minute)
	f.sendFlows(t, r, 3)
	for range 2 {
		if err := f.db.ReleaseFlow(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	diff(t, "flow given back", "3", f.flowsOf(t, "700002"))
}

// Holds docs/spec/05-delivery.md, "ManyChat client": side by side no more are counted than
// the limit allows.
func testFlowLimitConcurrently(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.sendFlows(t, r, perHour-3)
	var wg sync.WaitGroup
	var mu sync.Mutex
	sent := 0
	for i := range 20 {
		wg.Go(func() {
			err := f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: fmt.Sprint("beside-", i), At: f.now})
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil:
				sent++
			case !errors.Is(err, action.ErrFlowLimit):
				t.Error(err)
			}
		})
	}
	wg.Wait()
	diff(t, "sent", 3, sent)
	diff(t, "counted", "100", f.flowsOf(t, "700001"))
}

// Holds docs/spec/05-delivery.md, "Outbox": what a claim took that failed all the same is given
// back by the next, and nothing else is.
func testClaimAbandoned(t *testing.T, f *fixture) {
	claim := func(owner, abandon string, inHand ...outbox.Hold) []string {
		return ids(must(f.db.Claim(t.Context(), outbox.Claim{
			Owner: owner, Now: f.now, Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 10}, Abandon: abandon, InHand: inHand,
		}))(t))
	}
	lost := f.deferred(t, "700001")
	claim("p1/1", "")
	mine := f.deferred(t, "700002")
	claim("p1/2", "")
	others := f.deferred(t, "700003")
	claim("p10/1", "")
	again := f.deferred(t, "700004")
	claim("p1/3", "")
	held := []outbox.Hold{{Owner: "p1/2", ID: mine}, {Owner: "p1/1", ID: again}}
	diff(t, "claimed", []string{lost, again}, claim("p1/4", "p1/", held...))
	for id, owner := range map[string]string{lost: "p1/4", mine: "p1/2", others: "p10/1", again: "p1/4"} {
		row := f.row(t, id)
		diff(t, "owner of "+id, []any{owner, 1}, []any{row.Owner, row.Attempts})
	}
}
