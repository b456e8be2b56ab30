package lanetest

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Holds docs/spec/03-turn.md, "Crash recovery": each process keeps one heartbeat row, which the
// others see.
func testBeat(t *testing.T, f *fixture) {
	both := f.both(t)
	for _, c := range []struct {
		process, tenant string
		known           bool
		want            map[string]int64
	}{
		{owner, "demo", false, map[string]int64{owner: 1}},
		{owner, "demo", true, map[string]int64{owner: 2}},
		{successor, "demo", false, map[string]int64{owner: 2, successor: 1}},
		{"process-x", "other", false, map[string]int64{"process-x": 1}},
		{owner, "demo", true, map[string]int64{owner: 3, successor: 1}},
	} {
		beats, known, err := both[len(c.want)%2].Beat(t.Context(), sweep.Process{ID: c.process, TenantID: c.tenant})
		ok(t, err)
		diff(t, c.process, []any{c.known, c.want}, []any{known, beats})
	}
	f.sweep(t, sweep.TakeOver{Dead: []string{owner}})
	beats, known, err := f.db.Beat(t.Context(), sweep.Process{ID: owner, TenantID: "demo"})
	ok(t, err)
	diff(t, "once others took over", []any{false, map[string]int64{owner: 1, successor: 1}}, []any{known, beats})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process that has beaten since it was looked at keeps
// what it has.
func testBeatInTime(t *testing.T, f *fixture) {
	p := sweep.Process{ID: owner, TenantID: "demo"}
	r := f.say(t, "700001", "hello")
	for range 3 {
		_, _, err := f.db.Beat(t.Context(), p)
		ok(t, err)
	}
	seen := func(n int64) sweep.TakeOver {
		return sweep.TakeOver{Dead: []string{owner}, Beats: map[string]int64{owner: n}}
	}
	diff(t, "of a process that beat since", 0, len(f.sweep(t, seen(2))))
	_, known, err := f.db.Beat(t.Context(), p)
	ok(t, err)
	diff(t, "known, and its turn's owner", []any{true, owner}, []any{known, f.turn(t, r).Owner})
	diff(t, "of one that did not", 1, len(f.sweep(t, seen(4))))
}

// Holds docs/spec/03-turn.md, "Crash recovery": what names a live process, oldest first, and
// whether anything is nobody's.
func testUnfinished(t *testing.T, f *fixture) {
	running := f.say(t, "700001", "one")
	f.now = f.now.Add(time.Second)
	waits, answering, done := f.say(t, "700001", "two"), f.say(t, "700002", "three"), f.say(t, "700003", "four")
	f.settle(t, settled(answering, conversation.Inline, "answer"))
	f.end(t, done)
	for i, process := range []string{successor, ""} {
		owned, unowned, err := f.db.Unfinished(t.Context(), sweep.Process{ID: owner, TenantID: "demo"})
		ok(t, err)
		diff(t, "owned, nobody's", []any{3, false}, []any{len(owned), unowned})
		a := f.arrival([]string{"700004", "700005"}[i], "another's")
		a.Owner = process
		f.record(t, a)
	}
	owned, unowned, err := f.db.Unfinished(t.Context(), sweep.Process{ID: owner, TenantID: "demo"})
	ok(t, err)
	diff(t, "nobody's", true, unowned)
	diff(t, "owned", set([]string{running.Turn.ID, waits.Turn.ID, answering.Turn.ID}), set(owned))
	diff(t, "the oldest first", running.Turn.ID, owned[0])
	owned, unowned, err = f.db.Unfinished(t.Context(), sweep.Process{ID: owner, TenantID: "other"})
	ok(t, err)
	diff(t, "in another tenant", []any{0, false}, []any{len(owned), unowned})
}

// Holds docs/spec/03-turn.md, "Crash recovery", Shutdown: everything owned is handed back,
// states as they are, and no attempt is counted.
func testHandBack(t *testing.T, f *fixture) {
	running, waits := f.say(t, "700001", "one"), f.say(t, "700001", "two")
	answering := f.say(t, "700002", "three")
	f.settle(t, settled(answering, conversation.Inline, "answer"))
	a := f.arrival("700003", "another's")
	a.Owner = successor
	other := f.record(t, a)
	mine := f.deferred(t, "700004", "mine")
	f.claim(t, owner)
	theirs := f.deferred(t, "700005", "theirs")
	f.claim(t, successor)
	for _, process := range []string{owner, successor} {
		_, _, err := f.db.Beat(t.Context(), sweep.Process{ID: process, TenantID: "demo"})
		ok(t, err)
	}

	for range 2 {
		ok(t, f.db.HandBack(t.Context(), sweep.Process{ID: owner, TenantID: "demo"}))
		for r, state := range map[*conversation.Turn]conversation.State{
			&running.Turn: conversation.Running, &waits.Turn: conversation.Waiting, &answering.Turn: conversation.Answering,
		} {
			got := must(f.db.Turn(t.Context(), r.ID))(t)
			diff(t, "turn", []any{state, "", r.Attempt}, []any{got.State, got.Owner, got.Attempt})
		}
		diff(t, "another's turn", other.Turn, f.turn(t, other))
		diff(t, "row", []any{outbox.Pending, "", 0}, f.stands(t, mine))
		diff(t, "another's row", []any{outbox.Delivering, successor + "/1", 1}, f.stands(t, theirs))
	}
	taken := f.sweep(t, sweep.TakeOver{})
	diff(t, "taken", set([]string{running.Turn.ID, waits.Turn.ID}), set(turns(taken)))
	for _, r := range taken {
		diff(t, "attempts of "+r.Turn.Text, map[string]int{"one": 1, "two": 0}[r.Turn.Text], r.Turn.Attempt)
	}
	diff(t, "what was answering", conversation.Outbox, f.turn(t, answering).Path)
	beats, _, err := f.db.Beat(t.Context(), sweep.Process{ID: successor, TenantID: "demo"})
	ok(t, err)
	diff(t, "processes", map[string]int64{successor: 2}, beats)
}
