// Package talktest is the part of the suite of every database that is about people who take
// conversations over.
package talktest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Run runs the suite.
func Run(t *testing.T, open storetest.Open) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"pause withholds":            testWithholds,
		"pause of somebody new":      testNew,
		"pause on every channel":     testChannels,
		"pause and a running turn":   testRunning,
		"pause and a flow":           testFlow,
		"handoff that pauses":        testHold,
		"handoff within a pause":     testHoldLonger,
		"opt-out":                    testOptOut,
		"opt-out by an operator":     testOptOutByHand,
		"opt-out and a running turn": testOptOutRunning,
		"opt-in":                     testOptIn,
		"answered":                   testAnswered,
		"tag is asked for in turns":  testTag,
		"tag withholds":              testTagWithholds,
		"list":                       testList,
		"rows that are on their way": testOnTheirWay,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{t: t, now: start}
			f.db = open(t, func() time.Time { return f.now }).DB
			test(t, f)
		})
	}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

// fixture is a database with a clock of its own. Its methods fail the test on errors.
type fixture struct {
	t    *testing.T
	db   *store.DB
	now  time.Time
	made int
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

// say records a message.
func (f *fixture) say(who contact.Key) turn.Recorded {
	f.t.Helper()
	f.made++
	r, err := f.db.Record(f.t.Context(), turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: who, Owner: "p1", Text: fmt.Sprint("message ", f.made), ReceivedAt: f.now,
		Window: turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10, RecentLimit: 10},
	})
	f.check(err)
	return r
}

// late is the end of a turn whose texts wait in the outbox, with an action behind them.
func (f *fixture) late(r turn.Recorded, texts ...string) turn.Settlement {
	s := turn.Settlement{Turn: r.Turn, Row: &outbox.Row{ID: "row-" + r.Turn.ID, NextAttemptAt: f.now, Payload: outbox.Payload{
		Texts: texts, Actions: []action.Pending{{Tool: action.AddTag, ID: "gift"}},
	}}}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.SettledAt = conversation.Answered, conversation.Outbox, texts, f.now
	s.Turn.Actions = []action.Record{{Tool: action.AddTag, ID: "gift", Status: action.Staged}}
	return s
}

// queue is a whole turn whose reply waits; it returns the row's id.
func (f *fixture) queue(who contact.Key, texts ...string) string {
	f.t.Helper()
	s := f.late(f.say(who), texts...)
	f.check(f.db.Settle(f.t.Context(), s))
	return s.Row.ID
}

func (f *fixture) pause(who contact.Key, d time.Duration) store.Paused {
	f.t.Helper()
	paused, err := f.db.Pause(f.t.Context(), who, f.now.Add(d))
	f.check(err)
	return paused
}

func (f *fixture) talk(who contact.Key) conversation.Conversation {
	f.t.Helper()
	c, err := f.db.Conversation(f.t.Context(), who)
	f.check(err)
	return c
}

func (f *fixture) row(id string) outbox.Row {
	f.t.Helper()
	r, err := f.db.OutboxRow(f.t.Context(), id)
	f.check(err)
	return r
}

func (f *fixture) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func testWithholds(t *testing.T, f *fixture) {
	who, other := key("700001"), key("700002")
	first, second, theirs := f.queue(who, "one"), f.queue(who, "two"), f.queue(other, "three")
	diff(t, "withheld", 2, f.pause(who, time.Hour).Withheld)
	for _, id := range []string{first, second} {
		r := f.row(id)
		turned, err := f.db.Turn(t.Context(), r.TurnID)
		f.check(err)
		if r.Status != outbox.Withheld || turned.Actions[0].Status != action.Discarded {
			t.Errorf("row %s is %s, its action %s", id, r.Status, turned.Actions[0].Status)
		}
	}
	diff(t, "the other contact's row", outbox.Pending, f.row(theirs).Status)
	diff(t, "withheld once more", 0, f.pause(who, 2*time.Hour).Withheld)
	diff(t, "the later end", f.now.Add(2*time.Hour), f.talk(who).PausedUntil)
	if history := f.say(who).History; len(history) != 2 {
		t.Errorf("history is %+v, want the two messages", history)
	}
	_, err := f.db.Resume(t.Context(), who)
	f.check(err)
	diff(t, "a row behind the end of the pause", outbox.Withheld, f.row(first).Status)
	if c := f.talk(who); c.Paused(f.now) {
		t.Errorf("paused until %s", c.PausedUntil)
	}
}

func testNew(t *testing.T, f *fixture) {
	who := key("700001")
	f.pause(who, time.Hour)
	if r := f.say(who); !r.Conversation.Holds(r.Turn.Seq, f.now) || r.Turn.Seq != 2 || !r.Turn.Bound {
		t.Errorf("the first turn is %+v, of %+v", r.Turn, r.Conversation)
	}
	talks, err := f.db.Resume(t.Context(), key("700009"))
	f.check(err)
	diff(t, "conversations of nobody", 0, len(talks))
}

