package lanetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// carried are rows as a turn plans to carry them.
func carried(rows []outbox.Row) (all []turn.Carried) {
	for _, r := range rows {
		all = append(all, turn.Carried{
			ID: r.ID, Sent: r.Payload.Sent, Texts: len(r.Payload.Texts), Acts: len(r.Payload.Actions) > 0,
		})
	}
	return all
}

func (f *fixture) ahead(t *testing.T, r turn.Recorded) []outbox.Row {
	t.Helper()
	return must(f.db.Ahead(t.Context(), r.Turn.ConversationID))(t)
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": what is unsent of
// the contact, oldest first.
func testAhead(t *testing.T, f *fixture) {
	done, later := f.deferred(t, "700001", "done"), ""
	r := f.claim(t, owner)[0]
	r.Status, r.DeliveredAt = outbox.Delivered, f.now
	ok(t, f.db.Release(t.Context(), r, nil))
	forged := settled(f.record(t, f.unbound(t, "700001", "forged")), conversation.Outbox, "to the forger")
	f.settle(t, forged)
	s := settled(f.say(t, "700001", "hello"), conversation.Inline, "at once", "later")
	s.Row = &outbox.Row{ID: "overflow", NextAttemptAt: f.now.Add(time.Hour), Payload: outbox.Payload{Texts: []string{"later"}}}
	s.Notices = []outbox.Row{{Part: 0, Payload: outbox.Payload{Actions: []action.Pending{{Tool: action.NotifyHandoff, ID: action.NoticeTag}}}}}
	f.settle(t, s)
	f.stamp(t, stamp(turn.Recorded{Turn: s.Turn}, f.now))
	later = f.deferred(t, "700001", "last")
	f.deferred(t, "700002", "another contact's")

	asks := turn.Recorded{Turn: s.Turn}
	diff(t, "ahead", []string{"overflow", later}, ids(f.ahead(t, asks)))
	diff(t, "row", f.row(t, later), f.ahead(t, asks)[1])
	diff(t, "not among them", outbox.Delivered, f.row(t, done).Status)
	f.now = f.now.Add(2 * time.Hour)
	diff(t, "claimed", 2, len(f.claim(t, owner))) // the other contact's as well
	diff(t, "while one is in hand", []string{"overflow", later}, ids(f.ahead(t, asks)))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": carried rows are
// delivering under the turn, and delivered with its response.
func testCarry(t *testing.T, f *fixture) {
	one, two := f.deferred(t, "700001", "one", "more"), f.deferred(t, "700001", "two")
	r := f.claim(t, owner)[0]
	r.Payload.Sent, r.Payload.Unknown = 1, 1
	ok(t, f.db.Progress(t.Context(), r, time.Time{}))
	r.Status, r.NextAttemptAt, r.LastError = outbox.Pending, f.now.Add(time.Hour), "status 503"
	ok(t, f.db.Release(t.Context(), r, nil))
	asks := f.say(t, "700001", "and?")
	s := settled(asks, conversation.Inline, "three")
	s.Carried = carried(f.ahead(t, asks))
	f.settle(t, s)
	for id, attempts := range map[string]int{one: 2, two: 1} {
		diff(t, "in the response", []any{outbox.Delivering, attempts, false},
			[]any{f.row(t, id).Status, f.row(t, id).Attempts, f.row(t, id).Owner == owner+"/1"})
	}
	f.now = f.now.Add(2 * time.Hour)
	diff(t, "claimed meanwhile", []string{}, ids(f.claim(t, owner)))

	written := stamp(asks, f.now)
	written.Carried = s.Carried
	for range 2 {
		f.stamp(t, written)
		for id, texts := range map[string]int{one: 2, two: 1} {
			row := f.row(t, id)
			diff(t, "delivered", []any{outbox.Delivered, "", f.now, texts, 0, ""},
				[]any{row.Status, row.Owner, row.DeliveredAt, row.Payload.Sent, row.Payload.Unknown, row.LastError})
		}
		written.At = written.At.Add(time.Minute) // the second changes nothing
	}
	diff(t, "turn", conversation.Settled, f.turn(t, asks).State)
	diff(t, "history", []string{"hello", "one\n\nmore", "hello", "two", "and?", "three"}[0], said(f.say(t, "700001", "now").History)[0])
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": the settling
// transaction gets every row it planned, else none.
func testCarryExactly(t *testing.T, f *fixture) {
	for i, c := range []struct {
		name   string
		change func(planned []turn.Carried) []turn.Carried
		beside func(first string) // what happens meanwhile
		want   error
	}{
		{"as planned", nil, nil, nil},
		{"none", func([]turn.Carried) []turn.Carried { return nil }, nil, turn.ErrQueuedAhead},
		{"not all", func(p []turn.Carried) []turn.Carried { return p[:1] }, nil, turn.ErrQueuedAhead},
		{"out of order", func(p []turn.Carried) []turn.Carried { return []turn.Carried{p[1], p[0]} }, nil, turn.ErrQueuedAhead},
		{"one too many", func(p []turn.Carried) []turn.Carried { return append(p, turn.Carried{ID: "row-x"}) }, nil, turn.ErrQueuedAhead},
		{"one went on meanwhile", nil, func(first string) {
			f.write(t, `UPDATE outbox SET sent = 1 WHERE id = $1`, first)
		}, turn.ErrQueuedAhead},
		{"one is in hand", nil, func(string) { f.claim(t, owner) }, turn.ErrQueuedAhead},
		{"one ended meanwhile", nil, func(first string) { ok(t, f.db.DiscardOutbox(t.Context(), first)) }, turn.ErrQueuedAhead},
	} {
		subscriber := strconv.Itoa(800000 + i)
		rows := []string{f.deferred(t, subscriber, "one", "more"), f.deferred(t, subscriber, "two")}
		asks := f.say(t, subscriber, "and?")
		s := settled(asks, conversation.Inline, "three")
		s.Carried = carried(f.ahead(t, asks))
		if c.change != nil {
			s.Carried = c.change(s.Carried)
		}
		if c.beside != nil {
			c.beside(rows[0])
		}
		before := [][]any{f.stands(t, rows[0]), f.stands(t, rows[1])}
		wantErr(t, c.name, f.db.Settle(t.Context(), s), c.want)
		if c.want != nil {
			diff(t, c.name+": turn", asks.Turn, f.turn(t, asks))
			diff(t, c.name+": rows", before, [][]any{f.stands(t, rows[0]), f.stands(t, rows[1])})
		}
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": actions of what was
// carried are still to come, once.
func testCarryActions(t *testing.T, f *fixture) {
	s := settled(f.say(t, "700001", "hello"), conversation.Outbox, "one", "more")
	s.Turn.Actions = []action.Record{{Tool: action.AddTag, ID: "interested", Status: action.Staged}}
	s.Row.Payload.Actions = []action.Pending{{Tool: action.AddTag, ID: "interested"}}
	f.settle(t, s)
	asks := f.say(t, "700001", "and?")
	next := settled(asks, conversation.Inline, "three")
	next.Carried = carried(f.ahead(t, asks))
	f.settle(t, next)
	written := stamp(asks, f.now)
	written.Carried = next.Carried
	f.stamp(t, written)
	row := f.row(t, s.Row.ID)
	diff(t, "row", []any{outbox.Pending, "", 2, s.Row.Payload.Actions, time.Time{}},
		[]any{row.Status, row.Owner, row.Payload.Sent, row.Payload.Actions, row.DeliveredAt})
	f.now = f.now.Add(gap)
	diff(t, "for the worker", []string{row.ID}, ids(f.claim(t, owner)))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": an unbound response carries
// only its own text, and waits for nothing.
func testCarryUnbound(t *testing.T, f *fixture) {
	row := f.deferred(t, "700001", "one")
	before := f.stands(t, row)
	forged := f.record(t, f.unbound(t, "700001", "forged"))
	f.settle(t, settled(forged, conversation.Inline, "to the forger"))
	f.stamp(t, stamp(forged, f.now))
	diff(t, "row", before, f.stands(t, row))
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact", "Carrying": rows come back if
// the response was never written.
func testCarryReroute(t *testing.T, f *fixture) {
	f.comesBack(t, func(asks turn.Recorded) {
		ok(t, f.db.Reroute(t.Context(), asks.Turn.ID, outbox.Row{
			ID: "own", ConversationID: asks.Conversation.ID, Payload: outbox.Payload{Texts: []string{"three"}},
		}))
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": what a response carried that no stamp says was
// written goes out again.
func testCarryTakeOver(t *testing.T, f *fixture) {
	for _, o := range []sweep.TakeOver{{All: true}, {Dead: []string{owner}}} {
		f.comesBack(t, func(turn.Recorded) { diff(t, "to run", 0, len(f.sweep(t, o))) })
	}
}

// comesBack holds that rows which a response carried are as they were once undo has undone it,
// and that its own text is behind them.
func (f *fixture) comesBack(t *testing.T, undo func(asks turn.Recorded)) {
	t.Helper()
	f.made++
	subscriber := strconv.Itoa(800000 + f.made)
	rows := []string{f.deferred(t, subscriber, "one", "more"), f.deferred(t, subscriber, "two")}
	before := [][]any{f.stands(t, rows[0]), f.stands(t, rows[1])}
	asks := f.say(t, subscriber, "and?")
	s := settled(asks, conversation.Inline, "three")
	s.Carried = carried(f.ahead(t, asks))
	f.settle(t, s)
	undo(asks)
	diff(t, "rows", before, [][]any{f.stands(t, rows[0]), f.stands(t, rows[1])})
	diff(t, "turn", []any{conversation.Settled, conversation.Outbox}, []any{f.turn(t, asks).State, f.turn(t, asks).Path})
	own := must(f.db.TurnRows(t.Context(), asks.Turn.ID))(t)
	diff(t, "its own text", []string{"three"}, own[0].Payload.Texts)
	diff(t, "in order", append(rows, own[0].ID), ids(f.ahead(t, asks)))
	diff(t, "next", rows[:1], ids(f.claim(t, successor)))
	f.stamp(t, turn.Stamp{TurnID: asks.Turn.ID, ConversationID: asks.Conversation.ID, At: f.now, Carried: s.Carried}) // too late
	diff(t, "stamped too late", []any{outbox.Delivering, outbox.Pending}, []any{f.row(t, rows[0]).Status, f.row(t, rows[1]).Status})
}
