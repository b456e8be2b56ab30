// Package actstest is the part of the suite of every database that is about what turns do
// besides replying.
package actstest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Run runs the suite.
func Run(t *testing.T, open storetest.Open) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"settle actions":             testSettle,
		"settle fails as a whole":    testSettleFails,
		"settle gives flows back":    testSettleGivesBack,
		"stamp and act":              testStampActs,
		"stamp without actions":      testStampPlain,
		"acted refuses":              testActedRefuses,
		"reroute actions":            testReroute,
		"notice is out of order":     testNoticeOrder,
		"notice waits for its turn":  testNoticeWaits,
		"notice flow waits":          testNoticeFlowWaits,
		"notice dies":                testNoticeDies,
		"note a flow":                testNoteFlow,
		"note refuses":               testNoteRefuses,
		"note a flow once":           testNoteOnce,
		"note a flow behind replies": testNoteBehind,
		"note a failed flow":         testNoteFailed,
		"note flows side by side":    testNoteSideBySide,
		"claim a flow":               testClaim,
		"claim a flow concurrently":  testClaimConcurrently,
		"give an earlier flow back":  testGiveBackEarlier,
		"sent flows":                 testSent,
		"limit of flows":             testFlowLimit,
		"limit of all flows":         testFlowLimitOfAll,
		"limit given back":           testFlowLimitGivenBack,
		"limit side by side":         testFlowLimitConcurrently,
		"give back abandoned rows":   testClaimAbandoned,
		"release actions":            testRelease,
		"release is the row's":       testReleaseStored,
		"release refuses":            testReleaseRefuses,
		"progress of actions":        testProgress,
		"discard actions":            testDiscard,
		"retry a reply":              testRetryReply,
		"retry a notice":             testRetryNotice,
		"parts of a notice":          testNoticeParts,
		"rows of a turn":             testTurnRows,
		"take over unwritten":        testTakeOverUnwritten,
		"take over acting":           testTakeOverActing,
		"take over rows in hand":     testTakeOverInHand,
		"take over sent flows":       testTakeOverSent,
		"history":                    testHistory,
		"constraints":                testConstraints,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{now: start}
			o := open(t, func() time.Time { return f.now })
			f.db, f.exec, f.text = o.DB, o.Exec, o.Text
			test(t, f)
		})
	}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const (
	owner = "process-a"
	gap   = 2 * time.Second
	note  = "needs a ramp" // what a note says
)

// fixture is a database with a clock of its own. Its methods fail the test on errors
// that no case expects.
type fixture struct {
	db   *store.DB
	exec func(query string, args ...any) error
	text func(query string, args ...any) (string, error)
	now  time.Time
	made int
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

// say records a message of the contact.
func (f *fixture) say(t *testing.T, subscriber string) turn.Recorded {
	t.Helper()
	return f.record(t, subscriber, "hello", token.Request{})
}

// forged is a message whose request carries a token that is not the contact's.
func (f *fixture) forged(t *testing.T, subscriber string) turn.Recorded {
	t.Helper()
	f.write(t, `INSERT INTO contacts (tenant_id, subscriber_id, token, has_token) VALUES ('demo', $1, $2, 0)
        ON CONFLICT (tenant_id, subscriber_id) DO UPDATE SET token = excluded.token`,
		subscriber, column.Object(token.State{Issued: start.Add(-time.Hour)}))
	return f.record(t, subscriber, fmt.Sprint("hello ", f.made), token.Request{Token: "not-the-contact's", Enforced: true})
}

// sent are the flows that a contact was sent, as a turn reads them that waits for no other.
func (f *fixture) sent(t *testing.T, subscriber string) []string {
	t.Helper()
	return f.forged(t, subscriber).Sent
}

// end ends a turn in silence, with what it did.
func (f *fixture) end(t *testing.T, r turn.Recorded, record ...action.Record) {
	t.Helper()
	s := acting(r, conversation.Silent)
	s.Turn.Actions, s.Pending = record, nil
	f.settle(t, s)
}

func (f *fixture) record(t *testing.T, subscriber, text string, request token.Request) turn.Recorded {
	t.Helper()
	f.made++
	return must(f.db.Record(t.Context(), turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: key(subscriber), Owner: owner, Text: text, Token: request,
		ReceivedAt: f.now, Window: turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10},
	}))(t)
}

// record is of a turn that sent a flow and staged a tag and a note.
func record() []action.Record {
	return []action.Record{
		{Tool: action.SendFlow, ID: "brochure", Status: action.Performed, At: start},
		{Tool: action.AddTag, ID: "interested", Status: action.Staged},
		{Tool: action.WriteNote, ID: "access", Length: len(note), Status: action.Staged},
	}
}

// pending are the actions that record says are staged.
func pending() []action.Pending {
	return []action.Pending{
		{Place: 1, Tool: action.AddTag, ID: "interested"},
		{Place: 2, Tool: action.WriteNote, ID: "access", Text: note},
	}
}

