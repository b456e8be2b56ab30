package actstest

import (
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

const successor = "process-b"

func (f *fixture) takeOver(t *testing.T) []turn.Recorded {
	t.Helper()
	taken, _, err := f.db.TakeOver(t.Context(), sweep.TakeOver{
		Process: sweep.Process{ID: successor, TenantID: "demo"}, All: true,
		Window: turn.Window{HistorySince: f.now.AddDate(0, 0, -30), HistoryLimit: 10},
	})
	return must(taken, err)(t)
}

// Holds docs/spec/03-turn.md, "Crash recovery": actions behind a response that was not
// written ride on its row, notes with what they say.
func testTakeOverUnwritten(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	s := acting(r, conversation.Inline, "hi")
	s.Notices = handoff("notice")
	f.settle(t, s)
	both := f.say(t, "700002")
	s = acting(both, conversation.Inline, "hi", "more")
	s.Row = &outbox.Row{ID: "overflow", Payload: outbox.Payload{Texts: []string{"more"}, Actions: pending()}}
	f.settle(t, s)

	f.now = start.Add(time.Hour)
	diff(t, "run again", 0, len(f.takeOver(t)))
	rows := f.claim(t, outbox.Reply)
	diff(t, "rows", 2, len(rows))
	for _, row := range rows {
		want := outbox.Payload{Texts: []string{"hi"}}
		if row.TurnID == r.Turn.ID {
			want.Actions = pending()
		}
		diff(t, "row of "+row.TurnID, want, row.Payload)
	}
	for _, x := range []turn.Recorded{r, both} {
		got := f.turn(t, x)
		diff(t, "turn", []any{conversation.Settled, conversation.Outbox, record()}, []any{got.State, got.Path, got.Actions})
		diff(t, "waiting", "none", f.waiting(t, x))
	}
	diff(t, "the later row's", pending(), f.row(t, "overflow").Payload.Actions)
	diff(t, "the notice", []string{"notice tag", "notice webhook"}, ids(f.claim(t, outbox.HandoffNotice)))
}

// Holds docs/spec/07-tools.md, "Performing": a crash between a response and its actions
// loses them.
func testTakeOverActing(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.settle(t, acting(r, conversation.Inline, "hi"))
	f.stamp(t, r, true)
	diff(t, "run again", 0, len(f.takeOver(t)))
	got := f.turn(t, r)
	diff(t, "turn", []any{conversation.Settled, conversation.Inline, record()}, []any{got.State, got.Path, got.Actions})
	diff(t, "waiting", "none", f.waiting(t, r))
	diff(t, "rows", 0, len(must(f.db.TurnRows(t.Context(), r.Turn.ID))(t)))
	wantErr(t, "acting for a dead process", f.db.Acted(t.Context(), r.Turn.ID, nil), turn.ErrNotOwner)
}

// Holds docs/spec/05-delivery.md, "Outbox", Actions.
func testTakeOverInHand(t *testing.T, f *fixture) {
	f.settle(t, acting(f.say(t, "700001"), conversation.Outbox, "later"))
	r := f.claimOne(t, outbox.Reply)
	r.Payload.Sent, r.Payload.Acting = 1, true
	ok(t, f.db.Progress(t.Context(), r, time.Time{}))
	f.takeOver(t)
	again := f.claimOne(t, outbox.Reply)
	diff(t, "in hand again", r.Payload, again.Payload)
	diff(t, "attempts", 1, again.Attempts)
}

// Holds docs/spec/03-turn.md, "Crash recovery": a rerun is told what the attempt before
// sent, and may not send it again.
func testTakeOverSent(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	flows := []action.Record{flow("brochure", action.Performed, ""), flow("video", action.Sending, "")}
	ok(t, f.db.NoteFlow(t.Context(), noting(r, flows[:1]...)))
	ok(t, f.db.ClaimFlow(t.Context(), action.Claim{ConversationID: r.Conversation.ID, TurnID: r.Turn.ID, Flow: "brochure", At: f.now}))
	ok(t, f.db.NoteFlow(t.Context(), noting(r, flows...)))
	again := f.takeOver(t)
	if len(again) != 1 {
		t.Fatalf("%d turns are run again, want 1", len(again))
	}
	diff(t, "record", flows, again[0].Turn.Actions)
	diff(t, "sent", []string{"brochure", "video"}, again[0].Sent)
	wantErr(t, "sending it again", f.db.NoteFlow(t.Context(), sending(again[0], "video")), action.ErrSent)
	wantErr(t, "a note of the attempt before", f.db.NoteFlow(t.Context(), noting(r, flow("video", action.Performed, ""))), turn.ErrNotOwner)
	diff(t, "record afterwards", flows, f.turn(t, r).Actions)
}

// Holds docs/spec/06-contact.md, "History": agent entries come with what their turn did.
func testHistory(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.settle(t, acting(r, conversation.Inline, "hi"))
	f.stamp(t, r, true)
	ok(t, f.db.Acted(t.Context(), r.Turn.ID, []action.Ended{{Place: 1, Status: action.Performed}}))
	silent := acting(f.say(t, "700001"), conversation.Silent) // it said nothing, whatever it did
	f.settle(t, silent)
	want := record()
	want[1].Status = action.Performed
	diff(t, "history", []conversation.Entry{
		{Role: conversation.ByContact, Text: "hello", At: start}, {Role: conversation.ByAgent, Text: "hi", At: start, Actions: want},
		{Role: conversation.ByContact, Text: "hello", At: start},
	}, f.say(t, "700001").History)
}

// Holds docs/states.md, "The agent row of a turn": actions wait behind a response, and
// nowhere else.
func testConstraints(t *testing.T, f *fixture) {
	r := f.say(t, "700001")
	f.settle(t, acting(r, conversation.Outbox, "later"))
	for name, query := range map[string]string{
		"actions that wait behind nothing": `UPDATE turns SET pending = '[]' WHERE id = 'turn-000001'`,
		"actions of a message":             `UPDATE turns SET pending = '[]' WHERE role = 'contact'`,
		"half a mark":                      `UPDATE outbox SET acting = 2`,
		"a flow without a name":            `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) SELECT tenant_id, subscriber_id, '', 't', 1 FROM conversations`,
		"a flow of a turn without a name":  `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) SELECT tenant_id, subscriber_id, 'f', '', 1 FROM conversations`,
		"a flow that was never sent":       `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id) SELECT tenant_id, subscriber_id, 'f', 't' FROM conversations`,
		"a flow of nobody":                 `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) VALUES ('demo', '', 'f', 't', 1)`,
		"a flow that a contact has two of": `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) SELECT tenant_id, subscriber_id, 'f', 't', n FROM conversations, (SELECT 1 AS n UNION SELECT 2)`,
	} {
		if err := f.exec(query); err == nil {
			t.Errorf("the database accepts %s", name)
		}
	}
	f.write(t, `INSERT INTO flow_sends (tenant_id, subscriber_id, flow, turn_id, sent_at) SELECT tenant_id, subscriber_id, 'f', 't', 1 FROM conversations`)
}
