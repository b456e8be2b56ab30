package show_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
)

// actionsOf is what an account of a turn says of its actions.
func actionsOf(t *testing.T, calls []action.Call, record ...action.Record) string {
	t.Helper()
	var out bytes.Buffer
	turn := conversation.Turn{ID: "turn-1", Key: full().Key, State: conversation.Settled, Calls: calls, Actions: append([]action.Record{}, record...), ReceivedAt: arrived}
	if err := show.Turn(&out, show.Told{Turn: turn}); err != nil {
		t.Fatal(err)
	}
	_, acts, found := strings.Cut(out.String(), "\nactions\n")
	if !found {
		t.Fatalf("actions are not spoken of:\n%s", out.String())
	}
	return gaps.ReplaceAllString(acts, "$1  ")
}

// Holds docs/spec/07-tools.md, "The action record": that nothing was done is said next to
// what was tried.
func TestNoActions(t *testing.T) {
	bad := action.Call{Step: 1, Answer: action.AnsweredBad, Reason: "there is no such tool"}
	over := action.Call{Step: 1, Tool: action.AddTag, ID: "vip", Answer: action.AnsweredNotStaged, Reason: "over the cap"}
	read := action.Call{Step: 1, Tool: action.GetContact, Answer: action.AnsweredRead}
	tests := map[string][]action.Call{
		"  none was chosen\n": {},
		"  none: the model tried once, and its call above says why nothing came of it\n":      {bad},
		"  none: the model tried 2 times, and its calls above say why nothing came of them\n": {bad, read, over},
	}
	for want, calls := range tests {
		if diff := cmp.Diff(want, actionsOf(t, calls)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", calls, diff)
		}
	}
	unread := action.Call{Step: 1, Tool: action.GetContact, Answer: action.AnsweredUnread, Reason: "over the cap"}
	if got := actionsOf(t, []action.Call{read, unread}); got != "  none was chosen\n" {
		t.Errorf("a reading is taken for an attempt: %s", got)
	}
}

// A status is said in the words of docs/guides/what-a-turn-did.md.
func TestStatusesAreWords(t *testing.T) {
	for status, want := range map[action.Status]string{
		action.Staged: "staged", action.Sending: "sending", action.Performed: "performed", action.Failed: "failed",
		action.Discarded: "discarded", action.DroppedOverCap: "dropped over cap", action.DeadLettered: "dead-lettered",
	} {
		if got := actionsOf(t, nil, action.Record{Tool: action.AddTag, ID: "vip", Status: status}); !strings.Contains(got, "\n  "+want+"  add_tag vip") {
			t.Errorf("%s is not called %q:\n%s", status, want, got)
		}
	}
}

// Holds docs/spec/07-tools.md, "The action record": of an action that ManyChat refused it is
// said once where to look, and of no other.
func TestHints(t *testing.T) {
	refused := func(tool action.Kind, id string) action.Record {
		return action.Record{Tool: tool, ID: id, Status: action.Failed, Error: "rejected (400, code 3011)"}
	}
	got := actionsOf(t, nil,
		refused(action.AddTag, "vip"), refused(action.RemoveTag, "vip"), refused(action.AddTag, "vip"), refused(action.SetField, "shift"),
		refused(action.WriteNote, "summary"), refused(action.SendFlow, "syllabus"), refused(action.NotifyHandoff, "tag"),
		refused(action.NotifyHandoff, "flow"), refused(action.NotifyHandoff, "webhook"), refused(action.ScheduleNudge, "later"),
		action.Record{Tool: action.AddTag, ID: "gift", Status: action.Failed, Error: action.OutcomeUnknown},
		action.Record{Tool: action.AddTag, ID: "other", Status: action.Performed},
	)
	var hints []string
	for line := range strings.Lines(got) {
		if strings.Contains(line, " was refused: ") {
			hints = append(hints, strings.TrimSpace(line))
		}
	}
	const named = " exist in the ManyChat account under the name that tools.json gives for this id?"
	want := []string{
		"add_tag vip was refused: does the tag" + named,
		"remove_tag vip was refused: does the tag" + named,
		"set_field shift was refused: does the field" + named,
		"write_note summary was refused: does the field of the note" + named,
		"send_flow syllabus was refused: is the flowNs that tools.json gives for this id that of a published flow in the ManyChat account?",
		"notify_handoff tag was refused: does the tag of rules.handoff.tag exist in the ManyChat account?",
		"notify_handoff flow was refused: is rules.handoff.flowNs that of a published flow in the ManyChat account?",
		"notify_handoff webhook was refused: does the receiver at rules.handoff.webhook take notices, and know HANDOFF_WEBHOOK_SECRET?",
	}
	if diff := cmp.Diff(want, hints); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	const stranger = "does ManyChat know the contact?"
	if alone := actionsOf(t, nil, refused(action.AddTag, "vip")); strings.Contains(got, stranger) || !strings.Contains(alone, stranger) {
		t.Errorf("the contact is doubted beside what was performed, or not where nothing was:\n%s%s", got, alone)
	}
}

