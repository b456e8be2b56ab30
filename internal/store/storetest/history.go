package storetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

func byContact(text string, at time.Time) conversation.Entry {
	return conversation.Entry{Role: conversation.ByContact, Text: text, At: at}
}

func byAgent(text string, at time.Time) conversation.Entry {
	return conversation.Entry{Role: conversation.ByAgent, Text: text, At: at}
}

// Holds docs/spec/06-contact.md, "History".
func testHistory(t *testing.T, f *fixture) {
	f.answer(t, "700001", "too old", "too old as well")
	f.now = f.now.AddDate(0, 0, 31)
	now := f.now
	f.answer(t, "700001", "one", "answer one")

	stranger := f.record(t, f.unbound(t, "700001", "unbound"))
	diff(t, "an unbound turn's history", 0, len(stranger.History))
	f.settle(t, settled(stranger, conversation.Outbox, "to the stranger"))

	paused := settled(f.say(t, "700001", "to a person"), conversation.Silent)
	paused.Turn.Outcome = conversation.Paused
	f.settle(t, paused)
	duplicate := settled(f.say(t, "700001", ""), conversation.Silent, "never said")
	duplicate.Turn.Outcome = conversation.Duplicate
	f.settle(t, duplicate)
	acted := settled(f.say(t, "700001", "two"), conversation.Outbox, "answer two", "and more")
	acted.Turn.Actions = []action.Record{{Tool: action.AddTag, ID: "interested", Status: action.Staged}}
	f.settle(t, acted)
	f.pass(t, "700001", "unanswered")

	got := f.pass(t, "700001", "now").History
	answer := byAgent("answer two\n\nand more", now)
	answer.Actions = acted.Turn.Actions
	want := []conversation.Entry{
		byContact("one", now), byAgent("answer one", now), byContact("to a person", now),
		byContact("two", now), answer, byContact("unanswered", now),
	}
	diff(t, "history", want, got)

	short := f.arrival("700001", "and now")
	short.Window.HistoryLimit = 2
	diff(t, "limited", []conversation.Entry{byContact("unanswered", now), byContact("now", now)}, f.record(t, short).History)
}

// Holds docs/spec/05-delivery.md, "Outbox": of a reply that never arrived only the texts
// that did go out are in the model's history.
func testHistoryLost(t *testing.T, f *fixture) {
	for i, c := range []struct {
		name   string
		status outbox.Status
		sent   int
		want   []string
	}{
		{"on its way", outbox.Pending, 0, []string{"hello", "one\n\ntwo"}},
		{"delivered", outbox.Delivered, 2, []string{"hello", "one\n\ntwo"}},
		{"dead", outbox.Dead, 0, []string{"hello"}},
		{"dead half way", outbox.Dead, 1, []string{"hello", "one"}},
		{"withheld half way", outbox.Withheld, 1, []string{"hello", "one"}},
	} {
		subscriber := strconv.Itoa(800000 + i)
		f.deferred(t, subscriber, "one", "two")
		r := f.claimOne(t)
		r.Payload.Sent = c.sent
		if err := f.db.Progress(t.Context(), r, f.now); err != nil {
			t.Fatal(err)
		}
		f.now = f.now.Add(time.Second)
		r.Status, r.NextAttemptAt = c.status, f.now.Add(time.Hour)
		switch c.status {
		case outbox.Dead:
			r.Reason = outbox.ReasonExhausted
		case outbox.Delivered:
			r.DeliveredAt = f.now
		}
		f.release(t, r)
		diff(t, c.name, c.want, texts(f.say(t, subscriber, "next").History))
	}

	s := settled(f.say(t, "900000", "hello"), conversation.Inline, "in the response", "never arrived")
	s.Row = &outbox.Row{ID: "overflow", Payload: outbox.Payload{Texts: []string{"never arrived"}}}
	f.settle(t, s)
	f.stamp(t, turn.Stamp{TurnID: s.Turn.ID, ConversationID: s.Turn.ConversationID, At: f.now})
	if err := f.db.DiscardOutbox(t.Context(), "overflow"); err != nil {
		t.Fatal(err)
	}
	diff(t, "overflow discarded", []string{"hello", "in the response"}, texts(f.say(t, "900000", "next").History))
}

func texts(entries []conversation.Entry) (all []string) {
	for _, e := range entries {
		all = append(all, e.Text)
	}
	return all
}

// Holds docs/spec/15-storage.md: a long history reads like a short one. Its cost is
// held by the query plans; this holds that the window is the right one.
func testHistoryBounded(t *testing.T, f *fixture) {
	for _, n := range []int{100, 10_000} {
		subscriber := strconv.Itoa(n)
		f.fill(t, subscriber, n)
		got := f.say(t, subscriber, "now")
		var want []string
		for i := n - 5; i < n; i++ {
			want = append(want, "message "+strconv.Itoa(i), "answer "+strconv.Itoa(i))
		}
		diff(t, subscriber+" turns", want, texts(got.History))
		diff(t, "place after "+subscriber, int64(2*n+4), got.Turn.Seq)
	}
}

// fill gives a contact n answered turns, written beside the store.
func (f *fixture) fill(t *testing.T, subscriber string, n int) {
	t.Helper()
	r := f.pass(t, subscriber, "") // a text would be in the history
	for _, query := range []string{
		`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at,
            state, attempt, outcome, path, settled_at, replies)
        SELECT CAST($2 AS TEXT) || '-' || i, $2 || '-' || i, 'demo', $2, 'agent', 2 * i + 4, 1, 1, 'answer ' || i, CAST($3 AS BIGINT),
            'settled', 1, 'answered', 'inline', CAST($3 AS BIGINT), '[]' FROM n`,
		`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at)
        SELECT $2 || '-m' || i, $2 || '-' || i, 'demo', $2, 'contact', 2 * i + 3, 1, 1, 'message ' || i, CAST($3 AS BIGINT) FROM n`,
		`UPDATE conversations SET last_seq = 2 + 2 * (SELECT count(*) FROM n WHERE CAST($3 AS BIGINT) > 0) WHERE id = $2`,
	} {
		numbers := `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $1 - 1) `
		if err := f.exec(numbers+query, n, r.Conversation.ID, f.now.UnixMicro()); err != nil {
			t.Fatal(err)
		}
	}
}
