// Package sales holds the rules of a sale (docs/spec/08-sales.md): what may be offered, what is
// refused, what is sent and what follows, decided over the contact's own record. It is pure,
// and says nothing of any trade.
package sales

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Refusal is why a call is refused, as the model is told; empty: it is not.
type Refusal string

// The refusals of docs/spec/08-sales.md.
const (
	NotProspect   Refusal = "not_prospect"   // the contact is not known to mean to buy
	NotPrepared   Refusal = "not_prepared"   // the link to pay comes too early, and was not asked for
	EarlierStage  Refusal = "earlier_stage"  // the sale, or the intent, does not go back
	OfferingFixed Refusal = "offering_fixed" // an offering was put to the contact already
	OtherOffering Refusal = "other_offering" // the flow is about an offering that is not the contact's
	AlreadySent   Refusal = "already_sent"   // the contact has the flow
)

// Case is the sale to one contact as it moves within a turn. Of a tenant without an intent field
// it refuses, moves and sends nothing; what the contact has is not sent again all the same. It is
// not safe for concurrent use; copies are apart from each other.
type Case struct {
	tools *tenant.Tools
	sells bool
	sale  contact.Sale
	sent  []string // ids of the flows that the contact has, or may have
}

// Open begins with what is known of the contact when the turn does: what was performed, and what
// earlier turns staged whose actions have not ended. sent are the flows that the contact has.
func Open(tools *tenant.Tools, sale contact.Sale, sent []string) Case {
	if tools == nil {
		tools = &tenant.Tools{}
	}
	return Case{tools, Applies(tools), sale, slices.Clone(sent)}
}

// Applies reports whether a tenant sells at all: one without an intent field has the front desk
// only.
func Applies(tools *tenant.Tools) bool { return tools.IntentField() != nil }

// Sale is how far the case has come.
func (c *Case) Sale() contact.Sale { return c.sale }

// Mark is the part that a field has in the sale; empty: none.
func (c *Case) Mark(field tenant.Field) contact.Mark {
	if !c.sells {
		return ""
	}
	return field.Mark()
}

// Refuses says why a write may not be called now. Until the contact is a prospect only what is
// learnt about that, and notes, are written. Flows are for [Case.Ask] to decide on.
func (c *Case) Refuses(kind action.Kind, id, value string) Refusal {
	if !c.sells || kind == action.WriteNote {
		return ""
	}
	field, mark := tenant.Field{}, contact.Mark("")
	if kind == action.SetField {
		field, _ = c.tools.Field(id)
		mark = field.Mark()
	}
	switch {
	case mark == contact.MarkIntent:
		back := contact.Intent(value).Before(c.sale.Intent) || contact.Intent(value) == contact.NotProspect && c.sale.Prospect()
		return when(back, EarlierStage)
	case !c.sale.Prospect():
		return NotProspect
	case mark == contact.MarkFunnel:
		return when(contact.FunnelStage(value).Before(c.sale.Stage), EarlierStage)
	case mark == contact.MarkOffering:
		return when(!c.sale.Stage.Before(contact.Offered), OfferingFixed)
	}
	return ""
}

func when(refused bool, why Refusal) Refusal {
	if refused {
		return why
	}
	return ""
}

// Step is what follows from a write of a field that was accepted.
type Step struct {
	Opening *tenant.Flow // goes out before the turn's next flow, or before its reply; nil: none
	Event   string       // id of the event that follows the write once that is performed; empty: none
	Flow    *tenant.Flow // the flow of the stage; nil: none
	Refused Refusal      // why that flow does not go out; empty: it does
	Flows   []string     // ids of the flows that may be sent since the offering is known
}

// Set moves the case by a write of a field that was accepted.
func (c *Case) Set(field tenant.Field, value string) (step Step) {
	if c.Refuses(action.SetField, field.ID, value) != "" {
		return step
	}
	before, mark := c.sale, c.Mark(field)
	c.sale = before.Moved(mark, value)
	switch mark {
	case contact.MarkIntent:
		step.Opening = c.opening(before)
	case contact.MarkFunnel:
		if before.Stage.Before(c.sale.Stage) {
			step.Event = c.eventAt(c.sale.Stage)
		}
		if flow, found := c.tools.FlowOnStage(c.sale.Stage); found {
			step.Flow, step.Refused = &flow, c.has(flow)
		}
	case contact.MarkOffering:
		for _, f := range c.tools.Flows {
			if f.Offering != "" && f.Offering != before.Offering && c.has(f) == "" {
				step.Flows = append(step.Flows, f.ID)
			}
		}
	}
	return step
}

