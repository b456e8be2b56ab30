package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/03-turn.md, "Outcomes": an agent row records all of this.
func testSettle(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	confidence := 0.75
	want := r.Turn
	want.Outcome, want.Path, want.Reason = conversation.Escalated, conversation.Outbox, conversation.Complaint
	want.Replies = []string{"one", "two"}
	want.Model, want.PromptVersion = "mock:mock", "abc123"
	want.Spend = conversation.Spend{TokensIn: 10, TokensCached: 4, TokensOut: 3, CostMicros: 99}
	want.Timings = conversation.Timings{Record: 1, Steps: []conversation.Micros{2, 3}, Total: 7}
	want.Confidence = &confidence
	want.Interventions = []string{"links"}
	want.Actions = []action.Record{{Tool: action.AddTag, ID: "interested", Status: action.Staged}}
	want.SettledAt = start.Add(time.Second)
	row := outbox.Row{
		ID: "row-1", Kind: outbox.Reply, Payload: outbox.Payload{Texts: want.Replies, Actions: []action.Pending{{Tool: action.AddTag, ID: "interested"}}},
		NextAttemptAt: start.Add(time.Minute), CreatedAt: start,
	}
	f.settle(t, turn.Settlement{Turn: want, Row: &row})

	want.State = conversation.Settled
	diff(t, "turn", want, f.turn(t, want.ID))
	row.ConversationID, row.Key, row.TurnID, row.Seq, row.Status = want.ConversationID, want.Key, want.ID, want.Seq, outbox.Pending
	diff(t, "outbox row", row, f.row(t, "row-1"))
	if next := f.say(t, "700001", "hm"); !next.QueuedAhead {
		t.Error("QueuedAhead is false with a pending reply")
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": every write carries owner and attempt.
func testSettleRefuses(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	for name, change := range map[string]func(*conversation.Turn){
		"other owner":   func(c *conversation.Turn) { c.Owner = "process-b" },
		"other attempt": func(c *conversation.Turn) { c.Attempt = 2 },
		"unknown turn":  func(c *conversation.Turn) { c.ID = "turn-x" },
	} {
		s := settled(r, conversation.Outbox, "text")
		change(&s.Turn)
		if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrNotOwner) {
			t.Errorf("%s: Settle returned %v, want ErrNotOwner", name, err)
		}
	}
	diff(t, "turn", r.Turn, f.turn(t, r.Turn.ID))

	f.settle(t, settled(r, conversation.Silent))
	if err := f.db.Settle(t.Context(), settled(r, conversation.Outbox, "late")); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("settling twice returned %v, want ErrNotOwner", err)
	}
	diff(t, "rows", 0, len(must(f.db.ListOutbox(t.Context(), storeAll))(t)))
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: a response keeps the gap behind a
// text that went out while its turn ran.
func testSettleInsideTheGap(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: start})
	s := settled(r, conversation.Inline, "hi")
	s.Gap, s.Turn.SettledAt = gap, start.Add(gap-time.Microsecond)
	var soon *turn.TooSoonError
	if err := f.db.Settle(t.Context(), s); !errors.As(err, &soon) || !soon.LastSent.Equal(start) {
		t.Errorf("inside the gap: Settle returned %v, want a TooSoonError at %v", err, start)
	}
	diff(t, "turn", r.Turn, f.turn(t, r.Turn.ID))
	s.Turn.SettledAt = start.Add(gap)
	f.settle(t, s)

	jumped := settled(f.say(t, "700002", "hello"), conversation.Inline, "hi")
	f.now = start.Add(time.Hour)
	f.stamp(t, turn.Stamp{ConversationID: jumped.Turn.ConversationID, At: f.now})
	jumped.Gap, f.now = gap, start
	f.settle(t, jumped) // the clock was set back by an hour

	before := settled(f.say(t, "700004", "hello"), conversation.Inline, "hi")
	f.stamp(t, turn.Stamp{ConversationID: before.Turn.ConversationID, At: start})
	before.Gap, before.Turn.SettledAt = gap, start.Add(time.Hour)
	if err := f.db.Settle(t.Context(), before); !errors.As(err, &soon) {
		t.Errorf("on its way when the clock was set back: Settle returned %v, want a TooSoonError", err)
	}

	overtaken := settled(f.say(t, "700003", "hello"), conversation.Inline, "hi")
	overtaken.Gap = gap
	f.now = start.Add(time.Second)
	f.stamp(t, turn.Stamp{ConversationID: overtaken.Turn.ConversationID, At: f.now})
	if err := f.db.Settle(t.Context(), overtaken); !errors.As(err, &soon) || !soon.LastSent.Equal(f.now) {
		t.Errorf("behind a text since it was about to settle: Settle returned %v, want a TooSoonError at %v", err, f.now)
	}
}

// Holds docs/states.md, "The agent row of a turn": what breaks a rule is told apart from what may pass.
func testSettleRefused(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	s := settled(r, conversation.Inline, "hi")
	s.Turn.Outcome = "no outcome"
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrRefused) {
		t.Errorf("Settle returned %v, want ErrRefused", err)
	}
	diff(t, "turn", r.Turn, f.turn(t, r.Turn.ID))
}

