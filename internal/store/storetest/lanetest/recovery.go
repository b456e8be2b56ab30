package lanetest

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// everything is what a process takes over that is alone on its database.
var everything = sweep.TakeOver{All: true}

// sweep takes over as the successor, unless the terms name another process.
func (f *fixture) sweep(t *testing.T, o sweep.TakeOver) []turn.Recorded {
	t.Helper()
	taken, more, err := f.db.TakeOver(t.Context(), f.sweeping(o))
	if err != nil || more {
		t.Fatalf("TakeOver: more %t, %v", more, err)
	}
	return taken
}

func (f *fixture) sweeping(o sweep.TakeOver) sweep.TakeOver {
	if o.ID == "" {
		o.ID = successor
	}
	o.TenantID, o.Window = "demo", turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10}
	return o
}

// Holds docs/spec/03-turn.md, "Crash recovery": what a process left runs again, and waits
// where it waited.
func testTakeOver(t *testing.T, f *fixture) {
	rowID := f.deferred(t, "700001", "in hand")
	f.claim(t, owner)
	a := f.arrival("700001", "second")
	a.Offering = "yoga"
	second := f.record(t, a)
	f.now = f.now.Add(time.Second)
	first := f.say(t, "700002", "later, elsewhere")
	b := f.arrival("700001", "third")
	b.Offering = "tango" // must not become the second turn's
	third := f.record(t, b)
	done := f.say(t, "700003", "done")
	f.answer(t, done, "answered")
	foreign := f.arrival("700009", "another tenant's")
	foreign.Key.TenantID = "other"
	other := f.record(t, foreign)

	got := f.sweep(t, everything)
	var want []turn.Recorded
	for _, r := range []turn.Recorded{second, first, third} {
		r.Turn.Owner, r.Binding, r.Behind, r.Recent = successor, "", false, nil
		if r.Turn.State == conversation.Running {
			r.Turn.Attempt = 2
		} else {
			r.QueuedAhead = false // what it starts from is read when it starts
		}
		want = append(want, r)
	}
	diff(t, "turns to run again", want, got)
	for _, r := range want {
		diff(t, "turn as stored", r.Turn, f.turn(t, r))
	}
	diff(t, "settled turn", conversation.Settled, f.turn(t, done).State)
	diff(t, "another tenant's turn", other.Turn, f.turn(t, other))
	diff(t, "row in hand", []any{outbox.Pending, "", 0}, f.stands(t, rowID))
	wantErr(t, "a write of the attempt before", f.db.Settle(t.Context(), settled(second, conversation.Silent)), turn.ErrNotOwner)

	f.settle(t, settled(got[1], conversation.Inline, "at last"))
	again := f.sweep(t, sweep.TakeOver{All: true, Process: sweep.Process{ID: "process-c"}})
	diff(t, "taken over once more", []string{second.Turn.ID, third.Turn.ID}, turns(again))
	diff(t, "attempts", []int{3, 0}, []int{again[0].Turn.Attempt, again[1].Turn.Attempt})
	diff(t, "a process's own", 0, len(f.sweep(t, sweep.TakeOver{All: true, Process: sweep.Process{ID: "process-c"}})))
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

	if again := f.sweep(t, everything); len(again) > 0 {
		t.Errorf("an answering turn was to be run again: %+v", again)
	}
	got := f.turn(t, r)
	diff(t, "state and path", []any{conversation.Settled, conversation.Outbox}, []any{got.State, got.Path})
	row := f.claim(t, successor)[0]
	diff(t, "it is as old as the message it answers", start, row.CreatedAt)
	diff(t, "the unwritten part goes first", outbox.Payload{Texts: []string{"first", "second"}}, row.Payload)
	row.Status, row.DeliveredAt = outbox.Delivered, f.now
	ok(t, f.db.Release(t.Context(), row, nil))
	overflow := f.claim(t, successor)[0]
	diff(t, "then the overflow, with the actions", []any{"overflow", s.Row.Payload}, []any{overflow.ID, overflow.Payload})
}

