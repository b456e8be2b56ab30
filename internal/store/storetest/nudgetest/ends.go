package nudgetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// A message ends the turn of the nudge in the transaction that records it, and runs at once.
func testMessage(t *testing.T, f *fixture) {
	c := f.running("700001")
	r := f.say("700001")
	if r.Turn.State != conversation.Running || r.Behind {
		t.Errorf("the message's turn is %s, behind: %v", r.Turn.State, r.Behind)
	}
	f.wantNudge("cancelled contact_replied")
	over := f.turn(c.Recorded.Turn.ID)
	if over.State != conversation.Settled || over.Outcome != conversation.NudgeSkipped || over.Path != conversation.Silent {
		t.Errorf("the nudge's turn is %s %s %s", over.State, over.Outcome, over.Path)
	}
	if err := f.db.Settle(t.Context(), f.sent(c, "Hello?")); !errors.Is(err, turn.ErrNotOwner) {
		t.Errorf("it settles: %v", err)
	}
	rows, err := f.db.TurnRows(t.Context(), c.Recorded.Turn.ID)
	f.check(err)
	diff(t, "rows of the nudge", 0, len(rows))
	var history []string
	for _, e := range r.History {
		history = append(history, e.Text)
	}
	diff(t, "history", []string{"message 1", "Take your time."}, history)
	diff(t, "the messages before", 1, len(r.Recent))
}

// A message and a claim, or a message and the end of the nudge's turn, in one instant: either the
// nudge never goes out, or it had been settled before, and then its row is withdrawn.
func testMessageAtOnce(t *testing.T, f *fixture) {
	other := f.db
	if f.db.Shared() {
		other = f.beside(t)
	}
	for i := range 12 {
		subscriber := fmt.Sprint(700001 + i)
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.planned(subscriber)
		f.now = f.now.Add(after)
		d := f.due()
		f.made++
		id, message := fmt.Sprintf("turn-%06d", f.made), f.arrival(subscriber)
		end := func() error { // a process that claims and settles as fast as it can
			claimed, err := other.ClaimNudge(context.Background(), follow.Claim{NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: id, Owner: "p2", Window: f.window()})
			if err != nil || !claimed.Runs {
				return err
			}
			return other.Settle(context.Background(), f.sent(claimed, "Hello?"))
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := end(); err != nil && !errors.Is(err, nudge.ErrGone) && !errors.Is(err, turn.ErrNotOwner) {
				t.Error(err)
			}
		})
		wg.Go(func() {
			r, err := f.db.Record(context.Background(), message)
			if err != nil || r.Turn.State != conversation.Running || r.QueuedAhead {
				t.Errorf("the message's turn is %s, queued ahead: %v, %v", r.Turn.State, r.QueuedAhead, err)
			}
		})
		wg.Wait()
		f.wantNudge("cancelled contact_replied")
		open, err := f.text(`SELECT CAST(count(*) AS TEXT) FROM outbox WHERE status = 'pending'`)
		f.check(err)
		diff(t, "rows that are still to go out", "0", open)
	}
}

func testSettle(t *testing.T, f *fixture) {
	for name, tt := range map[string]struct {
		change func(s *turn.Settlement)
		want   string
	}{
		"sent": {func(*turn.Settlement) {}, "sent"},
		"skipped": {func(s *turn.Settlement) {
			s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Row = conversation.NudgeSkipped, conversation.Silent, nil, nil
		}, "skipped"},
		"called off": {func(s *turn.Settlement) {
			s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Row = conversation.NudgeSkipped, conversation.Silent, nil, nil
			s.CalledOff = nudge.HumanActive
		}, "cancelled human_active"},
	} {
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.made++
		s := f.sent(f.running(fmt.Sprint(700100+f.made)), "Hello?")
		tt.change(&s)
		f.check(f.db.Settle(t.Context(), s))
		f.wantNudge(tt.want)
		if got := f.turn(s.Turn.ID); got.State != conversation.Settled || got.Outcome != s.Turn.Outcome || !got.Nudge {
			t.Errorf("%s: the turn is %s %s", name, got.State, got.Outcome)
		}
	}
}

