package tool

import (
	"context"
	_ "embed" // the descriptions
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed send_flow.md
var sendFlowText string

//go:embed send_flow_sale.md
var sendFlowSaleText string // of a tenant that sells

const askedText = "true only when the person asks in so many words for the link to pay, or asks for it again; otherwise leave it out."

// sendFlow offers the flows that the contact may get. The link to pay stays, since a
// contact who asks for it gets it again. Which flows they are changes with the offering.
func (d *Desk) sendFlow() *offered {
	if len(d.sale.Choices()) == 0 {
		return nil
	}
	_, asks := d.turn.Tools.FlowWithRole(tenant.RolePaymentLink)
	o := d.offer(d.flowSheet(asks), func(c action.Call, a form.Arguments) Outcome {
		id, _ := a.Text("flow")
		flow, found := d.flow(id)
		if !found {
			return d.bad(c, "flow", notOneOf("flow", form.IDs(d.flowOptions())))
		}
		c.ID = flow.ID
		if asks {
			asked, ok := a.Flag("contactAsked")
			if !ok {
				return d.bad(c, "contactAsked", "contactAsked must be true or false")
			}
			c.ContactAsked = asked && flow.Role == tenant.RolePaymentLink
		}
		return d.flowCalled(c, flow)
	})
	if d.sells() {
		o.now = func() sheet { return d.flowSheet(asks) }
	}
	return o
}

// flowOptions are the flows that may be named, those that the turn has sent among them.
func (d *Desk) flowOptions() (options []form.Option) {
	menu := sales.Open(d.turn.Tools, d.sale.Sale(), d.turn.Sent)
	for _, f := range menu.Menu() {
		options = append(options, form.Option{ID: f.ID, Description: f.Description})
	}
	return options
}

// flowSheet is what the tool's spec is made from now.
func (d *Desk) flowSheet(asks bool) sheet {
	options := d.flowOptions()
	return sheet{action.SendFlow, strings.Join(form.IDs(options), " "), func() (string, []form.Property) {
		properties := []form.Property{form.Enum("flow", options)}
		if asks {
			properties = append(properties, form.Property{Name: "contactAsked", Optional: true, Schema: form.Schema{Type: "boolean", Description: askedText}})
		}
		return d.withSale(sendFlowText, sendFlowSaleText), properties
	}}
}

// flow is a flow that the model may name, though the contact may have it already.
func (d *Desk) flow(id string) (tenant.Flow, bool) {
	i := slices.IndexFunc(d.turn.Tools.Flows, func(f tenant.Flow) bool { return f.ID == id && f.Role != tenant.RoleOpening })
	if i < 0 {
		return tenant.Flow{}, false
	}
	return d.turn.Tools.Flows[i], true
}

// flowCalled stages a flow or gives it its place among those to be sent.
func (d *Desk) flowCalled(c action.Call, f tenant.Flow) Outcome {
	if e := d.known[flowKey(f.ID)]; e != nil && !(e.gone && c.ContactAsked && !e.asked) {
		return d.again(c, e)
	}
	if why := d.sale.Ask(f, c.ContactAsked); why != "" {
		return d.refuse(c, d.flowRefused(string(why)))
	}
	e := &entry{asked: c.ContactAsked, record: action.Record{
		Tool: action.SendFlow, ID: f.ID, ContactAsked: d.sale.Opens(f, c.ContactAsked),
	}}
	run := d.dispatch(e)
	if run == nil {
		return d.told(c, e)
	}
	d.trace = append(d.trace, &traced{c, e})
	return Outcome{Run: func(ctx context.Context) any { run(ctx); return d.toldOf(e) }}
}

func flowKey(id string) key { return key{tool: action.SendFlow, id: id} }

func (d *Desk) flowRefused(reason string) answer {
	if d.turn.Flows == nil {
		return answer{action.AnsweredNotStaged, reason}
	}
	return answer{action.AnsweredNotSent, reason}
}