func testChannels(t *testing.T, f *fixture) {
	who, there, new := key("700001"), key("700001"), key("700001")
	there.Channel, new.Channel = contact.Instagram, contact.Telegram
	a, b := f.queue(who, "one"), f.queue(there, "two")
	diff(t, "withheld on both channels", 2, f.pause(who, time.Hour).Withheld)
	diff(t, "rows", []outbox.Status{outbox.Withheld, outbox.Withheld}, []outbox.Status{f.row(a).Status, f.row(b).Status})
	if r := f.say(new); !r.Conversation.Holds(r.Turn.Seq, f.now) {
		t.Error("a person who has a contact does not have them on a channel that is new")
	}
}

func testRunning(t *testing.T, f *fixture) {
	who := key("700001")
	s := f.late(f.say(who), "one")
	f.pause(who, time.Hour)
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("Settle returned %v, want ErrPaused", err)
	}
	f.now = f.now.Add(time.Hour)
	f.check(f.db.Settle(t.Context(), s))
}

func testFlow(t *testing.T, f *fixture) {
	who := key("700001")
	r := f.say(who)
	n := turn.FlowNote{
		TurnID: r.Turn.ID, Owner: "p1", Attempt: 1, Actions: []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Sending}},
		Claim: action.Claim{Flow: "map", At: f.now},
	}
	f.pause(who, time.Hour)
	if err := f.db.NoteFlow(t.Context(), n); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("NoteFlow returned %v, want ErrPaused", err)
	}
	turned, err := f.db.Turn(t.Context(), r.Turn.ID)
	f.check(err)
	diff(t, "actions of the turn", 0, len(turned.Actions))
	_, err = f.db.Resume(t.Context(), who)
	f.check(err)
	f.check(f.db.NoteTag(t.Context(), who, true))
	n.Tagged = true
	if err := f.db.NoteFlow(t.Context(), n); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("NoteFlow of a contact with the tag returned %v, want ErrPaused", err)
	}
	n.Tagged = false
	f.check(f.db.NoteFlow(t.Context(), n))
}

// handoff is the end of a turn that pauses its conversation.
func (f *fixture) handoff(r turn.Recorded, d time.Duration) turn.Settlement {
	s := f.late(r, "a person will answer")
	s.Turn.Outcome, s.Turn.Reason, s.PauseUntil = conversation.Escalated, conversation.OutOfScope, f.now.Add(d)
	return s
}

func testHold(t *testing.T, f *fixture) {
	who := key("700001")
	earlier := f.queue(who, "one")
	r := f.say(who)
	s := f.handoff(r, time.Hour)
	f.check(f.db.Settle(t.Context(), s))
	c := f.talk(who)
	if c.Holds(r.Turn.Seq, f.now) || !c.Holds(r.Turn.Seq+2, f.now) || c.Holds(r.Turn.Seq+2, f.now.Add(time.Hour)) {
		t.Errorf("a pause from %d until %s, behind a turn at %d", c.PausedFrom, c.PausedUntil, r.Turn.Seq)
	}
	diff(t, "its copy and what is before it", []outbox.Status{outbox.Pending, outbox.Pending}, []outbox.Status{f.row(earlier).Status, f.row(s.Row.ID).Status})
	if err := f.db.Settle(t.Context(), f.late(f.say(who), "two")); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("the next turn settled: %v, want ErrPaused", err)
	}
}

func testHoldLonger(t *testing.T, f *fixture) {
	who := key("700001")
	r := f.say(who)
	f.pause(who, 2*time.Hour)
	silent := f.handoff(r, time.Hour)
	silent.Turn.Path, silent.Turn.Replies, silent.Row = conversation.Silent, nil, nil
	f.check(f.db.Settle(t.Context(), silent))
	if c := f.talk(who); c.PausedFrom != 0 || !c.PausedUntil.Equal(f.now.Add(2*time.Hour)) {
		t.Errorf("a pause from %d until %s", c.PausedFrom, c.PausedUntil)
	}
	silent.Turn = f.say(who).Turn
	silent.Turn.Outcome, silent.Turn.Path, silent.Turn.Reason, silent.Turn.SettledAt = conversation.Escalated, conversation.Silent, conversation.OutOfScope, f.now
	silent.PauseUntil = f.now.Add(3 * time.Hour)
	f.check(f.db.Settle(t.Context(), silent))
	if c := f.talk(who); c.PausedFrom != 0 || !c.PausedUntil.Equal(f.now.Add(3*time.Hour)) {
		t.Errorf("a longer pause from %d until %s", c.PausedFrom, c.PausedUntil)
	}
}

