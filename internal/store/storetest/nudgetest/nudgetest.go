// Package nudgetest is the part of the suite of every database that is about nudges.
package nudgetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Run runs the suite.
func Run(t *testing.T, open storetest.Open) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"planned":                         testPlanned,
		"planned again":                   testPlannedAgain,
		"not planned":                     testNotPlanned,
		"due":                             testDue,
		"claim":                           testClaim,
		"claim calls off":                 testClaimCallsOff,
		"claim of a busy lane":            testBusyLane,
		"claimed once":                    testClaimedOnce,
		"a message ends it":               testMessage,
		"a message in the same instant":   testMessageAtOnce,
		"settle":                          testSettle,
		"withdrawn":                       testWithdrawn,
		"released behind a message":       testReleased,
		"half sent":                       testHalfSent,
		"a handoff and a pause":           testCalledOff,
		"a process that is gone":          testLost,
		"history of a nudge":              testHistory,
		"a message costs nothing extra":   testUnmarked,
		"the contact's list is as it was": testListed,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{t: t, now: start}
			o := open(t, func() time.Time { return f.now })
			f.db, f.text, f.beside, f.exec = o.DB, o.Text, o.Beside, o.Exec
			test(t, f)
		})
	}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const after = 3 * time.Hour

// fixture is a database with a clock of its own. Its methods fail the test on errors.
type fixture struct {
	t      *testing.T
	db     *store.DB
	text   func(query string, args ...any) (string, error)
	exec   func(query string, args ...any) error
	beside func(t *testing.T) *store.DB
	now    time.Time
	made   int
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

func (f *fixture) window() turn.Window {
	return turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10, RecentLimit: 10}
}

// arrival is a message.
func (f *fixture) arrival(subscriber string) turn.Arrival {
	f.made++
	return turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: key(subscriber), Owner: "p1", Text: fmt.Sprint("message ", f.made), FirstName: "Ada",
		ReceivedAt: f.now, Window: f.window(),
	}
}

func (f *fixture) say(subscriber string) turn.Recorded {
	f.t.Helper()
	r, err := f.db.Record(f.t.Context(), f.arrival(subscriber))
	f.check(err)
	return r
}

// answer settles a turn in the response.
func (f *fixture) answer(r turn.Recorded, reply string) {
	f.t.Helper()
	r.Turn.Outcome, r.Turn.Path, r.Turn.Replies, r.Turn.SettledAt = conversation.Answered, conversation.Inline, []string{reply}, f.now
	f.check(f.db.Settle(f.t.Context(), turn.Settlement{Turn: r.Turn}))
	f.check(f.db.Stamp(f.t.Context(), turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Turn.ConversationID, At: f.now}))
}

func plan(r turn.Recorded) nudge.Plan {
	return nudge.Plan{ConversationID: r.Turn.ConversationID, TurnID: r.Turn.ID, Delay: "later", After: after}
}

// planned is a contact whose turn planned a nudge; the turn is over.
func (f *fixture) planned(subscriber string) turn.Recorded {
	f.t.Helper()
	r := f.say(subscriber)
	f.answer(r, "Take your time.")
	f.check(f.db.Schedule(f.t.Context(), plan(r)))
	return r
}

// due is the one nudge that is due.
func (f *fixture) due() nudge.Due {
	f.t.Helper()
	due, err := f.db.Due(f.t.Context(), "demo", 10)
	f.check(err)
	if len(due) != 1 {
		f.t.Fatalf("%d nudges are due, want 1", len(due))
	}
	return due[0]
}

func (f *fixture) claim(d nudge.Due) (follow.Claimed, error) { return f.claimBy(f.db, d, "p1") }

func (f *fixture) claimBy(db *store.DB, d nudge.Due, owner string) (follow.Claimed, error) {
	f.made++
	return db.ClaimNudge(f.t.Context(), follow.Claim{
		NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: fmt.Sprintf("turn-%06d", f.made), Owner: owner, Window: f.window(),
	})
}

// running is a nudge whose turn runs.
func (f *fixture) running(subscriber string) follow.Claimed {
	f.t.Helper()
	f.planned(subscriber)
	f.now = f.now.Add(after)
	claimed, err := f.claim(f.due())
	f.check(err)
	if !claimed.Runs {
		f.t.Fatalf("the turn does not run: %s", claimed.CalledOff)
	}
	return claimed
}

// sent is the end of a nudge's turn that says something.
func (f *fixture) sent(c follow.Claimed, texts ...string) turn.Settlement {
	s := turn.Settlement{Turn: c.Recorded.Turn, Row: &outbox.Row{ID: "row-" + c.Recorded.Turn.ID, Payload: outbox.Payload{
		Texts: texts, NudgeUntil: c.Facts.Until(), Actions: []action.Pending{{Tool: action.AddTag, ID: "gift"}},
	}}}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.SettledAt = conversation.NudgeSent, conversation.Outbox, texts, f.now
	s.Turn.Actions = []action.Record{{Tool: action.AddTag, ID: "gift", Status: action.Staged}}
	return s
}

