package storetest

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

const successor = "process-b"

func (f *fixture) takeOver(t *testing.T) []turn.Recorded {
	t.Helper()
	return f.sweep(t, sweep.TakeOver{All: true})
}

func (f *fixture) sweep(t *testing.T, o sweep.TakeOver) []turn.Recorded {
	t.Helper()
	o.Process = sweep.Process{ID: successor, TenantID: "demo"}
	o.Window = turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10}
	taken, more, err := f.db.TakeOver(t.Context(), o)
	if err != nil || more {
		t.Fatalf("TakeOver: more %t, %v", more, err)
	}
	return taken
}

// Holds docs/spec/03-turn.md, "Crash recovery".
func testTakeOver(t *testing.T, f *fixture) {
	rowID := f.deferred(t, "700001", "in hand")
	f.claimOne(t)
	a := f.arrival("700001", "second")
	a.Offering = "yoga"
	second := f.record(t, a)
	f.now = f.now.Add(time.Second)
	first := f.say(t, "700002", "later, elsewhere")
	b := f.arrival("700001", "third")
	b.Offering = "tango" // must not become the second turn's
	third := f.record(t, b)
	done := f.answer(t, "700003", "done", "answered")
	foreign := f.arrival("700009", "another tenant's")
	foreign.Key.TenantID = "other"
	other := f.record(t, foreign)

	got := f.takeOver(t)
	var want []turn.Recorded
	for _, r := range []turn.Recorded{second, first, third} {
		r.Turn.Owner, r.Turn.Attempt, r.Binding = successor, 2, ""
		want = append(want, r)
	}
	diff(t, "turns to run again", want, got)
	diff(t, "turn as stored", want[0].Turn, f.turn(t, second.Turn.ID))
	diff(t, "settled turn", conversation.Settled, f.turn(t, done.Turn.ID).State)
	diff(t, "another tenant's turn", other.Turn, f.turn(t, other.Turn.ID))
	row := f.row(t, rowID)
	diff(t, "row in hand", []any{outbox.Pending, "", 0}, []any{row.Status, row.Owner, row.Attempts})

	s := settled(got[1], conversation.Inline, "at last")
	f.settle(t, s)
	if again := f.takeOver(t); len(again) != 2 || again[0].Turn.Attempt != 3 {
		t.Errorf("second take-over returned %+v, want two turns at attempt 3", again)
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": answering without a stamp becomes an
// outbox row.
func testTakeOverAnswering(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	s := settled(r, conversation.Inline, "first", "second", "third")
	staged := action.Record{Tool: action.AddTag, ID: "interested", Status: action.Staged}
	s.Turn.Actions = []action.Record{{Tool: action.SendFlow, ID: "opening", Status: action.Performed}, staged}
	pending := action.Pending{Place: 1, Tool: action.AddTag, ID: "interested"}
	s.Row = &outbox.Row{ID: "overflow", Payload: outbox.Payload{Texts: []string{"third"}, Actions: []action.Pending{pending}}}
	f.settle(t, s)
	f.now = f.now.Add(time.Hour)

	if again := f.takeOver(t); len(again) > 0 {
		t.Errorf("an answering turn was to be run again: %+v", again)
	}
	got := f.turn(t, r.Turn.ID)
	diff(t, "state and path", []any{conversation.Settled, conversation.Outbox}, []any{got.State, got.Path})
	row := f.claimOne(t)
	diff(t, "it is as old as the message it answers", start, row.CreatedAt)
	diff(t, "the unwritten part goes first", outbox.Payload{Texts: []string{"first", "second"}}, row.Payload)
	row.Status, row.DeliveredAt = outbox.Delivered, f.now
	f.release(t, row)
	overflow := f.claimOne(t)
	diff(t, "then the overflow, with the actions", []any{"overflow", s.Row.Payload}, []any{overflow.ID, overflow.Payload})
}