// handoff are the rows of the notice of a turn with the record of [handoffRecord].
func handoff(id string) (rows []outbox.Row) {
	for i, part := range []action.Pending{
		{Place: 0, Tool: action.NotifyHandoff, ID: action.NoticeTag},
		{Place: 1, Tool: action.NotifyHandoff, ID: action.NoticeFlow},
		{Place: 2, Tool: action.NotifyHandoff, ID: action.NoticeWebhook, Text: note},
	} {
		rows = append(rows, outbox.Row{ID: id + " " + part.ID, Part: i, Payload: outbox.Payload{Actions: []action.Pending{part}}})
	}
	return rows
}

func handoffRecord() []action.Record {
	return []action.Record{
		{Tool: action.NotifyHandoff, ID: action.NoticeTag, Status: action.Staged},
		{Tool: action.NotifyHandoff, ID: action.NoticeFlow, Status: action.Staged},
		{Tool: action.NotifyHandoff, ID: action.NoticeWebhook, Status: action.Staged},
	}
}

// acting is the end of a turn with that record. Its actions wait where its path has them.
func acting(r turn.Recorded, path conversation.Path, texts ...string) turn.Settlement {
	s := turn.Settlement{Turn: r.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.Actions = conversation.Answered, path, texts, record()
	s.Turn.SettledAt = r.Turn.ReceivedAt
	if path == conversation.Outbox {
		s.Row = &outbox.Row{ID: "row-" + r.Turn.ID, Payload: outbox.Payload{Texts: texts, Actions: pending()}}
		return s
	}
	s.Pending = pending()
	return s
}

// escalated is the end of a turn that is handed off in silence, with a notice.
func escalated(r turn.Recorded) turn.Settlement {
	s := turn.Settlement{Turn: r.Turn, Notices: handoff("notice-" + r.Turn.ID)}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Reason = conversation.Escalated, conversation.Silent, conversation.Complaint
	s.Turn.SettledAt, s.Turn.Actions = r.Turn.ReceivedAt, handoffRecord()
	return s
}

func (f *fixture) settle(t *testing.T, s turn.Settlement) {
	t.Helper()
	ok(t, f.db.Settle(t.Context(), s))
}

func (f *fixture) stamp(t *testing.T, r turn.Recorded, acts bool) {
	t.Helper()
	ok(t, f.db.Stamp(t.Context(), turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: f.now, Acts: acts}))
}

// claim claims the due rows of a kind, and takes their flows to be sent.
func (f *fixture) claim(t *testing.T, kind outbox.Kind) []outbox.Row {
	t.Helper()
	rows := must(f.db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: f.now, Gap: gap, Room: map[outbox.Kind]int{kind: 10}}))(t)
	for i := range rows {
		rows[i].Counted = 0
	}
	return rows
}

// claimOne claims what must be the only due row of a kind.
func (f *fixture) claimOne(t *testing.T, kind outbox.Kind) outbox.Row {
	t.Helper()
	rows := f.claim(t, kind)
	if len(rows) != 1 {
		t.Fatalf("Claim returned %v, want one row", ids(rows))
	}
	return rows[0]
}

// release ends a row in hand in a status.
func (f *fixture) release(t *testing.T, r outbox.Row, status outbox.Status, ended ...action.Ended) {
	t.Helper()
	r.Status = status
	switch status {
	case outbox.Delivered:
		r.DeliveredAt = f.now
	case outbox.Dead:
		r.Reason = outbox.ReasonRejected
	}
	ok(t, f.db.Release(t.Context(), r, ended))
}

func (f *fixture) turn(t *testing.T, r turn.Recorded) conversation.Turn {
	t.Helper()
	return must(f.db.Turn(t.Context(), r.Turn.ID))(t)
}

// statuses are what became of a turn's actions.
func (f *fixture) statuses(t *testing.T, turnID string) (all []action.Status) {
	t.Helper()
	for _, r := range must(f.db.Turn(t.Context(), turnID))(t).Actions {
		all = append(all, r.Status)
	}
	return all
}

// waiting is what a turn keeps of actions behind its response.
func (f *fixture) waiting(t *testing.T, r turn.Recorded) string {
	t.Helper()
	return must(f.text(`SELECT coalesce(pending, 'none') FROM turns WHERE id = $1`, r.Turn.ID))(t)
}

func (f *fixture) row(t *testing.T, id string) outbox.Row {
	t.Helper()
	return must(f.db.OutboxRow(t.Context(), id))(t)
}

func (f *fixture) write(t *testing.T, query string, args ...any) {
	t.Helper()
	ok(t, f.exec(query, args...))
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		ok(t, err)
		return v
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func ids(rows []outbox.Row) []string {
	all := []string{}
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return all
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
