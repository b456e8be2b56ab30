package prompt

import (
	"cmp"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The rules of whoever sells (docs/spec/08-sales.md), each for the tenants that have marked what it
// is about. Their words are of no trade.
const (
	saleIntent = `
Some of those who write mean to buy, and you help them decide at their own pace. Record what you learn about that with set_field: in the turn in which you learn it, and before whatever depends on it. SALE among the server notices says what was known when the turn began; what it does not say is not known.

- prospect: asks about buying, a price, dates or requirements, which offering fits, or how to pay; or came through the advert of an offering, of which SALE says that the request named it.
- not_prospect: is a customer already, sells something, looks for work, or has the wrong number.
- A bare greeting is neither, and the intent stays unknown: greet, ask how you can help, and record nothing.
- Until the intent is prospect, all that you may call is the field of the intent, a note, and what reads; the rest is refused as not_prospect. Answer from the CATALOG and offer help, and do not sell. The intent never goes back.
`
	saleStages = `
The stage says how far a sale has come. Set it as soon as it is reached, and never an earlier one:

- new: nothing is known yet of what the person needs.
- qualifying: you are asking what you have to know to find what fits them.
- nurturing: what fits is known, and you show them what helps to decide: what was prepared for that, and what the CATALOG says.
- offered: you have put an offering and its price to them. From now on closing_question asks what else they need before they can start.
- prepared: you have asked that, and they have answered. From now on closing_question offers them the ways to pay.
- link_sent: the link to pay went out. The server sets this one.

Ask one question a turn, and answer a direct question of theirs first.
`
	saleOffering = `
Set the offering as soon as it is clear which one they want, and before the stage offered. Once one was offered it stays: hand off as explicit_request when they then want another.
`
	saleLink = `
Whoever asks for the link to pay gets it, however far the sale has come: call its flow with contactAsked.
`
	saleGate = `
When they did not ask for it, the link waits until the stage is prepared.
`
	salePayment = `
The ways to pay in the CATALOG are facts, so say them plainly. A discount, or a plan that none of them covers, is price_negotiation. Never confirm a payment: that they have paid, or a receipt, is payment_reported.
`
	saleServer = `
Some flows the server sends by itself, and results say so: a welcome to one who turns out to be a prospect, and what belongs to a stage when you set that. Do not call them for these occasions, and say nothing of them before a result does.
`
)

// sale are the rules for a tenant that sells, and which of its fields they are about.
func sale(t *tenant.Tools) string {
	funnel, offering := t.FunnelField(), t.OfferingField()
	_, link := t.FlowWithRole(tenant.RolePaymentLink)
	_, opens := t.FlowWithRole(tenant.RoleOpening)
	fields := `intent is "` + t.IntentField().ID + `"`
	parts := []string{saleIntent}
	for _, p := range []struct {
		has  bool
		text string
	}{
		{funnel != nil, saleStages}, {offering != nil, saleOffering}, {link, saleLink}, {link && funnel != nil, saleGate}, {true, salePayment},
		{opens || funnel != nil && staged(t), saleServer},
	} {
		if p.has {
			parts = append(parts, p.text)
		}
	}
	if funnel != nil {
		fields += `, stage is "` + funnel.ID + `"`
	}
	if offering != nil {
		fields += `, offering is "` + offering.ID + `"`
	}
	for i := range parts {
		parts[i] = strings.Trim(parts[i], "\n")
	}
	return strings.Join(append(parts, "The fields of the sale: "+fields+"."), "\n\n")
}

// staged reports whether reaching a stage sends a flow.
func staged(t *tenant.Tools) bool {
	for _, stage := range contact.FunnelStages() {
		if _, found := t.FlowOnStage(stage); found {
			return true
		}
	}
	return false
}

// standing is the notice of how far the sale to a contact has come; empty: the tenant sells nothing.
func (p *Prompt) standing(sale contact.Sale) string {
	if !sales.Applies(p.tenant.Tools) {
		return ""
	}
	intent := cmp.Or(string(sale.Intent), "unknown")
	if sale.Prospect() {
		intent = string(contact.Prospect)
	}
	said := []string{"intent " + intent}
	if p.tenant.Tools.FunnelField() != nil {
		said = append(said, "stage "+string(cmp.Or(sale.Stage, contact.New)))
	}
	if o, found := p.tenant.Catalog.Offering(sale.Offering); found {
		by := "named by the request the person came with"
		if sale.Chosen {
			by = "as you recorded it"
		}
		said = append(said, "offering "+o.ID+", "+by)
	}
	return "SALE: " + strings.Join(said, "; ")
}