// Holds docs/spec/03-turn.md, "A reply never overtakes an earlier one".
func testSettleBehindQueued(t *testing.T, f *fixture) {
	f.deferred(t, "700001", "first")
	r := f.say(t, "700001", "and?")
	for _, state := range []string{"pending", "delivering"} {
		if err := f.db.Settle(t.Context(), settled(r, conversation.Inline, "second")); !errors.Is(err, turn.ErrQueuedAhead) {
			t.Errorf("behind a %s row: Settle returned %v, want ErrQueuedAhead", state, err)
		}
		diff(t, "turn", r.Turn, f.turn(t, r.Turn.ID))
		f.claim(t, 1)
	}
	row := f.row(t, "row-turn-000001")
	row.Status, row.DeliveredAt = outbox.Delivered, f.now
	f.release(t, row)
	f.settle(t, settled(r, conversation.Inline, "second"))
	diff(t, "state", conversation.Answering, f.turn(t, r.Turn.ID).State)
}

// Holds docs/spec/03-turn.md, "Steps" 9 and "Carrying": an unbound response stamps no
// last-sent time.
func testStamp(t *testing.T, f *fixture) {
	for _, c := range []struct {
		subscriber string
		bound      bool
		lastSent   time.Time
	}{
		{"700001", true, start.Add(time.Second)},
		{"700002", false, time.Time{}},
	} {
		a := f.arrival(c.subscriber, "hello")
		if !c.bound {
			a = f.unbound(t, c.subscriber, "hello")
		}
		r := f.record(t, a)
		f.settle(t, settled(r, conversation.Inline, "text"))
		f.now = start.Add(time.Minute)
		stamp := turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: start.Add(time.Second)}
		for range 2 {
			f.stamp(t, stamp)
			stamp.At = start.Add(time.Hour) // the second changes nothing
		}
		got := f.turn(t, r.Turn.ID)
		diff(t, c.subscriber+" state", conversation.Settled, got.State)
		diff(t, c.subscriber+" responded", start.Add(time.Second), got.RespondedAt)
		diff(t, c.subscriber+" last sent", c.lastSent, f.conversation(t, c.subscriber).LastSentAt)
	}
}

// An acknowledgement is paced like any text, and belongs to no turn's reply.
func testStampWithoutTurn(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: start.Add(time.Second), Silent: true})
	diff(t, "last sent after silence", time.Time{}, f.conversation(t, "700001").LastSentAt)
	f.now = start.Add(5 * time.Second)
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: start.Add(4 * time.Second)})
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: start.Add(3 * time.Second)})
	diff(t, "last sent never moves back", start.Add(4*time.Second), f.conversation(t, "700001").LastSentAt)
	f.now = start.Add(2 * time.Second)
	f.stamp(t, turn.Stamp{ConversationID: r.Conversation.ID, At: start.Add(time.Second)})
	diff(t, "last sent after the clock was set back", start.Add(time.Second), f.conversation(t, "700001").LastSentAt)
	diff(t, "turn", r.Turn, f.turn(t, r.Turn.ID))
}

func (f *fixture) stamp(t *testing.T, s turn.Stamp) {
	t.Helper()
	if err := f.db.Stamp(t.Context(), s); err != nil {
		t.Fatalf("Stamp: %v", err)
	}
}

// Holds docs/spec/05-delivery.md, "Outbox", Pacing: an unwritten response's text becomes
// the earlier row.
func testReroute(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	row := outbox.Row{ID: "row-1", ConversationID: r.Conversation.ID, Payload: outbox.Payload{Texts: []string{"first"}}}
	if err := f.db.Reroute(t.Context(), r.Turn.ID, row); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("rerouting a running turn returned %v, want ErrNotOwner", err)
	}
	s := settled(r, conversation.Inline, "first", "second")
	s.Row = &outbox.Row{ID: "row-2", Payload: outbox.Payload{Texts: []string{"second"}}}
	f.settle(t, s)
	if err := f.db.Reroute(t.Context(), r.Turn.ID, row); err != nil {
		t.Fatalf("Reroute: %v", err)
	}
	got := f.turn(t, r.Turn.ID)
	diff(t, "state and path", []any{conversation.Settled, conversation.Outbox}, []any{got.State, got.Path})
	first := f.claimOne(t)
	diff(t, "first to go out", []any{"row-1", []string{"first"}}, []any{first.ID, first.Payload.Texts})
	if err := f.db.Reroute(t.Context(), r.Turn.ID, row); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("rerouting twice returned %v, want ErrNotOwner", err)
	}

	stamped := f.answer(t, "700002", "hello", "hi")
	if err := f.db.Reroute(t.Context(), stamped.Turn.ID, outbox.Row{ConversationID: stamped.Conversation.ID}); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("rerouting a stamped turn returned %v, want ErrNotOwner", err)
	}
}
