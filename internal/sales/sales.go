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

// Case is the sale to one contact as it moves within a turn. It is not safe for concurrent
// use; copies are apart from each other.
type Case struct {
	tools *tenant.Tools
	sale  contact.Sale
	sent  []string // ids of the flows that the contact has, or may have
}

// Open begins with what is known of the contact when the turn does: what was performed, and what
// earlier turns staged whose actions have not ended. sent are the flows that the contact has.
func Open(tools *tenant.Tools, sale contact.Sale, sent []string) Case {
	return Case{tools, sale, slices.Clone(sent)}
}

// Applies reports whether a tenant sells at all: one without an intent field has the front desk
// only.
func Applies(tools *tenant.Tools) bool { return tools.IntentField() != nil }

// Sale is how far the case has come.
func (c *Case) Sale() contact.Sale { return c.sale }

// Refuses says why an action may not be called now. Until the contact is a prospect only what is
// learnt about that, and notes, are written.
func (c *Case) Refuses(kind action.Kind, id string) Refusal {
	if !Applies(c.tools) || c.sale.Prospect() || kind == action.WriteNote {
		return ""
	}
	if kind == action.SetField && id == c.tools.IntentField().ID {
		return ""
	}
	return NotProspect
}

// Step is what follows from a write of a field that was accepted.
type Step struct {
	Mark    contact.Mark
	Refused Refusal      // then nothing follows
	Opening *tenant.Flow // goes out before the turn's first flow, or before its reply
	Flow    *tenant.Flow // goes out now
	Event   string       // id of the event that follows the write once that is performed; empty: none
	Flows   []string     // ids of the flows that may be sent since the offering is known
}

// Set decides on a write of a field, and moves the case when it is accepted.
func (c *Case) Set(field tenant.Field, value string) Step {
	step := Step{Mark: field.Mark()}
	before := c.sale
	switch step.Mark {
	case contact.MarkIntent:
		if contact.Intent(value).Before(before.Intent) || value == string(contact.NotProspect) && before.Prospect() {
			step.Refused = EarlierStage
			return step
		}
	case contact.MarkFunnel:
		if contact.FunnelStage(value).Before(before.Stage) {
			step.Refused = EarlierStage
			return step
		}
	case contact.MarkOffering:
		if !before.Stage.Before(contact.Offered) && value != before.Offering {
			step.Refused = OfferingFixed
			return step
		}
	default:
		return step
	}
	c.sale = before.Moved(step.Mark, value)
	c.follow(&step, before)
	return step
}

// follow adds what the server does behind a write that moved the case.
func (c *Case) follow(step *Step, before contact.Sale) {
	switch step.Mark {
	case contact.MarkIntent:
		step.Opening = c.opening(before)
	case contact.MarkFunnel:
		if before.Stage.Before(c.sale.Stage) {
			step.Event = c.eventAt(c.sale.Stage)
		}
		if flow, found := c.tools.FlowOnStage(c.sale.Stage); found && c.Has(flow) == "" {
			step.Flow = &flow
		}
	case contact.MarkOffering:
		for _, f := range c.tools.Flows {
			if f.Offering != "" && f.Offering == c.sale.Offering && c.Has(f) == "" {
				step.Flows = append(step.Flows, f.ID)
			}
		}
	}
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

// Has says why a contact may not be sent a flow that a rule of the server sends: they have it, or
// it is about another offering.
func (c *Case) Has(f tenant.Flow) Refusal {
	switch {
	case f.Offering != "" && f.Offering != c.sale.Offering:
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
	case f.Role == tenant.RolePaymentLink && c.gated() && !asked:
		return NotPrepared
	case asked && slices.Contains(c.sent, f.ID):
		return ""
	}
	return c.Has(f)
}

// Opens reports whether the contact's asking for the link to pay opened its gate, which the record
// keeps.
func (c *Case) Opens(f tenant.Flow, asked bool) bool {
	return asked && f.Role == tenant.RolePaymentLink && c.gated()
}

// gated reports whether the link to pay waits for the sale to come further.
func (c *Case) gated() bool {
	return c.tools.FunnelField() != nil && c.sale.Stage.Before(contact.Prepared)
}

// Sent notes a flow that went out, or that goes out with the turn.
func (c *Case) Sent(id string) {
	if !slices.Contains(c.sent, id) {
		c.sent = append(c.sent, id)
	}
}

// Link is what follows once the link to pay went out: the write of the last stage and the event of
// reaching it.
type Link struct {
	Field string // id of the funnel's field
	Event string // empty: none
}

// Paid decides on what follows a flow, and moves the case. It is false of every flow but the link
// to pay, and when the sale had come that far before.
func (c *Case) Paid(f tenant.Flow) (Link, bool) {
	funnel := c.tools.FunnelField()
	if f.Role != tenant.RolePaymentLink || funnel == nil || c.sale.Stage == contact.LinkSent {
		return Link{}, false
	}
	c.sale = c.sale.Moved(contact.MarkFunnel, string(contact.LinkSent))
	return Link{funnel.ID, c.eventAt(contact.LinkSent)}, true
}

// Menu are the flows that the model may be told of: none that the server alone sends, none that
// is about another offering, and none that the contact has, but for the link to pay.
func (c *Case) Menu() (flows []tenant.Flow) {
	for _, f := range c.tools.Flows {
		switch why := c.Has(f); {
		case f.Role == tenant.RoleOpening, why == OtherOffering:
		case why == "", f.Role == tenant.RolePaymentLink:
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
