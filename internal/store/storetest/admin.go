package storetest

import (
	"errors"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

var storeAll = store.OutboxFilter{}

func testRead(t *testing.T, f *fixture) {
	f.answer(t, "700001", "one", "answer")
	f.now = f.now.Add(time.Second)
	f.deferred(t, "700001", "later")
	f.now = f.now.Add(time.Second)
	elsewhere := f.arrival("700001", "on another channel")
	elsewhere.Key.Channel = contact.Telegram
	f.record(t, elsewhere)
	f.say(t, "700002", "somebody else")

	got := must(f.db.RecentTurns(t.Context(), "demo", "700001", 10))(t)
	want := []store.RecentTurn{
		{Turn: f.turn(t, "turn-000003")},
		{Turn: f.turn(t, "turn-000002"), Deliveries: []outbox.Status{outbox.Pending}},
		{Turn: f.turn(t, "turn-000001")},
	}
	diff(t, "recent turns", want, got)
	diff(t, "the last two", want[:2], must(f.db.RecentTurns(t.Context(), "demo", "700001", 2))(t))
	diff(t, "of nobody", 0, len(must(f.db.RecentTurns(t.Context(), "other", "700001", 2))(t)))

	if _, err := f.db.Turn(t.Context(), "turn-x"); !errors.Is(err, store.ErrNoTurn) {
		t.Errorf("Turn returned %v, want ErrNoTurn", err)
	}
	if _, err := f.db.Conversation(t.Context(), key("1")); !errors.Is(err, store.ErrNoConversation) {
		t.Errorf("Conversation returned %v, want ErrNoConversation", err)
	}
	if _, err := f.db.OutboxRow(t.Context(), "row-x"); !errors.Is(err, outbox.ErrNotFound) {
		t.Errorf("OutboxRow returned %v, want ErrNotFound", err)
	}
}

func testList(t *testing.T, f *fixture) {
	a := f.deferred(t, "700001", "one")
	b := f.deferred(t, "700002", "one")
	c := f.deferred(t, "700003", "one")
	f.claim(t, 1)
	for _, test := range []struct {
		name   string
		filter store.OutboxFilter
		want   []string
	}{
		{"all", store.OutboxFilter{}, []string{a, b, c}},
		{"pending", store.OutboxFilter{Statuses: []outbox.Status{outbox.Pending}}, []string{b, c}},
		{"two statuses", store.OutboxFilter{Statuses: []outbox.Status{outbox.Delivering, outbox.Dead}}, []string{a}},
		{"first page", store.OutboxFilter{Limit: 2}, []string{a, b}},
		{"second page", store.OutboxFilter{Limit: 2, After: b}, []string{c}},
	} {
		diff(t, test.name, test.want, ids(must(f.db.ListOutbox(t.Context(), test.filter))(t)))
	}
}

// kill claims the one due row and lets it die.
func (f *fixture) kill(t *testing.T) outbox.Row {
	t.Helper()
	r := f.claimOne(t)
	r.Payload.Sent, r.Payload.Unknown = 1, 1
	if err := f.db.Progress(t.Context(), r, f.now); err != nil {
		t.Fatal(err)
	}
	r.Status, r.Reason, r.LastError, r.Attempts = outbox.Dead, outbox.ReasonUnknown, "timeout", 2
	f.release(t, r)
	return r
}

// Holds docs/spec/05-delivery.md, "Outbox", Dead letters: retry resets age and attempts.
func testRetry(t *testing.T, f *fixture) {
	id := f.deferred(t, "700001", "one", "two")
	if err := f.db.RetryOutbox(t.Context(), id); !errors.Is(err, outbox.ErrState) {
		t.Errorf("retrying a pending row returned %v, want ErrState", err)
	}
	if err := f.db.RetryOutbox(t.Context(), "row-x"); !errors.Is(err, outbox.ErrNotFound) {
		t.Errorf("retrying an unknown row returned %v, want ErrNotFound", err)
	}
	want := f.kill(t)
	diff(t, "history while dead", []string{"hello", "one"}, texts(f.pass(t, "700001", "next").History))

	f.now = f.now.Add(24 * time.Hour)
	if err := f.db.RetryOutbox(t.Context(), id); err != nil {
		t.Fatalf("RetryOutbox: %v", err)
	}
	want.Status, want.Reason, want.LastError, want.Owner, want.Attempts = outbox.Pending, "", "", "", 0
	want.Payload.Unknown = 0
	want.CreatedAt, want.NextAttemptAt = f.now, f.now
	diff(t, "row", want, f.row(t, id))
	diff(t, "history afterwards", []string{"hello", "one\n\ntwo", "next"}, texts(f.pass(t, "700001", "again").History))

	// A text that may have arrived is sent again only by name.
	f.kill(t)
	exhausted := f.deferred(t, "700002", "one")
	r := f.claimOne(t)
	r.Status, r.Reason, r.LastError = outbox.Dead, outbox.ReasonExhausted, "status 503"
	f.release(t, r)
	diff(t, "retried", store.Retried{Queued: 1, Left: 1}, must(f.db.RetryAllDead(t.Context()))(t))
	diff(t, "status", outbox.Pending, f.row(t, exhausted).Status)
	diff(t, "retried again", store.Retried{Left: 1}, must(f.db.RetryAllDead(t.Context()))(t))
}

func testDiscard(t *testing.T, f *fixture) {
	pending := f.deferred(t, "700001", "one", "two")
	if err := f.db.DiscardOutbox(t.Context(), pending); err != nil {
		t.Fatalf("DiscardOutbox: %v", err)
	}
	diff(t, "status", outbox.Discarded, f.row(t, pending).Status)
	diff(t, "history", []string{"hello"}, texts(f.say(t, "700001", "next").History))
	for name, call := range map[string]func() error{
		"discard": func() error { return f.db.DiscardOutbox(t.Context(), pending) },
		"retry":   func() error { return f.db.RetryOutbox(t.Context(), pending) },
	} {
		if err := call(); !errors.Is(err, outbox.ErrState) {
			t.Errorf("%s of a discarded row returned %v, want ErrState", name, err)
		}
	}

	dead := f.deferred(t, "700002", "one", "two")
	f.kill(t)
	if err := f.db.DiscardOutbox(t.Context(), dead); err != nil {
		t.Fatalf("DiscardOutbox of a dead row: %v", err)
	}
	diff(t, "status", outbox.Discarded, f.row(t, dead).Status)

	f.deferred(t, "700003", "one")
	if err := f.db.DiscardOutbox(t.Context(), f.claimOne(t).ID); !errors.Is(err, outbox.ErrState) {
		t.Errorf("discarding a row in hand returned %v, want ErrState", err)
	}
}
