package lanetest

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a turn runs when the contact
// has no earlier unsettled one, and waits else, having read nothing.
func testRecordWaits(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	ok(t, f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: first.Conversation.ID, TurnID: first.Turn.ID, Flow: "video", At: f.now}))
	f.now = f.now.Add(time.Second)
	second := f.say(t, "700001", "two")
	want := turn.Recorded{
		Turn: conversation.Turn{
			ID: second.Turn.ID, ConversationID: first.Conversation.ID, Key: key("700001"), Seq: 4, State: conversation.Waiting,
			Owner: owner, Bound: true, Text: "two", ReceivedAt: f.now,
		},
		Conversation: first.Conversation, Binding: token.Bound, Behind: true,
	}
	diff(t, "behind a running turn", want, second)
	diff(t, "as stored", want.Turn, f.turn(t, second))
	diff(t, "another contact", conversation.Running, f.say(t, "700002", "one").Turn.State)

	f.end(t, first)
	third := f.say(t, "700001", "three")
	diff(t, "behind one that waits", []any{conversation.Waiting, true}, []any{third.Turn.State, third.Behind})
	f.end(t, f.start(t, second))
	s := settled(f.start(t, third), conversation.Inline, "answer")
	s.Pending = []action.Pending{{Tool: action.AddTag, ID: "interested"}}
	f.settle(t, s)
	diff(t, "behind an answering one", conversation.Waiting, f.say(t, "700001", "four").Turn.State)
	written := stamp(third, f.now)
	written.Acts = true
	f.stamp(t, written)
	diff(t, "behind one that acts", conversation.Waiting, f.say(t, "700001", "five").Turn.State)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": unbound turns neither wait nor
// are waited for.
func testRecordUnbound(t *testing.T, f *fixture) {
	forged := f.record(t, f.unbound(t, "700001", "forged"))
	bound := f.say(t, "700001", "hello")
	again := f.record(t, f.unbound(t, "700001", "forged again"))
	for _, r := range []turn.Recorded{forged, bound, again} {
		diff(t, r.Turn.Text, []any{conversation.Running, 1, false}, []any{r.Turn.State, r.Turn.Attempt, r.Behind})
	}
	f.end(t, bound)
	diff(t, "once no bound turn is left", conversation.Running, f.say(t, "700001", "and?").Turn.State)
}

// Holds docs/spec/03-turn.md, "Crash recovery", Shutdown: a message that still arrives is
// recorded, and answered by the next process.
func testRecordNobody(t *testing.T, f *fixture) {
	for _, bound := range []bool{true, false} {
		a := f.arrival("700001", "hello")
		if !bound {
			a = f.unbound(t, "700002", "hello")
		}
		a.Owner = ""
		r := f.record(t, a)
		diff(t, "state", []any{conversation.Waiting, "", 0, false}, []any{r.Turn.State, r.Turn.Owner, r.Turn.Attempt, r.Behind})
		diff(t, "as stored", r.Turn, f.turn(t, r))
		wantErr(t, "starting what is nobody's", second(f.db.Start(t.Context(), f.terms(r))), turn.ErrNotOwner)
	}
	late := f.merging("700001", "are you there?")
	late.Owner = ""
	r := f.record(t, late)
	diff(t, "behind another", []any{true, []string{"turn-000001"}}, []any{r.Behind, r.Merged})
}

func second[T any](_ T, err error) error { return err }

