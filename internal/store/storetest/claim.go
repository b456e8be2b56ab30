package storetest

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/05-delivery.md, "Outbox", Order.
func testClaimOrder(t *testing.T, f *fixture) {
	a1 := f.deferred(t, "700001", "one")
	a2 := f.deferred(t, "700001", "two")
	f.now = f.now.Add(time.Second)
	b1 := f.deferred(t, "700002", "one")

	rows := f.claim(t, 10)
	diff(t, "one row a contact, in due order", []string{a1, b1}, ids(rows))
	want := f.row(t, a1)
	diff(t, "claimed row", want, rows[0])
	diff(t, "claim", []any{outbox.Delivering, owner, 1}, []any{want.Status, want.Owner, want.Attempts})
	diff(t, "while the first is delivering", []string{}, ids(f.claim(t, 10)))

	// A row waiting for its retry holds the next one back, a dead one does not.
	retry := rows[0]
	retry.Status, retry.NextAttemptAt = outbox.Pending, f.now.Add(time.Minute)
	f.release(t, retry)
	diff(t, "while the first waits", []string{}, ids(f.claim(t, 10)))
	f.now = f.now.Add(time.Minute)
	dead := f.claimOne(t)
	dead.Status, dead.Reason = outbox.Dead, outbox.ReasonRejected
	f.release(t, dead)
	diff(t, "after the first died", []string{a2}, ids(f.claim(t, 10)))
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing.
func testClaimWaits(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	s := settled(r, conversation.Inline, "in the response", "overflow")
	s.Row = &outbox.Row{ID: "row-1", Payload: outbox.Payload{Texts: []string{"overflow"}}, NextAttemptAt: f.now.Add(time.Second)}
	f.settle(t, s)
	f.now = f.now.Add(5 * time.Second)
	diff(t, "while its turn is answering", []string{}, ids(f.claim(t, 10)))

	f.stamp(t, turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: f.now})
	f.now = f.now.Add(gap - time.Microsecond)
	diff(t, "inside the gap", []string{}, ids(f.claim(t, 10)))
	f.now = f.now.Add(time.Microsecond)
	diff(t, "at the gap's end", []string{"row-1"}, ids(f.claim(t, 10)))

	later := settled(f.say(t, "700002", "hello"), conversation.Outbox, "later")
	later.Row.NextAttemptAt = f.now.Add(time.Second)
	f.settle(t, later)
	diff(t, "before its time", []string{}, ids(f.claim(t, 10)))
	f.now = f.now.Add(time.Second)
	diff(t, "at its time", []string{later.Row.ID}, ids(f.claim(t, 10)))
}