// queued is a nudge whose row waits.
func (f *fixture) queued(subscriber string, texts ...string) outbox.Row {
	f.t.Helper()
	s := f.sent(f.running(subscriber), texts...)
	f.check(f.db.Settle(f.t.Context(), s))
	return f.row(s.Row.ID)
}

func (f *fixture) row(id string) outbox.Row {
	f.t.Helper()
	r, err := f.db.OutboxRow(f.t.Context(), id)
	f.check(err)
	return r
}

func (f *fixture) turn(id string) conversation.Turn {
	f.t.Helper()
	one, err := f.db.Turn(f.t.Context(), id)
	f.check(err)
	return one
}

// claimRow has a worker take the one row that is due.
func (f *fixture) claimRow() outbox.Row {
	f.t.Helper()
	f.now = f.now.Add(time.Minute)
	rows, err := f.db.Claim(f.t.Context(), outbox.Claim{Owner: "p1/1", Now: f.now, Gap: 2 * time.Second, Room: map[outbox.Kind]int{outbox.Reply: 10}})
	f.check(err)
	if len(rows) != 1 {
		f.t.Fatalf("%d rows are due, want 1", len(rows))
	}
	return rows[0]
}

// wantNudge asserts how the one nudge stands.
func (f *fixture) wantNudge(want string) {
	f.t.Helper()
	got, err := f.text(`SELECT string_agg(state || coalesce(' ' || reason, '') || CASE WHEN ended_at IS NULL THEN ' open' ELSE '' END, ', ') FROM nudges`)
	f.check(err)
	if got != want {
		f.t.Errorf("the nudge is %s, want %s", got, want)
	}
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

func testPlanned(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.wantNudge("pending open")
	at, err := f.text(`SELECT (due_at - message_at) || ' ' || delay || ' ' || turn_id FROM nudges`)
	f.check(err)
	diff(t, "the plan", fmt.Sprint(after.Microseconds(), " later ", r.Turn.ID), at)
}

// One of the same turn takes the place of what is pending.
func testPlannedAgain(t *testing.T, f *fixture) {
	r := f.planned("700001")
	p := plan(r)
	p.Delay, p.After = "tomorrow", 20*time.Hour
	f.check(f.db.Schedule(t.Context(), p))
	f.wantNudge("pending open")
	f.now = f.now.Add(after)
	due, err := f.db.Due(t.Context(), "demo", 10)
	f.check(err)
	diff(t, "due at the first delay", 0, len(due))
	f.now = f.now.Add(20*time.Hour - after)
	d := f.due()
	diff(t, "the delay", "tomorrow", d.Delay)
	if _, err := f.claim(d); err != nil {
		t.Fatal(err)
	}
	p.After = 22 * time.Hour
	if err := f.db.Schedule(t.Context(), p); !errors.Is(err, nudge.ErrOver) {
		t.Errorf("planned while one is under way: %v", err)
	}
}

func testNotPlanned(t *testing.T, f *fixture) {
	for name, tt := range map[string]struct {
		change func(r turn.Recorded)
		want   error
	}{
		"the contact wrote again": {func(r turn.Recorded) { f.say(string(r.Turn.Key.SubscriberID)) }, nudge.ErrOver},
		"a person has them": {func(r turn.Recorded) {
			_, err := f.db.Pause(t.Context(), r.Turn.Key, f.now.Add(time.Hour))
			f.check(err)
		}, nudge.ErrOver},
		"they opted out": {func(r turn.Recorded) {
			f.check(f.exec(`UPDATE conversations SET opted_out_at = 1 WHERE id = $1`, r.Turn.ConversationID))
		}, nudge.ErrOver},
		"it would be due":  {func(turn.Recorded) { f.now = f.now.Add(after) }, nudge.ErrLate},
		"they were erased": {func(turn.Recorded) {}, nudge.ErrOver},
	} {
		f.made++
		r := f.say(fmt.Sprint(700100 + f.made))
		f.answer(r, "Take your time.")
		tt.change(r)
		p := plan(r)
		if name == "they were erased" {
			p.TurnID = "nobody's"
		}
		if err := f.db.Schedule(t.Context(), p); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
	n, err := f.text(`SELECT CAST(count(*) AS TEXT) FROM nudges`)
	f.check(err)
	diff(t, "nudges", "0", n)
}

func testDue(t *testing.T, f *fixture) {
	f.planned("700001")
	f.now = f.now.Add(time.Minute)
	f.planned("700002")
	for _, step := range []struct {
		at   time.Duration
		want int
	}{{after - time.Microsecond, 0}, {after, 1}, {after + time.Minute, 2}} {
		f.now = start.Add(step.at)
		due, err := f.db.Due(t.Context(), "demo", 10)
		f.check(err)
		diff(t, fmt.Sprint("due after ", step.at), step.want, len(due))
		if step.want == 2 && due[0].Key != key("700001") {
			t.Errorf("the first that is due is %s's", due[0].Key.SubscriberID)
		}
	}
	one, err := f.db.Due(t.Context(), "demo", 1)
	f.check(err)
	diff(t, "with a limit of one", 1, len(one))
	others, err := f.db.Due(t.Context(), "another", 10)
	f.check(err)
	diff(t, "another tenant's", 0, len(others))
}

func testClaim(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	diff(t, "due", nudge.Due{ID: d.ID, ConversationID: r.Turn.ConversationID, Key: key("700001"), Delay: "later"}, d)
	claimed, err := f.claim(d)
	f.check(err)
	got := claimed.Recorded
	if !claimed.Runs || got.Turn.State != conversation.Running || !got.Turn.Bound || !got.Turn.Nudge || got.Turn.Owner != "p1" || got.Turn.Attempt != 1 {
		t.Errorf("claimed is %+v", got.Turn)
	}
	diff(t, "its place", r.Turn.Seq+2, got.Turn.Seq)
	diff(t, "the name", "Ada", got.Turn.FirstName)
	diff(t, "when the contact wrote", start, claimed.Facts.MessageAt)
	var history []string
	for _, e := range got.History {
		history = append(history, string(e.Role)+" "+e.Text)
	}
	diff(t, "history", []string{"contact message 1", "agent Take your time."}, history)
	diff(t, "the messages before it", 1, len(got.Recent))
	f.wantNudge("running open")
	n, err := f.text(`SELECT CAST(count(*) AS TEXT) FROM turns WHERE role = 'contact'`)
	f.check(err)
	diff(t, "contact rows", "1", n)
	if _, err := f.claim(d); !errors.Is(err, nudge.ErrGone) {
		t.Errorf("claimed once more: %v", err)
	}
}

func testClaimCallsOff(t *testing.T, f *fixture) {
	for want, change := range map[nudge.Reason]func(id string){
		nudge.WindowClosing: func(string) { f.now = start.Add(nudge.Window + time.Second) },
		nudge.OptedOut:      func(id string) { f.check(f.exec(`UPDATE conversations SET opted_out_at = 1 WHERE id = $1`, id)) },
		nudge.LinkSent:      func(id string) { f.check(f.exec(`UPDATE conversations SET stage = 'link_sent' WHERE id = $1`, id)) },
		nudge.ContactReplied: func(id string) {
			f.check(f.exec(`UPDATE conversations SET last_seq = last_seq + 2 WHERE id = $1`, id))
		},
	} {
		f.now = start
		f.check(f.exec(`DELETE FROM nudges`))
		f.made++
		r := f.planned(fmt.Sprint(700100 + f.made))
		f.now = f.now.Add(after)
		d := f.due()
		change(r.Turn.ConversationID)
		claimed, err := f.claim(d)
		f.check(err)
		if claimed.Runs || claimed.CalledOff != want {
			t.Errorf("called off for %q, runs: %v; want %s", claimed.CalledOff, claimed.Runs, want)
		}
		f.wantNudge("cancelled " + string(want))
	}
	f.now = start
	f.check(f.exec(`DELETE FROM nudges`))
	f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	claimed, err := f.db.ClaimNudge(t.Context(), follow.Claim{NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: "turn-x", Owner: "p1", Unwanted: true})
	f.check(err)
	if claimed.Runs || claimed.CalledOff != "" {
		t.Errorf("an unwanted nudge runs: %v, called off for %q", claimed.Runs, claimed.CalledOff)
	}
	f.wantNudge("skipped")
}

// A turn of the contact that is not over has the lane, which a nudge never waits for.
func testBusyLane(t *testing.T, f *fixture) {
	r := f.planned("700001")
	f.now = f.now.Add(after)
	d := f.due()
	f.check(f.exec(`UPDATE turns SET state = 'running', outcome = NULL, path = NULL, settled_at = NULL, responded_at = NULL WHERE id = $1`, r.Turn.ID))
	claimed, err := f.claim(d)
	f.check(err)
	diff(t, "called off", nudge.ContactReplied, claimed.CalledOff)
	f.wantNudge("cancelled contact_replied")
}

// Of several processes that take a nudge at once one does.
func testClaimedOnce(t *testing.T, f *fixture) {
	other := f.db
	if f.db.Shared() {
		other = f.beside(t)
	}
	for i := range 10 {
		f.planned(fmt.Sprint(700001 + i))
	}
	f.now = f.now.Add(after)
	due, err := f.db.Due(t.Context(), "demo", 100)
	f.check(err)
	diff(t, "due", 10, len(due))
	var mu sync.Mutex
	var wg sync.WaitGroup
	runs := map[string]int{}
	for _, d := range due {
		for p, db := range []*store.DB{f.db, other, f.db, other} {
			wg.Go(func() {
				claimed, err := db.ClaimNudge(context.Background(), follow.Claim{
					NudgeID: d.ID, ConversationID: d.ConversationID, TurnID: fmt.Sprint(d.ID, "-", p), Owner: fmt.Sprint("p", p), Window: turn.Window{HistoryLimit: 10},
				})
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil && claimed.Runs:
					runs[d.ID]++
				case !errors.Is(err, nudge.ErrGone):
					t.Errorf("claim: %v, %q", err, claimed.CalledOff)
				}
			})
		}
	}
	wg.Wait()
	for _, d := range due {
		diff(t, "turns of "+d.ID, 1, runs[d.ID])
	}
}

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