// Holds docs/spec/03-turn.md, "One turn at a time per contact": across every process on the
// same database.
func testRecordAtOnce(t *testing.T, f *fixture) {
	const n = 20
	running := make(chan string, n)
	var wg sync.WaitGroup
	for i, both := 0, f.both(t); i < n; i++ {
		a := f.arrival("700001", fmt.Sprint("message ", i))
		a.Owner = []string{owner, successor}[i%2]
		wg.Go(func() {
			r, err := both[i%2].Record(t.Context(), a)
			if err != nil {
				t.Errorf("Record: %v", err)
			}
			if r.Turn.State == conversation.Running {
				running <- r.Turn.ID
			}
			if r.Turn.State == conversation.Running != (r.Turn.Seq == 2) {
				t.Errorf("the turn at %d is %s", r.Turn.Seq, r.Turn.State)
			}
		})
	}
	wg.Wait()
	diff(t, "turns that run", 1, len(running))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": the database itself lets one
// turn of a contact run.
func testLane(t *testing.T, f *fixture) {
	first, waits := f.say(t, "700001", "one"), f.say(t, "700001", "two")
	f.record(t, f.unbound(t, "700001", "forged")) // beside it
	const run = `UPDATE turns SET state = 'running', attempt = 1 WHERE id = $1`
	if f.opened.Exec(run, waits.Turn.ID) == nil {
		t.Error("the database accepts a second running turn")
	}
	f.settle(t, settled(first, conversation.Inline, "answer"))
	if f.opened.Exec(run, waits.Turn.ID) == nil {
		t.Error("the database accepts a running turn beside an answering one")
	}
	f.stamp(t, stamp(first, f.now))
	f.write(t, run, waits.Turn.ID)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "The same message twice".
func testDuplicate(t *testing.T, f *fixture) {
	answered := func(path conversation.Path) func(turn.Recorded) {
		return func(r turn.Recorded) { f.settle(t, settled(r, path, "answer")) }
	}
	for i, c := range []struct {
		name        string
		text, again string
		after       time.Duration
		first       func(turn.Recorded) // what becomes of the first; nil: it runs
		forged      [2]bool
		want        bool
	}{
		{"at once", "hello", "hello", 0, nil, [2]bool{}, true},
		{"just within", "hello", "hello", turn.DuplicateWithin - time.Microsecond, nil, [2]bool{}, true},
		{"just after", "hello", "hello", turn.DuplicateWithin, nil, [2]bool{}, false},
		{"another case", "hello", "Hello", 0, nil, [2]bool{}, false},
		{"a space more", "hello", "hello ", 0, nil, [2]bool{}, false},
		{"without words", "", "", 0, nil, [2]bool{}, false},
		{"while it is answered", "hello", "hello", 0, answered(conversation.Inline), [2]bool{}, true},
		{"once it was answered later", "hello", "hello", 0, answered(conversation.Outbox), [2]bool{}, false},
		{"once it was passed over", "hello", "hello", 0, func(r turn.Recorded) { f.end(t, r) }, [2]bool{}, false},
		{"once its response left", "hello", "hello", 0, func(r turn.Recorded) { f.answer(t, r, "answer") }, [2]bool{}, false},
		{"once its response left and it acts", "hello", "hello", 0, func(r turn.Recorded) {
			answered(conversation.Inline)(r)
			s := stamp(r, f.now)
			s.Acts = true
			f.stamp(t, s)
		}, [2]bool{}, false},
		{"both forged", "hello", "hello", 0, nil, [2]bool{true, true}, true},
		{"the second forged", "hello", "hello", 0, nil, [2]bool{false, true}, false},
		{"the first forged", "hello", "hello", 0, nil, [2]bool{true, false}, false},
	} {
		subscriber := fmt.Sprint(800000 + i)
		message := func(text string, forged bool) turn.Recorded {
			if forged {
				return f.record(t, f.unbound(t, subscriber, text))
			}
			return f.say(t, subscriber, text)
		}
		first := message(c.text, c.forged[0])
		if c.first != nil {
			c.first(first)
		}
		f.now = f.now.Add(c.after)
		r := message(c.again, c.forged[1])
		diff(t, c.name, c.want, r.Turn.Outcome == conversation.Duplicate)
		if !c.want {
			continue
		}
		want := r.Turn
		want.State, want.Path, want.SettledAt, want.Attempt = conversation.Settled, conversation.Silent, f.now, 0
		diff(t, c.name+": it is over at once", want, r.Turn)
		diff(t, c.name+": as stored", want, f.turn(t, r))
		diff(t, c.name+": it waits for nothing", []any{false, 0}, []any{r.Behind, len(r.History)})
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a message that another turn
// answers is not answered yet while that one is not.
func testDuplicateMerged(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	two := f.record(t, f.merging("700001", "two"))
	three := f.record(t, f.merging("700001", "three"))
	diff(t, "merged", []string{two.Turn.ID}, three.Merged)
	again := f.record(t, f.merging("700001", "two"))
	diff(t, "while it waits", []any{conversation.Duplicate, 0}, []any{again.Turn.Outcome, len(again.Merged)})
	diff(t, "what waits goes on waiting", conversation.Waiting, f.turn(t, three).State)
	f.end(t, first)
	three = f.start(t, three)
	diff(t, "while it runs", conversation.Duplicate, f.say(t, "700001", "two").Turn.Outcome)
	f.answer(t, three, "answer")
	diff(t, "once it is answered", conversation.Running, f.say(t, "700001", "two").Turn.State)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a duplicate is not in history,
// and counts for no limit.
func testDuplicateCounts(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "hello")
	f.now = f.now.Add(time.Second)
	diff(t, "a duplicate", conversation.Duplicate, f.say(t, "700001", "hello").Turn.Outcome)
	f.answer(t, first, "hi")
	f.now = f.now.Add(time.Minute)
	next := f.say(t, "700001", "hello")
	diff(t, "history", []string{"hello", "hi"}, said(next.History))
	diff(t, "recent messages", []time.Time{start}, next.Recent)
}