func testWithdrawn(t *testing.T, f *fixture) {
	row := f.queued("700001", "Hello?")
	f.wantNudge("sent")
	r := f.say("700001")
	if r.QueuedAhead || r.Turn.State != conversation.Running {
		t.Errorf("the message's turn is %s, and something is queued: %v", r.Turn.State, r.QueuedAhead)
	}
	diff(t, "the row", outbox.Discarded, f.row(row.ID).Status)
	diff(t, "its action", action.Discarded, f.turn(row.TurnID).Actions[0].Status)
	f.wantNudge("cancelled contact_replied")
	diff(t, "history", 2, len(r.History))
}

// A row that a worker has in hand is the worker's; it is given up when it comes back.
func testReleased(t *testing.T, f *fixture) {
	f.queued("700001", "Hello?")
	row := f.claimRow()
	wrote, err := f.db.WroteBehind(t.Context(), row.ConversationID, row.Seq)
	f.check(err)
	diff(t, "wrote before", false, wrote)
	r := f.say("700001")
	diff(t, "queued ahead", true, r.QueuedAhead)
	if wrote, err = f.db.WroteBehind(t.Context(), row.ConversationID, row.Seq); err != nil || !wrote {
		t.Errorf("wrote: %v, %v", wrote, err)
	}
	row.Status, row.NextAttemptAt = outbox.Pending, f.now.Add(time.Minute)
	f.check(f.db.Release(t.Context(), row, nil))
	diff(t, "the row", outbox.Discarded, f.row(row.ID).Status)
	f.wantNudge("cancelled contact_replied")

	f.check(f.exec(`DELETE FROM nudges`))
	f.now = start
	f.queued("700002", "Hello?")
	row = f.claimRow()
	row.Status, row.NextAttemptAt = outbox.Pending, f.now.Add(time.Minute)
	f.check(f.db.Release(t.Context(), row, nil))
	diff(t, "a row whose contact is quiet", outbox.Pending, f.row(row.ID).Status)
	row = f.claimRow()
	row.Status = outbox.Discarded
	f.now = row.Payload.NudgeUntil.Add(time.Second)
	f.check(f.db.Release(t.Context(), row, nil))
	f.wantNudge("cancelled window_closing")
}

// What went out went out: the rest of it does not.
func testHalfSent(t *testing.T, f *fixture) {
	f.queued("700001", "One.", "Two.")
	row := f.claimRow()
	row.Payload.Sent = 1
	f.check(f.db.Progress(t.Context(), row, f.now))
	row.Status, row.NextAttemptAt = outbox.Pending, f.now.Add(time.Minute)
	f.check(f.db.Release(t.Context(), row, nil))
	r := f.say("700001")
	diff(t, "the row", outbox.Discarded, f.row(row.ID).Status)
	f.wantNudge("sent")
	diff(t, "history", "One.", r.History[len(r.History)-1].Text)
}