// opening is the flow that the turn which finds a prospect sends; nil: none, or not any more.
func (c *Case) opening(before contact.Sale) *tenant.Flow {
	flow, found := c.tools.FlowWithRole(tenant.RoleOpening)
	if !found || before.Prospect() || !c.sale.Prospect() || before.OpeningOver || slices.Contains(c.sent, flow.ID) {
		return nil
	}
	return &flow
}

// eventAt is the event that reaching a stage fires; empty: none.
func (c *Case) eventAt(stage contact.FunnelStage) string {
	if e, found := c.tools.EventAt(stage); found {
		return e.ID
	}
	return ""
}

// has says why a contact may not be sent a flow: it is about another offering, or they have it.
func (c *Case) has(f tenant.Flow) Refusal {
	switch {
	case c.sells && f.Offering != "" && f.Offering != c.sale.Offering:
		return OtherOffering
	case !f.Repeatable && slices.Contains(c.sent, f.ID):
		return AlreadySent
	}
	return ""
}

// Ask decides on a flow that the model calls for. asked is the model's word that the contact asked
// for the link to pay, of which nothing else takes notice.
func (c *Case) Ask(f tenant.Flow, asked bool) Refusal {
	asked = asked && f.Role == tenant.RolePaymentLink
	switch {
	case c.sells && !c.sale.Prospect():
		return NotProspect
	case asked:
		return ""
	case c.gated(f):
		return NotPrepared
	}
	return c.has(f)
}

// Opens reports whether the contact's asking for the link to pay opened its gate, which the record
// keeps. A tenant that does not sell has no gate; its record keeps that they asked.
func (c *Case) Opens(f tenant.Flow, asked bool) bool {
	return asked && f.Role == tenant.RolePaymentLink && (!c.sells || c.gated(f))
}

// gated reports whether a flow is the link to pay and waits for the sale to come further.
func (c *Case) gated(f tenant.Flow) bool {
	return c.sells && f.Role == tenant.RolePaymentLink && c.tools.FunnelField() != nil && c.sale.Stage.Before(contact.Prepared)
}

// Sent notes a flow that went out, or that goes out with the turn.
func (c *Case) Sent(id string) {
	if !slices.Contains(c.sent, id) {
		c.sent = append(slices.Clip(c.sent), id)
	}
}

// Link is what follows once the link to pay went out: the write of the last stage and the event of
// reaching it.
type Link struct {
	Field string // id of the funnel's field
	Event string // empty: none
}

// Paid decides on what follows a flow that goes out, and moves the case. It is false of every flow
// but the link to pay, and when the sale had come that far before.
func (c *Case) Paid(f tenant.Flow) (Link, bool) {
	funnel := c.tools.FunnelField()
	if !c.sells || f.Role != tenant.RolePaymentLink || funnel == nil || c.sale.Stage == contact.LinkSent {
		return Link{}, false
	}
	c.sale = c.sale.Moved(contact.MarkFunnel, string(contact.LinkSent))
	return Link{funnel.ID, c.eventAt(contact.LinkSent)}, true
}

// Menu are the flows that the model may be told of: none that the server alone sends, none that
// is about another offering, and none that the contact has, but for the link to pay.
func (c *Case) Menu() (flows []tenant.Flow) {
	for _, f := range c.tools.Flows {
		if f.Role != tenant.RoleOpening && (f.Role == tenant.RolePaymentLink || c.has(f) == "") {
			flows = append(flows, f)
		}
	}
	return flows
}

// Choices are the flows that may be in the menu of a turn, whatever offering it comes to.
func (c *Case) Choices() (flows []tenant.Flow) {
	for _, f := range c.tools.Flows {
		if f.Role != tenant.RoleOpening && (f.Role == tenant.RolePaymentLink || f.Repeatable || !slices.Contains(c.sent, f.ID)) {
			flows = append(flows, f)
		}
	}
	return flows
}

// OpeningOver reports whether a turn that went to a person used up the opening: it found the
// contact to be a prospect.
func OpeningOver(before, after contact.Sale, escalated bool) bool {
	return before.OpeningOver || escalated && !before.Prospect() && after.Prospect()
}
