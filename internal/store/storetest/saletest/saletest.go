// Package saletest is the part of the suite of every database that is about what is known of
// contacts as buyers.
package saletest

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
		"performed behind a response":    testActed,
		"performed behind the outbox":    testReleased,
		"not performed":                  testNotPerformed,
		"acted by somebody else":         testActedTwice,
		"never back":                     testNeverBack,
		"offering named since":           testNamedSince,
		"awaited":                        testAwaited,
		"awaited offering named since":   testAwaitedNamed,
		"awaited by a turn that waits":   testAwaitedStart,
		"awaited by a turn taken over":   testAwaitedTakeOver,
		"unbound":                        testUnbound,
		"opening over":                   testOpeningOver,
		"opening once of three messages": testOpeningOnce,
		"once however long ago":          testOnce,
		"events":                         testEvents,
		"side by side":                   testSideBySide,
	} {
		t.Run(name, func(t *testing.T) {
			f := &fixture{now: start}
			f.opened = open(t, func() time.Time { return f.now })
			f.db = f.opened.DB
			test(t, f)
		})
	}
}

var start = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

const (
	owner     = "process-a"
	successor = "process-b"
	day       = 24 * time.Hour
)

// fixture is a database with a clock of its own. Its methods fail the test on errors
// that no case expects.
type fixture struct {
	opened storetest.Opened
	db     *store.DB
	now    time.Time
	made   int
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

// arrival is a message of a contact, which may name an offering.
func (f *fixture) arrival(subscriber, offering string) turn.Arrival {
	f.made++
	return turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: key(subscriber), Owner: owner, Text: fmt.Sprint("hello ", f.made),
		Offering: offering, ReceivedAt: f.now, Window: f.window(),
	}
}

func (f *fixture) window() turn.Window {
	return turn.Window{HistorySince: f.now.Add(-30 * day), HistoryLimit: 10, Once: []string{"opening", "tour"}}
}

func (f *fixture) record(t *testing.T, a turn.Arrival) turn.Recorded {
	t.Helper()
	return must(f.db.Record(t.Context(), a))(t)
}

// say records a message of a contact.
func (f *fixture) say(t *testing.T, subscriber string) turn.Recorded {
	t.Helper()
	return f.record(t, f.arrival(subscriber, ""))
}

// names records a message whose request names an offering.
func (f *fixture) names(t *testing.T, subscriber, offering string) turn.Recorded {
	t.Helper()
	return f.record(t, f.arrival(subscriber, offering))
}

// forged is a message whose request carries a token that is not the contact's.
func (f *fixture) forged(t *testing.T, subscriber, offering string) turn.Recorded {
	t.Helper()
	f.write(t, `INSERT INTO contacts (tenant_id, subscriber_id, token, has_token) VALUES ('demo', $1, $2, 0)
        ON CONFLICT (tenant_id, subscriber_id) DO UPDATE SET token = excluded.token`,
		subscriber, column.Object(token.State{Issued: start.Add(-time.Hour)}))
	a := f.arrival(subscriber, offering)
	a.Token = token.Request{Token: "not-the-contact's", Enforced: true}
	return f.record(t, a)
}

// write of a field that has a part in the sale, as a turn staged it.
func marked(m contact.Mark, value string) action.Record {
	return action.Record{Tool: action.SetField, ID: "the_" + string(m), Value: value, Mark: m, Status: action.Staged}
}

func intent(v contact.Intent) action.Record     { return marked(contact.MarkIntent, string(v)) }
func stage(v contact.FunnelStage) action.Record { return marked(contact.MarkFunnel, string(v)) }
func offering(id string) action.Record          { return marked(contact.MarkOffering, id) }

// plain is a write that has no part in the sale, of a value that would have one.
func plain() action.Record {
	return action.Record{Tool: action.SetField, ID: "shift", Value: string(contact.LinkSent), Status: action.Staged}
}

// staging is the end of a turn that staged writes, by the path that its reply takes.
func staging(r turn.Recorded, path conversation.Path, record ...action.Record) turn.Settlement {
	s := turn.Settlement{Turn: r.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Replies, s.Turn.Actions = conversation.Answered, path, []string{"hi"}, record
	s.Turn.SettledAt = r.Turn.ReceivedAt
	var pending []action.Pending
	for i, e := range record {
		pending = append(pending, action.Pending{Place: i, Tool: e.Tool, ID: e.ID, Value: e.Value})
	}
	if path == conversation.Inline {
		s.Pending = pending
		return s
	}
	s.Row = &outbox.Row{ID: "row-" + r.Turn.ID, Payload: outbox.Payload{Texts: []string{"hi"}, Actions: pending}}
	return s
}

// deferred settles a turn whose reply, with its writes, waits in the outbox.
func (f *fixture) deferred(t *testing.T, r turn.Recorded, record ...action.Record) {
	t.Helper()
	ok(t, f.db.Settle(t.Context(), staging(r, conversation.Outbox, record...)))
}

// acting settles a turn whose response was written, and whose writes follow.
func (f *fixture) acting(t *testing.T, r turn.Recorded, record ...action.Record) {
	t.Helper()
	ok(t, f.db.Settle(t.Context(), staging(r, conversation.Inline, record...)))
	ok(t, f.db.Stamp(t.Context(), turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Conversation.ID, At: f.now, Acts: true}))
}

// performs is a whole turn that stages writes and performs them all.
func (f *fixture) performs(t *testing.T, r turn.Recorded, record ...action.Record) {
	t.Helper()
	f.acting(t, r, record...)
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, all(action.Performed, len(record))))
}

// end ends a turn in silence, with what it did.
func (f *fixture) end(t *testing.T, r turn.Recorded, record ...action.Record) {
	t.Helper()
	s := turn.Settlement{Turn: r.Turn}
	s.Turn.Outcome, s.Turn.Path, s.Turn.Actions = conversation.Answered, conversation.Silent, record
	ok(t, f.db.Settle(t.Context(), s))
}

// claimOne claims what must be the only due reply.
func (f *fixture) claimOne(t *testing.T) outbox.Row {
	t.Helper()
	rows := must(f.db.Claim(t.Context(), outbox.Claim{Owner: owner, Now: f.now.Add(time.Hour), Room: map[outbox.Kind]int{outbox.Reply: 10}}))(t)
	if len(rows) != 1 {
		t.Fatalf("%d rows are due, want one", len(rows))
	}
	rows[0].Counted = 0
	return rows[0]
}

// release ends a row in hand, and says of each of its actions that it ended so.
func (f *fixture) release(t *testing.T, r outbox.Row, status outbox.Status, ended ...action.Ended) {
	t.Helper()
	switch r.Status = status; status {
	case outbox.Delivered:
		r.DeliveredAt = f.now
	case outbox.Dead:
		r.Reason = outbox.ReasonRejected
	}
	ok(t, f.db.Release(t.Context(), r, ended))
}

// all is that a turn's actions ended in one way.
func all(status action.Status, n int) (ended []action.Ended) {
	for place := range n {
		ended = append(ended, action.Ended{Place: place, Status: status})
	}
	return ended
}

// sale is what the conversation keeps of the contact as a buyer.
func (f *fixture) sale(t *testing.T, subscriber string) contact.Sale {
	t.Helper()
	return must(f.db.Conversation(t.Context(), key(subscriber)))(t).Sale
}

func (f *fixture) write(t *testing.T, query string, args ...any) {
	t.Helper()
	ok(t, f.opened.Exec(query, args...))
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

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
