package show_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
)

var update = flag.Bool("update", false, "write the golden files anew")

// gaps are between columns, whose widths depend on the name of the zone.
var gaps = regexp.MustCompile(`(\S) {2,}`)

var arrived = time.Date(2026, 3, 4, 5, 6, 7, 0, time.Local)

func after(d time.Duration) time.Time { return arrived.Add(d) }

func confidence(c float64) *float64 { return &c }

// full is a turn with something of everything that a record can hold.
func full() conversation.Turn {
	return conversation.Turn{
		ID: "turn-1", ConversationID: "conversation-1", Key: contact.Key{SubscriberID: "900000001", Channel: "whatsapp"},
		State: conversation.Settled, Attempt: 2, Bound: true, Text: "the syllabus, please\nand 10% off?",
		Replies: []string{"It is above.", "A colleague will answer the rest."},
		Outcome: conversation.Escalated, Path: conversation.Outbox, Reason: conversation.PriceNegotiation,
		Model: "mock:demo", PromptVersion: "ab12cd34ef56", Confidence: confidence(0.62),
		Spend:         conversation.Spend{TokensIn: 3200, TokensCached: 2300, TokensOut: 180, CostMicros: 1234},
		Timings:       conversation.Timings{Record: 1500, Steps: []conversation.Micros{900_000, 1_200_000}, Hold: 200_000, Total: 2_500_000},
		Interventions: []string{"price"},
		Calls: []action.Call{
			{Step: 1, Tool: action.SendFlow, ID: "syllabus", ContactAsked: true, Answer: action.AnsweredSent},
			{Step: 1, Tool: action.SetField, ID: "preferred_shift", Value: "evening", Answer: action.AnsweredStaged},
			{Step: 2, Tool: action.WriteNote, ID: "summary", Length: 44, Answer: action.AnsweredStaged},
			{Step: 2, Answer: action.AnsweredBad, Reason: "there is no such tool"},
			{Step: 3, Tool: action.AddTag, ID: "vip", Answer: action.AnsweredNotStaged, Reason: "over the cap"},
		},
		Actions: []action.Record{
			{Tool: action.SendFlow, ID: "welcome", Status: action.Performed, Origin: action.FromOpening, At: after(1200 * time.Millisecond)},
			{Tool: action.SendFlow, ID: "syllabus", Status: action.Failed, Error: action.OutcomeUnknown, ContactAsked: true},
			{Tool: action.SetField, ID: "preferred_shift", Value: "evening", Status: action.Discarded},
			{Tool: action.WriteNote, ID: "summary", Length: 44, Status: action.Staged},
			{Tool: action.AddTag, ID: "vip", Status: action.DroppedOverCap},
		},
		ReceivedAt: arrived, SettledAt: after(2500 * time.Millisecond),
	}
}

func rows() []outbox.Row {
	return []outbox.Row{
		{
			ID: "row-1", TurnID: "turn-1", ConversationID: "conversation-1", Kind: outbox.HandoffNotice, Status: outbox.Delivered, Attempts: 1,
			Payload: outbox.Payload{Sent: 1, Actions: []action.Pending{{Tool: action.NotifyHandoff, ID: action.NoticeWebhook, Text: "a note that nobody prints"}}},
		},
		{
			ID: "row-2", TurnID: "turn-1", ConversationID: "conversation-1", Kind: outbox.Reply, Status: outbox.Dead, Reason: outbox.ReasonRejected,
			LastError: "manychat: sendFlow: rejected", Attempts: 3,
			Payload: outbox.Payload{Texts: []string{"It is above."}, Actions: []action.Pending{{Tool: action.WriteNote, ID: "summary", Text: "a note that nobody prints"}}},
		},
	}
}

// Holds docs/spec/07-tools.md, "The action record": an operator reads of a turn what was
// called, what it was told, and what became of it; never what a note says.
func TestTurn(t *testing.T) {
	var out bytes.Buffer
	if err := show.Turn(&out, show.Told{Turn: full(), Rows: rows()}); err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(out.String(), " "+arrived.Format("MST"), " ZONE")
	golden(t, "testdata/turn.txt", gaps.ReplaceAllString(text, "$1  "))
}

// What is not there is not spoken of.
func TestTurnWithoutMuch(t *testing.T) {
	var out bytes.Buffer
	turn := conversation.Turn{ID: "turn-2", Key: full().Key, State: conversation.Running, Attempt: 1, Bound: true, Text: "hello", ReceivedAt: arrived}
	if err := show.Turn(&out, show.Told{Turn: turn}); err != nil {
		t.Fatal(err)
	}
	for _, head := range []string{"took", "outcome", "left", "prompt", "confidence", "spend", "steps", "guardrails", "replied", "actions", "outbox"} {
		if strings.Contains(out.String(), head) {
			t.Errorf("%q is spoken of:\n%s", head, out.String())
		}
	}
	turn.Actions = []action.Record{}
	out.Reset()
	if err := show.Turn(&out, show.Told{Turn: turn}); err != nil || !strings.HasSuffix(out.String(), "\nactions\n  none was chosen\n") {
		t.Errorf("%v: tools that were offered and not used are not told from none:\n%s", err, out.String())
	}
}