func testCalledOff(t *testing.T, f *fixture) {
	handoff := func(c follow.Claimed) error {
		// A turn of the contact's that hands off beside it: an unbound one, whose message was there before.
		r, err := f.db.Record(t.Context(), f.arrival("700009"))
		f.check(err)
		f.check(f.exec(`UPDATE turns SET conversation_id = $1, seq = seq + 1000, bound = 0 WHERE id = $2`, c.Recorded.Turn.ConversationID, r.Turn.ID))
		r.Turn.ConversationID = c.Recorded.Turn.ConversationID
		r.Turn.Outcome, r.Turn.Reason, r.Turn.Path, r.Turn.SettledAt = conversation.Escalated, conversation.Complaint, conversation.Silent, f.now
		return f.db.Settle(t.Context(), turn.Settlement{Turn: r.Turn})
	}
	for want, do := range map[nudge.Reason]func(c follow.Claimed) error{
		nudge.Escalated: handoff,
		nudge.Paused: func(c follow.Claimed) error {
			_, err := f.db.Pause(t.Context(), c.Recorded.Turn.Key, f.now.Add(time.Hour))
			return err
		},
		nudge.HumanActive: func(c follow.Claimed) error { return f.db.NoteTag(t.Context(), c.Recorded.Turn.Key, true) },
	} {
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.made++
		c := f.running(fmt.Sprint(700100 + f.made))
		f.check(do(c))
		f.wantNudge("cancelled " + string(want))
		diff(t, "the turn's outcome", conversation.NudgeSkipped, f.turn(c.Recorded.Turn.ID).Outcome)
		if err := f.db.Settle(t.Context(), f.sent(c, "Hello?")); !errors.Is(err, turn.ErrNotOwner) && !errors.Is(err, turn.ErrPaused) {
			t.Errorf("%s: it settles: %v", want, err)
		}
	}
	f.now = start
	f.check(f.exec(`DELETE FROM nudges`))
	row := f.queued("700001", "Hello?")
	paused, err := f.db.Pause(t.Context(), key("700001"), f.now.Add(time.Hour))
	f.check(err)
	diff(t, "withheld", 0, paused.Withheld)
	diff(t, "the row", outbox.Discarded, f.row(row.ID).Status)
	f.wantNudge("cancelled paused")
}

// The turn of a process that is gone is not run again.
func testLost(t *testing.T, f *fixture) {
	for _, handedBack := range []bool{false, true} {
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.made++
		c := f.running(fmt.Sprint(700100 + f.made))
		if handedBack {
			f.check(f.db.HandBack(t.Context(), sweep.Process{ID: "p1", TenantID: "demo"}))
		}
		taken, _, err := f.db.TakeOver(t.Context(), sweep.TakeOver{Process: sweep.Process{ID: "p2", TenantID: "demo"}, Dead: []string{"p1"}, Window: f.window()})
		f.check(err)
		diff(t, "turns to run", 0, len(taken))
		over := f.turn(c.Recorded.Turn.ID)
		if over.State != conversation.Settled || over.Outcome != conversation.NudgeSkipped {
			t.Errorf("handed back %v: the turn is %s %s", handedBack, over.State, over.Outcome)
		}
		f.wantNudge("skipped")
	}
}

// What a nudge said is history; one that said nothing leaves no trace in it.
func testHistory(t *testing.T, f *fixture) {
	row := f.queued("700001", "Hello?")
	claimed := f.claimRow()
	diff(t, "the row", row.ID, claimed.ID)
	claimed.Payload.Sent, claimed.Status, claimed.DeliveredAt = 1, outbox.Delivered, f.now
	f.check(f.db.Release(t.Context(), claimed, nil))
	r := f.say("700001")
	var history []string
	for _, e := range r.History {
		history = append(history, string(e.Role)+" "+e.Text)
	}
	diff(t, "history", []string{"contact message 1", "agent Take your time.", "agent Hello?"}, history)
	diff(t, "the messages before", 1, len(r.Recent))
	f.wantNudge("sent")
}

// The mark on the conversation says whether a message has anything to call off.
func testUnmarked(t *testing.T, f *fixture) {
	marked := func(want bool) {
		t.Helper()
		c, err := f.db.Conversation(t.Context(), key("700001"))
		f.check(err)
		diff(t, "marked", want, c.Nudged)
	}
	r := f.say("700001")
	f.answer(r, "Take your time.")
	marked(false)
	f.check(f.db.Schedule(t.Context(), plan(r)))
	marked(true)
	f.say("700001")
	marked(false)
	f.wantNudge("cancelled contact_replied")
}

// A nudge is no message: a conversation is where its contact's last one puts it.
func testListed(t *testing.T, f *fixture) {
	f.running("700001")
	talks, err := f.db.ListTalks(t.Context(), store.TalkFilter{TenantID: "demo"})
	f.check(err)
	diff(t, "when the contact wrote", start, talks[0].ActiveAt)
}
