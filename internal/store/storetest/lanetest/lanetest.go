// Package lanetest is the part of the suite of every database that is about the turns of one
// contact that come at once, and about processes that take over from each other.
package lanetest

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
		"record waits":               testRecordWaits,
		"record unbound":             testRecordUnbound,
		"record for nobody":          testRecordNobody,
		"record at once":             testRecordAtOnce,
		"one runs":                   testLane,
		"duplicate":                  testDuplicate,
		"duplicate of a set":         testDuplicateMerged,
		"duplicate counts nowhere":   testDuplicateCounts,
		"merge":                      testMerge,
		"merge nothing":              testMergeNothing,
		"merge counts each message":  testMergeCounts,
		"merge is one entry":         testMergeHistory,
		"merge without words":        testMergeEmpty,
		"merge at once":              testMergeAtOnce,
		"start":                      testStart,
		"start refuses":              testStartRefuses,
		"start unbound":              testStartUnbound,
		"start at once":              testStartAtOnce,
		"ahead":                      testAhead,
		"carry":                      testCarry,
		"carry exactly":              testCarryExactly,
		"carry actions":              testCarryActions,
		"carry nothing unbound":      testCarryUnbound,
		"carry and reroute":          testCarryReroute,
		"carry and take over":        testCarryTakeOver,
		"paused":                     testPaused,
		"take over":                  testTakeOver,
		"take over unwritten answer": testTakeOverAnswering,
		"take over acting":           testTakeOverActing,
		"take over the dead":         testTakeOverDead,
		"take over the lost":         testTakeOverLost,
		"take over in order":         testTakeOverOrder,
		"take over a few":            testTakeOverLimit,
		"take over a set":            testTakeOverMerged,
		"take over at once":          testTakeOverAtOnce,
		"beat":                       testBeat,
		"beat in time":               testBeatInTime,
		"unfinished":                 testUnfinished,
		"hand back":                  testHandBack,
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
	gap       = 2 * time.Second
)

// fixture is a database with a clock of its own. Its methods fail the test on errors
// that no case expects.
type fixture struct {
	opened storetest.Opened
	db     *store.DB
	now    time.Time
	made   int
}

// both are the database as two processes have it open.
func (f *fixture) both(t *testing.T) [2]*store.DB {
	t.Helper()
	return [2]*store.DB{f.db, f.opened.Beside(t)}
}

func key(subscriber string) contact.Key {
	return contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: contact.SubscriberID(subscriber)}
}

func (f *fixture) window() turn.Window {
	return turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10, RecentLimit: 10}
}

func (f *fixture) arrival(subscriber, text string) turn.Arrival {
	f.made++
	return turn.Arrival{
		TurnID: fmt.Sprintf("turn-%06d", f.made), Key: key(subscriber), Owner: owner, Text: text, ReceivedAt: f.now, Window: f.window(),
	}
}

// merging is a message that takes those that wait with it.
func (f *fixture) merging(subscriber, text string) turn.Arrival {
	a := f.arrival(subscriber, text)
	a.Merge = true
	return a
}

// unbound is a message whose request carries a token that is not the contact's.
func (f *fixture) unbound(t *testing.T, subscriber, text string) turn.Arrival {
	t.Helper()
	f.write(t, `INSERT INTO contacts (tenant_id, subscriber_id, token, has_token) VALUES ('demo', $1, $2, 0)
        ON CONFLICT (tenant_id, subscriber_id) DO UPDATE SET token = excluded.token`,
		subscriber, column.Object(token.State{Issued: start.Add(-time.Hour)}))
	a := f.arrival(subscriber, text)
	a.Token = token.Request{Token: "not-the-contact's", Enforced: true}
	return a
}

func (f *fixture) record(t *testing.T, a turn.Arrival) turn.Recorded {
	t.Helper()
	return must(f.db.Record(t.Context(), a))(t)
}

// say records a message of the contact.
func (f *fixture) say(t *testing.T, subscriber, text string) turn.Recorded {
	t.Helper()
	return f.record(t, f.arrival(subscriber, text))
}

// terms are those on which a turn that waits may start.
func (f *fixture) terms(r turn.Recorded) turn.Start {
	return turn.Start{TurnID: r.Turn.ID, ConversationID: r.Turn.ConversationID, Owner: r.Turn.Owner, Window: f.window()}
}

// start makes a waiting turn run.
func (f *fixture) start(t *testing.T, r turn.Recorded) turn.Recorded {
	t.Helper()
	return must(f.db.Start(t.Context(), f.terms(r)))(t)
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
	ok(t, f.db.Settle(t.Context(), s))
}

// end ends a turn in silence.
func (f *fixture) end(t *testing.T, r turn.Recorded) {
	t.Helper()
	f.settle(t, settled(r, conversation.Silent))
}

// answer is the end of a turn whose response is written.
func (f *fixture) answer(t *testing.T, r turn.Recorded, text string) {
	t.Helper()
	f.settle(t, settled(r, conversation.Inline, text))
	f.stamp(t, stamp(r, f.now))
}

func stamp(r turn.Recorded, at time.Time) turn.Stamp {
	return turn.Stamp{TurnID: r.Turn.ID, ConversationID: r.Turn.ConversationID, At: at}
}

func (f *fixture) stamp(t *testing.T, s turn.Stamp) {
	t.Helper()
	ok(t, f.db.Stamp(t.Context(), s))
}

// deferred is a whole turn that answers through the outbox; it returns the row's id.
func (f *fixture) deferred(t *testing.T, subscriber string, texts ...string) string {
	t.Helper()
	s := settled(f.say(t, subscriber, "hello"), conversation.Outbox, texts...)
	f.settle(t, s)
	return s.Row.ID
}

// claim claims the replies that are due, as a worker of a process does.
func (f *fixture) claim(t *testing.T, process string) []outbox.Row {
	t.Helper()
	return must(f.db.Claim(t.Context(), outbox.Claim{
		Owner: process + "/1", Now: f.now, Gap: gap, Room: map[outbox.Kind]int{outbox.Reply: 10},
	}))(t)
}

func (f *fixture) turn(t *testing.T, r turn.Recorded) conversation.Turn {
	t.Helper()
	return must(f.db.Turn(t.Context(), r.Turn.ID))(t)
}

func (f *fixture) row(t *testing.T, id string) outbox.Row {
	t.Helper()
	return must(f.db.OutboxRow(t.Context(), id))(t)
}

// stands is a row's status, owner and how often it was attempted.
func (f *fixture) stands(t *testing.T, id string) []any {
	t.Helper()
	r := f.row(t, id)
	return []any{r.Status, r.Owner, r.Attempts}
}

// answeredBy is the turn that a turn was merged into.
func (f *fixture) answeredBy(t *testing.T, r turn.Recorded) string {
	t.Helper()
	return must(f.opened.Text(`SELECT coalesce(merged_into, '') FROM turns WHERE id = $1`, r.Turn.ID))(t)
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

func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s returned %v, want %v", what, got, want)
	}
}

func ids(rows []outbox.Row) []string {
	all := []string{}
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return all
}

func turns(all []turn.Recorded) []string {
	names := []string{}
	for _, r := range all {
		names = append(names, r.Turn.ID)
	}
	return names
}

func said(entries []conversation.Entry) (all []string) {
	for _, e := range entries {
		all = append(all, e.Text)
	}
	return all
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