// Holds docs/spec/03-turn.md, "One turn at a time per contact": a turn that answers several
// messages lists them all, in their order, each with its turn, and says how long it waited.
func TestTurnOfSeveralMessages(t *testing.T) {
	told := show.Told{
		Turn:   conversation.Turn{ID: "turn-3", Key: full().Key, State: conversation.Settled, Text: "and glazes?", Timings: conversation.Timings{Record: 1500, Wait: 2_000_000, Total: 2_500_000}},
		Merged: []conversation.Turn{{ID: "turn-1", Text: "a bowl?"}, {ID: "turn-2", Text: "how much?"}},
	}
	var out bytes.Buffer
	if err := show.Turn(&out, told); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"took        2.5s, recorded after 1.5ms, waited 2s for an earlier turn\n",
		"\nthe contact wrote\n  a bowl?\n  (turn turn-1, answered together with this one)\n  how much?\n  (turn turn-2, answered together with this one)\n  and glazes?\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not said:\n%s", want, out.String())
		}
	}
	want := []show.MergedView{{ID: "turn-1", Text: "a bowl?"}, {ID: "turn-2", Text: "how much?"}}
	if diff := cmp.Diff(want, show.TurnOf(told).Merged); diff != "" {
		t.Errorf("as JSON (-want +got):\n%s", diff)
	}
}

// How a reply left is said of every path, and of a response that nobody saw written.
func TestHowItLeft(t *testing.T) {
	written := conversation.Turn{Path: conversation.Inline, RespondedAt: arrived}
	for want, turn := range map[string]conversation.Turn{
		"left        in the response\n": written, "left        in the response, which is not known to be written\n": {Path: conversation.Inline},
		"left        by the outbox\n": {Path: conversation.Outbox}, "left        not at all: nothing was to be said\n": {Path: conversation.Silent},
		"answered by  turn-3\nleft         not at all: a later turn answered the message with its own\n":       {Outcome: conversation.MergedAway, Path: conversation.Silent, MergedInto: "turn-3"},
		"left        not at all: the contact had just sent the same, which the turn before this one answers\n": {Outcome: conversation.Duplicate, Path: conversation.Silent},
	} {
		var out bytes.Buffer
		if err := show.Turn(&out, show.Told{Turn: turn}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%v: %q is not said:\n%s", err, want, out.String())
		}
	}
}

// No text of a contact, a model or ManyChat reaches a terminal as an order.
func TestHostileTexts(t *testing.T) {
	const hostile = "a\x1b]0;owned\x07b\u009b2J\u202ec\rd"
	turn := full()
	turn.Text, turn.Replies, turn.Interventions = hostile, []string{hostile}, []string{hostile}
	turn.Calls[0].Reason, turn.Actions[0].Error = hostile, hostile
	rows := rows()
	rows[0].LastError, rows[0].Payload.Texts = hostile, []string{hostile}
	var out bytes.Buffer
	if err := show.Turn(&out, show.Told{Turn: turn, Rows: rows}); err != nil {
		t.Fatal(err)
	}
	if err := show.Row(&out, rows[0]); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsAny(out.String(), "\x1b\x07\u009b\u202e\r") {
		t.Errorf("%q", out.String())
	}
	if !strings.Contains(out.String(), "  d\n") {
		t.Errorf("a line of the contact is not indented like the others:\n%s", out.String())
	}
}

// Holds docs/spec/07-tools.md, "The action record": as JSON a turn has the names of the
// console's API, and a note is its length.
func TestTurnAsJSON(t *testing.T) {
	var out bytes.Buffer
	if err := show.Object(&out, show.TurnOf(show.Told{Turn: full(), Rows: rows()})); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "a note that nobody prints") {
		t.Error("a note's text is printed")
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int{"replies": 2, "interventions": 1, "actions": 5, "calls": 5, "outbox": 2} {
		if list, _ := got[key].([]any); len(list) != want {
			t.Errorf("%s is %v, want %d", key, got[key], want)
		}
	}
	for key, want := range map[string]any{"id": "turn-1", "subscriber": "900000001", "escalationReason": "price_negotiation", "respondedAt": nil} {
		if diff := cmp.Diff(want, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// A list says how turns ended, and names neither the contact nor a text.
func TestTurns(t *testing.T) {
	running := conversation.Turn{ID: "turn-2", State: conversation.Running, ReceivedAt: arrived, Text: "hello"}
	lines := []show.TurnLine{show.TurnLineOf(full()), show.TurnLineOf(running)}
	var table, objects bytes.Buffer
	if err := show.Turns(&table, lines); err != nil {
		t.Fatal(err)
	}
	zone := arrived.Format("MST")
	want := "ID      RECEIVED                 OUTCOME                       PATH    ACTIONS\n" +
		"turn-1  2026-03-04 05:06:07 ZONE escalated: price_negotiation  outbox  5\n" +
		"turn-2  2026-03-04 05:06:07 ZONE running                       -       0\n"
	if diff := cmp.Diff(strings.Fields(want), strings.Fields(strings.ReplaceAll(table.String(), " "+zone, " ZONE"))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := show.Lines(&objects, lines); err != nil {
		t.Fatal(err)
	}
	for _, private := range []string{"900000001", "syllabus", "hello"} {
		if strings.Contains(table.String()+objects.String(), private) {
			t.Errorf("a list holds %q", private)
		}
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", file, diff)
	}
}