// Holds docs/spec/05-delivery.md, "Outbox", Order: one at a time, also when an earlier
// row appears behind one that is in hand.
func testClaimOneInHand(t *testing.T, f *fixture) {
	first := f.deferred(t, "700001", "answer to one")
	f.kill(t)
	f.now = f.now.Add(gap)
	second := f.deferred(t, "700001", "answer to two")
	inHand := f.claimOne(t)
	diff(t, "in hand", second, inHand.ID)
	if err := f.db.RetryOutbox(t.Context(), first); err != nil {
		t.Fatal(err)
	}
	diff(t, "while the later one is in hand", []string{}, ids(f.claim(t, 10)))
	inHand.Status, inHand.DeliveredAt = outbox.Delivered, f.now
	f.release(t, inHand)
	diff(t, "behind it", []string{first}, ids(f.claim(t, 10)))
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: a last-sent time in the future is a
// clock that was set back, and mutes nobody.
func testClaimAfterClockJump(t *testing.T, f *fixture) {
	r := f.answer(t, "700001", "hello", "hi")
	f.now = start.Add(time.Hour)
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: f.now})
	f.now = start
	row := f.deferred(t, "700001", "later")
	got := f.claimOne(t)
	diff(t, "claimed", row, got.ID)
	got.Payload.Sent = 1
	if err := f.db.Progress(t.Context(), got, f.now); err != nil {
		t.Fatalf("Progress: %v", err)
	}
	diff(t, "last sent", f.now, f.conversation(t, "700001").LastSentAt)
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: a claim that was on its way when the clock was
// set back keeps the gap all the same.
func testClaimAcrossAClockJump(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "one", "two")
	row := f.claimOne(t)
	row.Payload.Sent = 1
	if err := f.db.Progress(t.Context(), row, f.now); err != nil {
		t.Fatalf("Progress: %v", err)
	}
	row.Status, row.NextAttemptAt = outbox.Pending, f.now
	f.release(t, row)
	began := outbox.Claim{Owner: owner, Now: start.Add(time.Hour), Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 10}}
	diff(t, "claimed", []string{}, ids(must(f.db.Claim(t.Context(), began))(t)))
	f.now = start.Add(gap)
	f.claimOne(t)
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: a text that goes out while a claim is
// on its way to the database holds the contact all the same.
func testClaimUnderWay(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	f.settle(t, settled(r, conversation.Outbox, "later"))
	f.now = start.Add(time.Second)
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: f.now})
	began := outbox.Claim{Owner: owner, Now: start, Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 10}}
	diff(t, "claimed", []string{}, ids(must(f.db.Claim(t.Context(), began))(t)))
	f.now = f.now.Add(gap)
	f.claimOne(t)
}

func testClaimLimit(t *testing.T, f *fixture) {
	want := []string{f.deferred(t, "700001", "one"), f.deferred(t, "700002", "one"), f.deferred(t, "700003", "one")}
	diff(t, "first", want[:2], ids(f.claim(t, 2)))
	diff(t, "second", want[2:], ids(f.claim(t, 2)))
	diff(t, "third", []string{}, ids(f.claim(t, 2)))
}

func testNextDue(t *testing.T, f *fixture) {
	due := func() any {
		at, ok, err := f.db.NextDue(t.Context(), gap, outbox.Kinds())
		if err != nil {
			t.Fatalf("NextDue: %v", err)
		}
		if !ok {
			return "never"
		}
		return at
	}
	diff(t, "empty outbox", any("never"), due())

	s := settled(f.say(t, "700001", "hello"), conversation.Outbox, "later")
	s.Row.NextAttemptAt = start.Add(time.Hour)
	f.settle(t, s)
	diff(t, "a row", any(start.Add(time.Hour)), due())

	f.answer(t, "700002", "hello", "hi")
	f.deferred(t, "700002", "soon")
	diff(t, "a sooner row inside the gap", any(start.Add(gap)), due())
	f.now = f.now.Add(gap)
	f.claimOne(t)
	f.deferred(t, "700002", "behind the one in hand")
	diff(t, "what waits for a delivery does not count", any(start.Add(time.Hour)), due())
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": replies to unbound requests
// go out behind the contact's own, and hold up no response.
func testClaimBoundFirst(t *testing.T, f *fixture) {
	forged := settled(f.record(t, f.unbound(t, "700001", "forged")), conversation.Outbox, "to the forger")
	f.settle(t, forged)
	inline := f.say(t, "700001", "hello")
	diff(t, "queued ahead", false, inline.QueuedAhead)
	f.settle(t, settled(inline, conversation.Inline, "at once"))
	f.stamp(t, turn.Stamp{TurnID: inline.Turn.ID, ConversationID: inline.Conversation.ID, At: f.now})
	own := f.deferred(t, "700001", "to the contact")
	f.now = f.now.Add(time.Minute)
	row := f.claimOne(t)
	diff(t, "first", own, row.ID)
	diff(t, "beside it", 0, len(f.claim(t, 10)))
	row.Status, row.DeliveredAt = outbox.Delivered, f.now
	f.release(t, row)
	diff(t, "then", forged.Row.ID, f.claimOne(t).ID)
}