// Holds docs/spec/03-turn.md, "Crash recovery": stamped, it settles, and its actions stay
// staged; whoever waited behind it may start.
func testTakeOverActing(t *testing.T, f *fixture) {
	r := f.say(t, "700001", "hello")
	s := settled(r, conversation.Inline, "hi")
	s.Turn.Actions = []action.Record{{Tool: action.AddTag, ID: "interested", Status: action.Staged}}
	s.Pending = []action.Pending{{Tool: action.AddTag, ID: "interested"}}
	f.settle(t, s)
	written := stamp(r, f.now)
	written.Acts = true
	f.stamp(t, written)
	waits := f.say(t, "700001", "and?")
	taken := f.sweep(t, sweep.TakeOver{Dead: []string{owner}})
	diff(t, "taken", []string{waits.Turn.ID}, turns(taken))
	got := f.turn(t, r)
	diff(t, "turn", []any{conversation.Settled, conversation.Inline, s.Turn.Actions}, []any{got.State, got.Path, got.Actions})
	diff(t, "rows", 0, len(must(f.db.TurnRows(t.Context(), r.Turn.ID))(t)))
	diff(t, "what waited", []string{"hello", "hi"}, said(f.start(t, taken[0]).History))
}

// Holds docs/spec/03-turn.md, "Crash recovery": what belongs to a dead process, or to nobody,
// and nothing of the living.
func testTakeOverDead(t *testing.T, f *fixture) {
	for _, process := range []string{owner, "process-c", "process-d", successor} {
		_, _, err := f.db.Beat(t.Context(), sweep.Process{ID: process, TenantID: "demo"})
		ok(t, err)
	}
	rows := map[string]string{}
	kept := map[string]turn.Recorded{}
	for i, process := range []string{owner, "process-c", "process-d", "", successor} {
		a := f.arrival(strconv.Itoa(700001+i), "hello")
		a.Owner = process
		kept[process] = f.record(t, a)
		if process != "" {
			rows[process] = f.deferred(t, strconv.Itoa(700011+i), "later")
			diff(t, "in hand", []string{rows[process]}, ids(f.claim(t, process)))
		}
	}
	taken := f.sweep(t, sweep.TakeOver{Dead: []string{owner, "process-d"}})
	diff(t, "taken", []string{kept[owner].Turn.ID, kept["process-d"].Turn.ID, kept[""].Turn.ID}, turns(taken))
	diff(t, "attempts", []int{2, 2, 0}, []int{taken[0].Turn.Attempt, taken[1].Turn.Attempt, taken[2].Turn.Attempt})
	for _, r := range taken {
		diff(t, "owner", successor, f.turn(t, r).Owner)
	}
	for _, alive := range []string{"process-c", successor} {
		diff(t, "turn of "+alive, kept[alive].Turn, f.turn(t, kept[alive]))
		diff(t, "row of "+alive, []any{outbox.Delivering, alive + "/1", 1}, f.stands(t, rows[alive]))
	}
	for _, dead := range []string{owner, "process-d"} {
		diff(t, "row of "+dead, []any{outbox.Pending, "", 0}, f.stands(t, rows[dead]))
	}
	beats, known, err := f.db.Beat(t.Context(), sweep.Process{ID: successor, TenantID: "demo"})
	ok(t, err)
	diff(t, "processes", []any{map[string]int64{"process-c": 1, successor: 2}, true}, []any{beats, known})
	diff(t, "once more", 0, len(f.sweep(t, sweep.TakeOver{Dead: []string{owner, "process-d"}})))
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process sweeps those of its own that it does
// not work on any more.
func testTakeOverLost(t *testing.T, f *fixture) {
	own := sweep.Process{ID: owner}
	held, lost, done := f.say(t, "700001", "one"), f.say(t, "700002", "two"), f.say(t, "700003", "three")
	waits := f.say(t, "700002", "and?")
	unwritten := f.say(t, "700004", "four")
	f.settle(t, settled(unwritten, conversation.Inline, "answer"))
	f.end(t, done)
	another := f.arrival("700005", "another's")
	another.Owner = successor
	other := f.record(t, another)
	var names []string
	for _, r := range []turn.Recorded{lost, done, waits, unwritten, other} {
		names = append(names, r.Turn.ID)
	}
	taken := f.sweep(t, sweep.TakeOver{Process: own, Lost: append(names, "turn-x")})
	diff(t, "taken", []string{lost.Turn.ID, waits.Turn.ID}, turns(taken))
	diff(t, "attempts", []int{2, 0}, []int{taken[0].Turn.Attempt, taken[1].Turn.Attempt})
	diff(t, "held", held.Turn, f.turn(t, held))
	diff(t, "another's", other.Turn, f.turn(t, other))
	settledSince := done.Turn
	settledSince.State, settledSince.Outcome, settledSince.Path = conversation.Settled, conversation.Answered, conversation.Silent
	settledSince.SettledAt = f.now
	diff(t, "settled meanwhile", settledSince, f.turn(t, done))
	diff(t, "answering", conversation.Outbox, f.turn(t, unwritten).Path)
}

// Holds docs/spec/03-turn.md, "Crash recovery": earlier turns of a contact are taken over
// before later ones, and the oldest of all first.
func testTakeOverOrder(t *testing.T, f *fixture) {
	var want []string
	for _, subscriber := range []string{"700002", "700001", "700002", "700003", "700001"} {
		want = append(want, f.say(t, subscriber, strconv.Itoa(f.made)).Turn.ID)
		f.now = f.now.Add(time.Second)
	}
	diff(t, "taken", want, turns(f.sweep(t, everything)))
}

// Holds docs/spec/03-turn.md, "Crash recovery": a bounded number at a time, none of them twice.
func testTakeOverLimit(t *testing.T, f *fixture) {
	var want, got []string
	for i := range 5 {
		a := f.arrival(strconv.Itoa(700001+i), "hello")
		a.Owner = []string{"process-c", owner, ""}[i%3]
		want = append(want, f.record(t, a).Turn.ID)
	}
	row := f.deferred(t, "700010", "later")
	f.claim(t, owner)
	o := f.sweeping(sweep.TakeOver{Dead: []string{owner, "process-c"}, Limit: 3})
	for more, times := true, 0; more; times++ {
		taken, goesOn, err := f.db.TakeOver(t.Context(), o)
		ok(t, err)
		if more = goesOn; len(taken) > 3 || times > 4 {
			t.Fatalf("%d turns were taken at once, at time %d", len(taken), times)
		}
		got = append(got, turns(taken)...)
		diff(t, "the dead are buried first", outbox.Pending, f.row(t, row).Status)
		_, known, err := f.db.Beat(t.Context(), sweep.Process{ID: owner, TenantID: "demo"})
		ok(t, err)
		diff(t, "and find out when they beat", false, known)
	}
	diff(t, "taken", map[string]bool{want[0]: true, want[1]: true, want[2]: true, want[3]: true, want[4]: true}, set(got))
	diff(t, "taken twice", len(want), len(got))
}

func set(names []string) map[string]bool {
	all := map[string]bool{}
	for _, name := range names {
		all[name] = true
	}
	return all
}

// Holds docs/spec/03-turn.md, "Crash recovery": a rerun answers exactly the messages recorded
// for it.
func testTakeOverMerged(t *testing.T, f *fixture) {
	first := f.say(t, "700001", "one")
	f.record(t, f.merging("700001", "two"))
	three := f.record(t, f.merging("700001", "three"))
	f.end(t, first)
	f.start(t, three)
	f.record(t, f.merging("700001", "four"))
	taken := f.sweep(t, sweep.TakeOver{Dead: []string{owner}})
	diff(t, "states", []any{conversation.Running, conversation.Waiting}, []any{taken[0].Turn.State, taken[1].Turn.State})
	diff(t, "messages", []string{"two", "three"}, taken[0].Texts())
	diff(t, "history", []string{"one"}, said(taken[0].History))
}

// Holds docs/spec/03-turn.md, "Crash recovery": by conditional update, so that of two
// processes one takes a turn.
func testTakeOverAtOnce(t *testing.T, f *fixture) {
	const n = 10
	for i := range n {
		f.say(t, strconv.Itoa(700001+i), "hello")
	}
	var wg sync.WaitGroup
	taken := make(chan turn.Recorded, 4*n)
	for i, both := 0, f.both(t); i < 4; i++ {
		o := f.sweeping(sweep.TakeOver{Process: sweep.Process{ID: []string{successor, "process-c"}[i%2]}, Dead: []string{owner}})
		wg.Go(func() {
			all, _, err := both[i%2].TakeOver(t.Context(), o)
			if err != nil {
				t.Errorf("TakeOver: %v", err)
			}
			for _, r := range all {
				taken <- r
			}
		})
	}
	wg.Wait()
	close(taken)
	diff(t, "taken", n, len(taken))
	for r := range taken {
		diff(t, "as its taker has it", r.Turn, f.turn(t, r))
	}
}
