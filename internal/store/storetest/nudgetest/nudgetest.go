// Package nudgetest is the part of the suite of every database that is about nudges.
package nudgetest

import (
	"fmt"
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
