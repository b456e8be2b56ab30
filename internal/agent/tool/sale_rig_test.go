package tool_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// selling are the tools of a tenant that sells, with every marker of the sale.
func selling() *tenant.Tools {
	return &tenant.Tools{
		Flows: []tenant.Flow{
			{ID: "hello", FlowNs: "HIDDEN_ns_1", Description: "A welcome.", Role: tenant.RoleOpening},
			{ID: "map", FlowNs: "HIDDEN_ns_2", Description: "The way here.", Repeatable: true},
			{ID: "folder_a", FlowNs: "HIDDEN_ns_3", Description: "All about A.", Offering: "a"},
			{ID: "folder_b", FlowNs: "HIDDEN_ns_4", Description: "All about B.", Offering: "b"},
			{ID: "film", FlowNs: "HIDDEN_ns_5", Description: "A film.", OnStage: contact.Nurturing},
			{ID: "terms_a", FlowNs: "HIDDEN_ns_6", Description: "The terms of A.", OnStage: contact.Offered, Offering: "a"},
			{ID: "pay", FlowNs: "HIDDEN_ns_7", Description: "The link to pay.", Role: tenant.RolePaymentLink},
		},
		Tags: []tenant.Tag{{ID: "gift", Tag: "HIDDEN-tag-1", Description: "Buys for somebody else."}},
		Fields: []tenant.Field{
			{ID: "intent", Field: "HIDDEN_field_1", Values: []string{"not_prospect", "prospect"}, Description: "Whether they buy.", Intent: true},
			{ID: "stage", Field: "HIDDEN_field_2", Values: []string{"new", "qualifying", "nurturing", "offered", "prepared", "link_sent"}, Description: "How far it is.", Funnel: true},
			{ID: "thing", Field: "HIDDEN_field_3", Values: []string{"a", "b"}, Description: "What they want.", Offering: true},
			{ID: "shift", Field: "HIDDEN_field_4", Values: []string{"morning", "evening"}, Description: "When it suits them."},
		},
		Notes:  []tenant.Note{{ID: "summary", Field: "HIDDEN_field_5", MaxLength: 40, Description: "What they want."}},
		Nudge:  &tenant.Nudge{Delays: []tenant.Delay{{ID: "soon", Minutes: 60}}},
		Events: []tenant.Event{{ID: "told", Stage: contact.Offered, FlowNs: "HIDDEN_ns_8"}, {ID: "bought", Stage: contact.LinkSent, FlowNs: "HIDDEN_ns_9"}},
	}
}

// The sale as it is when a turn begins.
var (
	nobody   = contact.Sale{}
	buyer    = contact.Sale{Intent: contact.Prospect, Stage: contact.Qualifying}
	offering = contact.Sale{Intent: contact.Prospect, Stage: contact.Offered, Offering: "a", Chosen: true}
	prepared = contact.Sale{Intent: contact.Prospect, Stage: contact.Prepared, Offering: "a"}
	paying   = contact.Sale{Intent: contact.Prospect, Stage: contact.LinkSent}
)

// Calls of a sale, short.
const (
	asProspect    = `set_field {"field":"intent","value":"prospect"}`
	asNoProspect  = `set_field {"field":"intent","value":"not_prospect"}`
	asNurturing   = `set_field {"field":"stage","value":"nurturing"}`
	asOffered     = `set_field {"field":"stage","value":"offered"}`
	asPrepared    = `set_field {"field":"stage","value":"prepared"}`
	wantsA        = `set_field {"field":"thing","value":"a"}`
	wantsB        = `set_field {"field":"thing","value":"b"}`
	sendMap       = `send_flow {"flow":"map"}`
	sendFilm      = `send_flow {"flow":"film"}`
	sendPay       = `send_flow {"flow":"pay"}`
	sendPayAsked  = `send_flow {"flow":"pay","contactAsked":true}`
	notProspect   = `{"staged":false,"reason":"not_prospect"}`
	flowNoBuyer   = `{"sent":false,"reason":"not_prospect"}`
	notPrepared   = `{"sent":false,"reason":"not_prepared"}`
	earlierStage  = `{"staged":false,"reason":"earlier_stage"}`
	offeringFixed = `{"staged":false,"reason":"offering_fixed"}`
	otherOffering = `{"sent":false,"reason":"other_offering"}`
	queued        = `{"staged":true,"openingQueued":true}`
)

// sale is a turn with a contact of whom something is known, in which everything is offered.
func sale(a *account, sale contact.Sale) tool.Turn {
	return tool.Turn{Tools: selling(), Flows: a, Contact: a, Nudges: true, Fence: fence, Sale: sale}
}

// treats is a sender that treats each flow in its own way; a flow that is not named is performed.
func treats(how map[string]string) func(context.Context, action.Record) (action.Record, error) {
	return func(ctx context.Context, r action.Record) (action.Record, error) {
		switch how[r.ID] {
		case "refused":
			return failed("refused")(ctx, r)
		case "unknown":
			return failed(action.OutcomeUnknown)(ctx, r)
		case "had":
			return r, action.ErrSent
		case "staged":
			r.Status = action.Staged
			return r, nil
		}
		return performed(ctx, r)
	}
}

// sold is what a turn's calls come to, written so that a person can read it.
type sold struct {
	Told    []string
	Record  []string // in the order made
	Pending []string
	Saw     []string // by the account, in order
	Sale    contact.Sale
}

// sell plays calls one after the other; "open" sends the opening.
func sell(t *testing.T, turn tool.Turn, a *account, calls ...string) sold {
	t.Helper()
	d := tool.NewDesk(turn)
	var s sold
	for _, c := range calls {
		if c == "open" {
			d.Open(t.Context())
			continue
		}
		s.Told = append(s.Told, call(t, d, c))
	}
	return s.with(d.Close(), a)
}

func (s sold) with(result tool.Result, a *account) sold {
	for _, r := range result.Record {
		s.Record = append(s.Record, words(r.Tool, r.ID, r.Value, r.Status, r.Error, r.Origin, r.Mark, is(r.ContactAsked, "asked")))
	}
	for _, p := range result.Pending {
		s.Pending = append(s.Pending, words(p.Place, p.Tool, p.ID, p.Value, is(p.ContactAsked, "asked"), is(p.FollowOn, "follows")))
	}
	for _, r := range a.saw {
		s.Saw = append(s.Saw, words(r.ID, r.Origin, is(r.ContactAsked, "asked")))
	}
	s.Sale = result.Sale
	return s
}

func is(yes bool, word string) string {
	if yes {
		return word
	}
	return ""
}

func words(all ...any) string {
	var said []string
	for _, w := range all {
		if text := fmt.Sprint(w); text != "" {
			said = append(said, text)
		}
	}
	return strings.Join(said, " ")
}
