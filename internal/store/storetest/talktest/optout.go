package talktest

import (
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// optingOut is the end of a turn whose message is an opt-out, which it confirms.
func (f *fixture) optingOut(r turn.Recorded) turn.Settlement {
	s := f.late(r, "you will not hear from us again")
	s.Turn.Outcome, s.Turn.Actions, s.Row.Payload.Actions, s.Wish.Out = conversation.OptedOut, nil, nil, true
	return s
}

// silently is a settlement that says and does nothing.
func silently(s turn.Settlement) turn.Settlement {
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.Actions, s.Row = conversation.OptedOut, conversation.Silent, nil, nil, nil
	return s
}

func (f *fixture) wantOptedOut(who contact.Key, at time.Time) {
	f.t.Helper()
	diff(f.t, "opted out on "+string(who.Channel), at, f.talk(who).OptedOutAt)
}

func testOptOut(t *testing.T, f *fixture) {
	who, there, new, other := key("700001"), key("700001"), key("700001"), key("700002")
	there.Channel, new.Channel = contact.Instagram, contact.Telegram
	handoff := f.handoff(f.say(who), 0)
	handoff.Notices = []outbox.Row{{ID: "notice", Part: outbox.TagPart, Payload: outbox.Payload{Actions: []action.Pending{{Tool: action.NotifyHandoff, ID: action.NoticeTag}}}}}
	f.check(f.db.Settle(t.Context(), handoff))
	late, elsewhere, theirs := f.queue(who, "one"), f.queue(there, "two"), f.queue(other, "three")
	s := f.optingOut(f.say(who))
	f.check(f.db.Settle(t.Context(), s))
	for _, id := range []string{handoff.Row.ID, late, elsewhere} {
		r := f.row(id)
		turned, err := f.db.Turn(t.Context(), r.TurnID)
		f.check(err)
		if r.Status != outbox.Discarded || turned.Actions[0].Status != action.Discarded {
			t.Errorf("row %s is %s, its action %s", id, r.Status, turned.Actions[0].Status)
		}
	}
	for _, id := range []string{s.Row.ID, "notice", theirs} {
		diff(t, id, outbox.Pending, f.row(id).Status)
	}
	diff(t, "the new channel", f.now, f.say(new).Conversation.OptedOutAt)
	f.wantOptedOut(who, f.now)
	f.wantOptedOut(there, f.now)
	f.wantOptedOut(other, time.Time{})

	confirms, err := f.db.Confirms(t.Context(), s.Turn.ConversationID, s.Turn.Seq)
	f.check(err)
	answers, err := f.db.Confirms(t.Context(), s.Turn.ConversationID, s.Turn.Seq-2)
	f.check(err)
	if !confirms || answers {
		t.Errorf("the turn of the opt-out confirms it: %t, the one before does: %t", confirms, answers)
	}

	again := f.optingOut(f.say(there)) // as it was read before
	if err := f.db.Settle(t.Context(), again); !errors.Is(err, turn.ErrOptedOut) {
		t.Errorf("a second confirmation is settled: %v", err)
	}
	f.now = f.now.Add(time.Hour)
	f.check(f.db.Settle(t.Context(), silently(again)))
	f.wantOptedOut(there, f.now.Add(-time.Hour))
}

func testOptOutByHand(t *testing.T, f *fixture) {
	who, new := key("700001"), key("700002")
	id := f.queue(who, "one")
	done, err := f.db.OptOut(t.Context(), who)
	f.check(err)
	if done.Discarded != 1 || len(done.Talks) != 1 || f.row(id).Status != outbox.Discarded {
		t.Errorf("an opt-out found %d replies of %d conversations; the row is %s", done.Discarded, len(done.Talks), f.row(id).Status)
	}
	at := f.now
	f.now = f.now.Add(time.Minute)
	done, err = f.db.OptOut(t.Context(), who)
	f.check(err)
	diff(t, "the first opt-out counts", at, done.Talks[0].OptedOutAt)
	_, err = f.db.OptOut(t.Context(), new)
	f.check(err)
	diff(t, "somebody who never wrote", f.now, f.say(new).Conversation.OptedOutAt)
	talks, err := f.db.OptIn(t.Context(), who)
	f.check(err)
	diff(t, "lifted", time.Time{}, talks[0].OptedOutAt)
	diff(t, "what was discarded", outbox.Discarded, f.row(id).Status)
	talks, err = f.db.OptIn(t.Context(), key("700009"))
	f.check(err)
	diff(t, "conversations of nobody", 0, len(talks))
}

func testOptOutRunning(t *testing.T, f *fixture) {
	who := key("700001")
	s := f.late(f.say(who), "one")
	n := turn.FlowNote{
		TurnID: s.Turn.ID, Owner: "p1", Attempt: 1, Actions: []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Sending}},
		Claim: action.Claim{Flow: "map", At: f.now},
	}
	_, err := f.db.OptOut(t.Context(), who)
	f.check(err)
	if err := f.db.NoteFlow(t.Context(), n); !errors.Is(err, turn.ErrOptedOut) {
		t.Errorf("NoteFlow returned %v, want ErrOptedOut", err)
	}
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrOptedOut) {
		t.Errorf("Settle returned %v, want ErrOptedOut", err)
	}
	inline := s
	inline.Turn.Path, inline.Row = conversation.Inline, nil
	if err := f.db.Settle(t.Context(), inline); !errors.Is(err, turn.ErrOptedOut) {
		t.Errorf("Settle inline returned %v, want ErrOptedOut", err)
	}
	f.pause(who, time.Hour) // a person's, what they ask for is
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrPaused) {
		t.Errorf("Settle returned %v, want ErrPaused", err)
	}
	f.check(f.db.Settle(t.Context(), silently(s)))
}

func testOptIn(t *testing.T, f *fixture) {
	who, there := key("700001"), key("700001")
	there.Channel = contact.Instagram
	f.say(there)
	_, err := f.db.OptOut(t.Context(), who)
	f.check(err)
	back := f.say(who)
	s := f.late(back, "welcome back")
	s.Wish.Back = back.Conversation.OptedOutAt
	n := turn.FlowNote{
		TurnID: s.Turn.ID, Owner: "p1", Attempt: 1, Actions: []action.Record{{Tool: action.SendFlow, ID: "map", Status: action.Sending}},
		Claim: action.Claim{Flow: "map", At: f.now}, Wish: s.Wish,
	}
	f.check(f.db.NoteFlow(t.Context(), n))
	f.check(f.db.Settle(t.Context(), s))
	f.wantOptedOut(who, time.Time{})
	f.wantOptedOut(there, time.Time{})
	diff(t, "its reply", outbox.Pending, f.row(s.Row.ID).Status)

	_, err = f.db.OptOut(t.Context(), who)
	f.check(err)
	back = f.say(who)
	s = f.late(back, "welcome back once more")
	s.Wish.Back = back.Conversation.OptedOutAt
	_, err = f.db.OptIn(t.Context(), who)
	f.check(err)
	f.now = f.now.Add(time.Second)
	_, err = f.db.OptOut(t.Context(), who) // since the turn began
	f.check(err)
	if err := f.db.Settle(t.Context(), s); !errors.Is(err, turn.ErrOptedOut) {
		t.Errorf("Settle returned %v, want ErrOptedOut", err)
	}
	f.check(f.db.Settle(t.Context(), silently(s)))
	f.wantOptedOut(who, f.now)
}
