package flown_test

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/flown"
)

var at = time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)

func selling() *tenant.Tools {
	return &tenant.Tools{
		Flows: []tenant.Flow{{ID: "pay", Role: tenant.RolePaymentLink}, {ID: "map"}},
		Fields: []tenant.Field{
			{ID: "intent", Values: []string{"not_prospect", "prospect"}, Intent: true},
			{ID: "stage", Values: []string{"new", "qualifying", "nurturing", "offered", "prepared", "link_sent"}, Funnel: true},
		},
		Events: []tenant.Event{{ID: "bought", Stage: contact.LinkSent}},
	}
}

// Holds docs/spec/08-sales.md, "Payment link": what follows the link follows it also when its answer
// came just as the turn's time was over, so that the desk had given it up.
func TestLinkThatTheDeskGaveUp(t *testing.T) {
	flow := func(id string, status action.Status, why string) action.Record {
		return action.Record{Tool: action.SendFlow, ID: id, Status: status, Error: why}
	}
	gone := flow("pay", action.Performed, "")
	gone.At = at
	tag := action.Record{Tool: action.AddTag, ID: "gift", Status: action.Staged}
	note := action.Record{Tool: action.WriteNote, ID: "summary", Status: action.Staged}
	given := []action.Record{tag, flow("pay", action.Failed, action.OutcomeUnknown), note, flow("map", action.Failed, action.OutcomeUnknown)}
	given[1].ContactAsked = true
	desk := tool.Result{
		Record: given, Sale: contact.Sale{Intent: contact.Prospect},
		Pending: []action.Pending{{Place: 0, Tool: action.AddTag, ID: "gift"}, {Place: 2, Tool: action.WriteNote, ID: "summary"}},
	}
	f := flown.Of(selling())
	f.Note(flow("pay", action.Sending, ""))
	f.Note(gone)
	f.Note(flow("map", action.Sending, ""))
	got := f.Closed(desk)

	gone.ContactAsked = true
	want := tool.Result{
		Record: []action.Record{
			tag, gone,
			{Tool: action.SetField, ID: "stage", Value: "link_sent", Mark: contact.MarkFunnel, Status: action.Staged},
			{Tool: action.SendEvent, ID: "bought", Status: action.Staged},
			note, given[3],
		},
		Pending: []action.Pending{
			{Place: 0, Tool: action.AddTag, ID: "gift"},
			{Place: 2, Tool: action.SetField, ID: "stage", Value: "link_sent", FollowOn: true},
			{Place: 3, Tool: action.SendEvent, ID: "bought", FollowOn: true},
			{Place: 4, Tool: action.WriteNote, ID: "summary"},
		},
		Sale: contact.Sale{Intent: contact.Prospect, Stage: contact.LinkSent},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("closed (-want +got):\n%s", d)
	}
}

// door is how flows get out in a test: nothing keeps them back.
type door struct {
	noted  [][]action.Record
	claims []action.Claim
}

func (d *door) Note(_ context.Context, record []action.Record, c action.Claim) error {
	d.noted, d.claims = append(d.noted, record), append(d.claims, c)
	return nil
}

func (d *door) Send(context.Context, action.Claim) action.Ended {
	return action.Ended{Status: action.Performed, At: at}
}

// Holds docs/spec/08-sales.md, "Opening", "Stage flows" and "Flows once": the right to what a rule of the
// server sends is asked for once and for all, and to what the model calls for within the days of history.
func TestRightsOfFlows(t *testing.T) {
	turn := action.Claim{ConversationID: "conv-1", TurnID: "turn-1", Since: at.Add(-time.Hour)}
	tools := selling()
	tools.Flows = append(tools.Flows, tenant.Flow{ID: "hello", Role: tenant.RoleOpening}, tenant.Flow{ID: "tour", OnStage: contact.Offered, Repeatable: true})
	want := func(flow string, repeatable, ever bool) action.Claim {
		c := turn
		c.Flow, c.Repeatable, c.At = flow, repeatable, at
		if ever {
			c.Since = time.Time{}
		}
		return c
	}
	for _, tt := range []struct {
		r    action.Record
		want action.Claim
	}{
		{action.Record{ID: "hello", Origin: action.FromOpening}, want("hello", false, true)},
		{action.Record{ID: "tour", Origin: action.FromStage}, want("tour", false, true)},
		{action.Record{ID: "tour"}, want("tour", true, true)},
		{action.Record{ID: "map"}, want("map", false, false)},
		{action.Record{ID: "pay"}, want("pay", false, false)},
		{action.Record{ID: "pay", ContactAsked: true}, want("pay", true, false)},
	} {
		d := &door{}
		s := flown.Sender{Flows: flown.Of(tools), Door: d, Turn: turn, Alive: func() bool { return true }, Now: func() time.Time { return at }, Log: slog.New(slog.DiscardHandler)}
		tt.r.Tool = action.SendFlow
		sent, err := s.Send(t.Context(), tt.r)
		if err != nil || sent.Status != action.Performed {
			t.Errorf("%s: %+v, %v", tt.r.ID, sent, err)
		}
		if diff := cmp.Diff([]action.Claim{tt.want, tt.want}, d.claims); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", tt.r, diff)
		}
		sending := tt.r
		sending.Status = action.Sending
		if diff := cmp.Diff([][]action.Record{{sending}, {sent}}, d.noted); diff != "" {
			t.Errorf("%+v is noted (-want +got):\n%s", tt.r, diff)
		}
	}
}