func testAnswered(t *testing.T, f *fixture) {
	who := key("700001")
	f.queue(who, "one")
	rows, err := f.db.Claim(t.Context(), outbox.Claim{Owner: "p1/1", Now: f.now, Room: map[outbox.Kind]int{outbox.Reply: 1}})
	f.check(err)
	rows[0].Status, rows[0].Reason = outbox.Dead, outbox.ReasonRejected
	f.check(f.db.Release(t.Context(), rows[0], nil))
	diff(t, "needs a person", true, f.talk(who).NeedsPerson)
	f.pause(who, time.Hour)
	talks, err := f.db.MarkAnswered(t.Context(), who)
	f.check(err)
	c := f.talk(who)
	if diff(t, "the conversation", []conversation.Conversation{c}, talks); c.NeedsPerson || !c.AnsweredAt.Equal(f.now) || !c.Paused(f.now) {
		t.Errorf("needs a person: %t, answered at %s, paused: %t", c.NeedsPerson, c.AnsweredAt, c.Paused(f.now))
	}
}

func testTag(t *testing.T, f *fixture) {
	who, there := key("700001"), key("700001")
	there.Channel = contact.Instagram
	f.say(who)
	f.say(there)
	ask := func(who contact.Key, wantDue, wantActive bool) {
		t.Helper()
		due, active, err := f.db.TagDue(t.Context(), who, time.Minute)
		f.check(err)
		if due != wantDue || active != wantActive {
			t.Errorf("due %t, active %t; want %t and %t", due, active, wantDue, wantActive)
		}
	}
	ask(who, true, false)
	ask(there, false, false)
	f.check(f.db.NoteTag(t.Context(), who, true))
	f.now = f.now.Add(59 * time.Second)
	ask(there, false, true)
	f.now = f.now.Add(time.Second)
	ask(there, true, true)
	ask(who, false, true)
	f.now = f.now.Add(-time.Hour) // a clock that is set back holds nobody
	ask(who, true, true)
	_, err := f.db.Resume(t.Context(), who)
	f.check(err)
	ask(who, true, false)
}

func testTagWithholds(t *testing.T, f *fixture) {
	who := key("700001")
	id := f.queue(who, "one")
	f.check(f.db.NoteTag(t.Context(), who, false))
	diff(t, "without the tag", outbox.Pending, f.row(id).Status)
	s := f.late(f.say(who), "two")
	f.check(f.db.NoteTag(t.Context(), who, true))
	diff(t, "with the tag", outbox.Withheld, f.row(id).Status)
	s.Tagged = true
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("Settle returned %v, want ErrPaused", err)
	}
	s.Tagged = false // the business has no such tag any more
	f.check(f.db.Settle(t.Context(), s))
}

func testList(t *testing.T, f *fixture) {
	var ids []string
	for _, subscriber := range []string{"700001", "700002", "700003"} {
		ids = append(ids, f.say(key(subscriber)).Conversation.ID)
		f.now = f.now.Add(time.Minute)
	}
	f.say(key("700001")) // the first one writes again
	f.pause(key("700002"), time.Hour)
	f.check(f.db.NoteTag(t.Context(), key("700003"), true))
	for _, tt := range []struct {
		name   string
		filter store.TalkFilter
		want   []string
	}{
		{"all", store.TalkFilter{}, []string{ids[0], ids[2], ids[1]}},
		{"a page", store.TalkFilter{Limit: 2}, []string{ids[0], ids[2]}},
		{"the next page", store.TalkFilter{Limit: 2, After: ids[2]}, []string{ids[1]}},
		{"those that a person has", store.TalkFilter{Paused: true}, []string{ids[2], ids[1]}},
		{"those that need one", store.TalkFilter{NeedsPerson: true}, nil},
	} {
		tt.filter.TenantID = "demo"
		found, err := f.db.ListTalks(t.Context(), tt.filter)
		f.check(err)
		var got []string
		for _, l := range found {
			got = append(got, l.ID)
		}
		diff(t, tt.name, tt.want, got)
	}
	if _, err := f.db.ListTalks(t.Context(), store.TalkFilter{TenantID: "demo", After: "nobody"}); !errors.Is(err, store.ErrNoTalk) {
		t.Errorf("ListTalks returned %v, want ErrNoTalk", err)
	}
	if _, err := f.db.Talk(t.Context(), "nobody"); !errors.Is(err, store.ErrNoTalk) {
		t.Errorf("Talk returned %v, want ErrNoTalk", err)
	}
}

func testOnTheirWay(t *testing.T, f *fixture) {
	who := key("700001")
	first := f.queue(who, "one")
	f.queue(key("700002"), "two")
	f.pause(who, time.Hour)
	f.now = f.now.Add(time.Hour)
	second := f.queue(who, "three")
	rows, err := f.db.OnTheirWay(t.Context(), f.talk(who).ID)
	f.check(err)
	diff(t, "rows", []string{second, first}, []string{rows[0].ID, rows[1].ID})
	f.check(f.db.DiscardOutbox(t.Context(), first))
	rows, err = f.db.OnTheirWay(t.Context(), f.talk(who).ID)
	f.check(err)
	diff(t, "rows that are left", 1, len(rows))
}
