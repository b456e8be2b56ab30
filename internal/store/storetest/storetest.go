// Package storetest is the suite that every database behind package store passes.
package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Opened is an empty database under test.
type Opened struct {
	DB   *store.DB
	Exec func(query string, args ...any) error           // runs a statement beside the store, constraints enforced
	Text func(query string, args ...any) (string, error) // reads one value beside the store
	// Beside opens it once more, as another process does, until the test ends.
	Beside func(t *testing.T) *store.DB
}

// Open opens an empty database that takes the time from now and is closed with the test.
type Open func(t *testing.T, now func() time.Time) Opened

// Run runs the suite.
func Run(t *testing.T, open Open) {
	for name, test := range map[string]func(*testing.T, *fixture){
		"record":                    testRecord,
		"record moves offering":     testRecordOffering,
		"record concurrently":       testRecordConcurrently,
		"record fails as a whole":   testRecordTwice,
		"settle":                    testSettle,
		"settle refuses":            testSettleRefuses,
		"settle behind queued":      testSettleBehindQueued,
		"settle inside the gap":     testSettleInsideTheGap,
		"settle what breaks a rule": testSettleRefused,
		"stamp":                     testStamp,
		"stamp without a turn":      testStampWithoutTurn,
		"reroute":                   testReroute,
		"claim order":               testClaimOrder,
		"claim bound first":         testClaimBoundFirst,
		"claim waits":               testClaimWaits,
		"claim one in hand":         testClaimOneInHand,
		"claim after a clock jump":  testClaimAfterClockJump,
		"claim across a clock jump": testClaimAcrossAClockJump,
		"claim under way":           testClaimUnderWay,
		"claim limit":               testClaimLimit,
		"next due":                  testNextDue,
		"progress":                  testProgress,
		"release":                   testRelease,
		"release dead":              testReleaseDead,
		"writes of another owner":   testOtherOwner,
		"history":                   testHistory,
		"history of lost replies":   testHistoryLost,
		"history stays bounded":     testHistoryBounded,
		"token row":                 testTokenRow,
		"token minted":              testTokenMint,
		"token row dies":            testTokenRowDies,
		"token starts history":      testTokenStartsHistory,
		"recent messages":           testRecent,
		"quiet":                     testQuiet,
		"operators read":            testRead,
		"operators list":            testList,
		"operators retry":           testRetry,
		"operators discard":         testDiscard,
		"constraints":               testConstraints,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{now: start}
			o := open(t, func() time.Time { return f.now })
			f.db, f.exec = o.DB, o.Exec
			test(t, f)
		})
	}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const (
	owner = "process-a"
	gap   = 2 * time.Second
)

// fixture is a database with a clock of its own. Its methods fail the test on errors
// that no case expects.
type fixture struct {
	db   *store.DB
	exec func(query string, args ...any) error
	now  time.Time
	made int
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

func (f *fixture) arrival(subscriber, text string) turn.Arrival {
	f.made++
	return turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: key(subscriber), Owner: owner, Text: text,
		ReceivedAt: f.now, Window: turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10},
	}
}

// unbound is a message whose request carries a token that is not the contact's.
func (f *fixture) unbound(t *testing.T, subscriber, text string) turn.Arrival {
	t.Helper()
	issued := token.State{Issued: start.Add(-time.Hour)}
	f.write(t, `INSERT INTO contacts (tenant_id, subscriber_id, token, has_token) VALUES ('demo', $1, $2, 0)
        ON CONFLICT (tenant_id, subscriber_id) DO UPDATE SET token = excluded.token`, subscriber, column.Object(issued))
	a := f.arrival(subscriber, text)
	a.Token = token.Request{Token: "not-the-contact's", Enforced: true}
	return a
}

func (f *fixture) write(t *testing.T, query string, args ...any) {
	t.Helper()
	if err := f.exec(query, args...); err != nil {
		t.Fatal(err)
	}
}

func (f *fixture) record(t *testing.T, a turn.Arrival) turn.Recorded {
	t.Helper()
	r, err := f.db.Record(t.Context(), a)
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	return r
}

// say records a message of the contact.
func (f *fixture) say(t *testing.T, subscriber, text string) turn.Recorded {
	t.Helper()
	return f.record(t, f.arrival(subscriber, text))
}

// pass is a whole turn that ends in silence.
func (f *fixture) pass(t *testing.T, subscriber, text string) turn.Recorded {
	t.Helper()
	r := f.say(t, subscriber, text)
	f.settle(t, settled(r, conversation.Silent))
	return r
}

// settled is the end of a turn that answers with the texts.
func settled(r turn.Recorded, path conversation.Path, texts ...string) turn.Settlement {
	s := turn.Settlement{Turn: r.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies = conversation.Answered, path, texts
	s.Turn.SettledAt = r.Turn.ReceivedAt
	if path == conversation.Outbox {
		s.Row = &outbox.Row{ID: "row-" + r.Turn.ID, Payload: outbox.Payload{Texts: texts}}
	}
	return s
}

func (f *fixture) settle(t *testing.T, s turn.Settlement) {
	t.Helper()
	if err := f.db.Settle(t.Context(), s); err != nil {
		t.Fatalf("Settle: %v", err)
	}
}

// answer is a whole inline turn.
func (f *fixture) answer(t *testing.T, subscriber, text, reply string) turn.Recorded {
	t.Helper()
	r := f.say(t, subscriber, text)
	f.settle(t, settled(r, conversation.Inline, reply))
	f.stamp(t, turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: f.now})
	return r
}

// deferred is a whole turn that answers through the outbox; it returns the row's id.
func (f *fixture) deferred(t *testing.T, subscriber string, texts ...string) string {
	t.Helper()
	s := settled(f.say(t, subscriber, "hello"), conversation.Outbox, texts...)
	f.settle(t, s)
	return s.Row.ID
}

// claim claims replies, and takes their flows to be sent.
func (f *fixture) claim(t *testing.T, limit int) []outbox.Row {
	t.Helper()
	rows := must(f.db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: f.now, Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: limit}}))(t)
	for i := range rows {
		rows[i].Counted = 0
	}
	return rows
}

func (f *fixture) claimTokens(t *testing.T) []outbox.Row {
	t.Helper()
	return must(f.db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: f.now, Gap: gap, Room: map[outbox.Kind]int{outbox.ContactToken: 10}}))(t)
}

// claimOne claims what must be the only due row.
func (f *fixture) claimOne(t *testing.T) outbox.Row {
	t.Helper()
	rows := f.claim(t, 10)
	if len(rows) != 1 {
		t.Fatalf("Claim returned %v, want one row", ids(rows))
	}
	return rows[0]
}

func (f *fixture) release(t *testing.T, r outbox.Row) {
	t.Helper()
	if err := f.db.Release(t.Context(), r, nil); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

func (f *fixture) conversation(t *testing.T, subscriber string) conversation.Conversation {
	t.Helper()
	return must(f.db.Conversation(t.Context(), key(subscriber)))(t)
}

func (f *fixture) turn(t *testing.T, id string) conversation.Turn {
	t.Helper()
	return must(f.db.Turn(t.Context(), id))(t)
}

func (f *fixture) row(t *testing.T, id string) outbox.Row {
	t.Helper()
	return must(f.db.OutboxRow(t.Context(), id))(t)
}

func must[T any](v T, err error) func(t *testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
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