// Which part of a notice a row is stands in the list, in the account of the row and in JSON.
func TestPartsOfANotice(t *testing.T) {
	for _, part := range []string{action.NoticeTag, action.NoticeFlow, action.NoticeWebhook} {
		row := rowOf(outbox.HandoffNotice, part, outbox.ReasonExhausted, "x")
		var list, one, object bytes.Buffer
		if err := show.Rows(&list, []outbox.Row{row}); err != nil {
			t.Fatal(err)
		}
		if err := show.Row(&one, row); err != nil {
			t.Fatal(err)
		}
		if err := show.Lines(&object, show.RowsOf([]outbox.Row{row})); err != nil {
			t.Fatal(err)
		}
		words := "handoff notice (" + part + ")"
		if !strings.Contains(list.String(), words) || !strings.Contains(one.String(), words) {
			t.Errorf("%q is not said:\n%s%s", words, list.String(), one.String())
		}
		if !strings.Contains(object.String(), `"kind":"handoff_notice","part":"`+part+`"`) {
			t.Errorf("%s", object.String())
		}
	}
	if v, _ := json.Marshal(show.RowOf(rows()[1])); strings.Contains(string(v), `"part"`) {
		t.Errorf("a reply has a part: %s", v)
	}
}

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": what was recorded is printed
// with the reply. The id of a turn whose database is gone is not.
func TestSimulated(t *testing.T) {
	reply := sandbox.Reply{Path: "inline", Turn: &sandbox.Turn{ID: "turn-1", State: "settled", Outcome: "escalated", Reason: "complaint", Actions: []sandbox.Action{
		{Tool: "add_tag", ID: "vip", Status: "dropped_over_cap"},
		{Tool: "set_field", ID: "shift", Value: "evening", Status: "failed", Error: "rejected (400)"},
	}}}
	want := []string{
		"[inline, 0.0 ms, escalated for complaint, turn turn-1]",
		"action: add_tag vip, dropped over cap",
		"action: set_field shift = evening, failed: rejected (400)",
		"set_field shift was refused: does the field exist in the ManyChat account under the name that tools.json gives for this id?",
		"nothing was performed: does ManyChat know the contact?",
	}
	if diff := cmp.Diff(want, show.SimulatedOf(reply, true).Facts()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	gone := show.SimulatedOf(reply, false)
	if v, _ := json.Marshal(gone); strings.Contains(string(v), "turn-1") || strings.Contains(gone.Facts()[0], "turn-1") {
		t.Errorf("the id is offered: %s, %s", v, gone.Facts()[0])
	}
	reply.Turn.Actions[0].ID = "vip\x1b]0;owned\x07"
	if got := show.SimulatedOf(reply, true).Facts()[1]; strings.ContainsAny(got, "\x1b\x07") {
		t.Errorf("%q", got)
	}
	reply.Turn.Outcome, reply.Turn.Reason, reply.Turn.State, reply.Turn.Actions = "", "", "running", nil
	if got := show.SimulatedOf(reply, true).Facts()[0]; got != "[inline, 0.0 ms, running, turn turn-1]" {
		t.Error(got)
	}
}
