package aside_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/aside"
)

// Holds docs/spec/07-tools.md, "Performing": what follows a payment link that went out runs whatever
// becomes of the turn, but for a contact whom a person has; what follows a write that is discarded is
// discarded with it.
func TestFollowOnsOfATurn(t *testing.T) {
	const performed, staged, unknown, no = action.Performed, action.Staged, action.Failed, action.Discarded
	acts := func(link action.Status) tool.Result {
		return tool.Result{
			Record: []action.Record{
				{Tool: action.SetField, ID: "stage", Status: staged}, {Tool: action.SendEvent, ID: "prepared", Status: staged},
				{Tool: action.SendFlow, ID: "pay", Status: link},
				{Tool: action.SetField, ID: "stage", Status: staged}, {Tool: action.SendEvent, ID: "bought", Status: staged},
				{Tool: action.WriteNote, ID: "handover", Status: staged},
			},
			Pending: []action.Pending{
				{Place: 0, Tool: action.SetField, ID: "stage"}, {Place: 1, Tool: action.SendEvent, FollowOn: true},
				{Place: 3, Tool: action.SetField, ID: "stage", FollowOn: true}, {Place: 4, Tool: action.SendEvent, FollowOn: true},
				{Place: 5, Tool: action.WriteNote, ID: "handover"},
			},
		}
	}
	tools := &tenant.Tools{Notes: []tenant.Note{{ID: "handover", OnEscalation: true}}}
	for outcome, want := range map[conversation.Outcome][]action.Status{
		conversation.Answered:          {staged, staged, performed, staged, staged, staged},
		conversation.Escalated:         {no, no, performed, staged, staged, staged},
		conversation.EscalatedPrecheck: {no, no, performed, staged, staged, no},
		conversation.EscalatedError:    {no, no, performed, staged, staged, no},
		conversation.MediaFallback:     {no, no, performed, staged, staged, no},
		conversation.Paused:            {no, no, performed, no, no, no},
		conversation.OptedOut:          {no, no, performed, no, no, no},
	} {
		given := acts(performed)
		got := aside.Settled(given, outcome, tools)
		same(t, string(outcome), want, got)
		if d := cmp.Diff(acts(performed), given); d != "" {
			t.Errorf("%s changes what it was given (-want +got):\n%s", outcome, d)
		}
	}
	lost := acts(unknown)
	lost.Record, lost.Pending = slices.Delete(lost.Record, 3, 5), slices.Delete(lost.Pending, 2, 4)
	lost.Pending[2].Place = 3
	same(t, "a link that may not have arrived", []action.Status{no, no, unknown, staged}, aside.Settled(lost, conversation.Escalated, tools))
	queued := acts(staged) // behind an earlier reply
	queued.Pending = slices.Insert(queued.Pending, 2, action.Pending{Place: 2, Tool: action.SendFlow, ID: "pay"})
	same(t, "a link that had not gone out", []action.Status{no, no, no, no, no, staged}, aside.Settled(queued, conversation.Escalated, tools))
}

// same compares what became of a record, and whether what is pending is what stands there as staged.
func same(t *testing.T, name string, want []action.Status, got tool.Result) {
	t.Helper()
	var statuses []action.Status
	var staged, pending []int
	for place, r := range got.Record {
		statuses = append(statuses, r.Status)
		if r.Status == action.Staged {
			staged = append(staged, place)
		}
	}
	for _, p := range got.Pending {
		pending = append(pending, p.Place)
	}
	if d := cmp.Diff(want, statuses); d != "" {
		t.Errorf("%s (-want +got):\n%s", name, d)
	}
	if !cmp.Equal(staged, pending) {
		t.Errorf("%s: pending %v, staged %v", name, pending, staged)
	}
}
