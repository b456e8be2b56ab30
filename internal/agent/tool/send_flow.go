package tool

import (
	"context"
	_ "embed" // the descriptions
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

//go:embed send_flow.md
var sendFlowText string

const askedText = "true only when the person asks in so many words for the link to pay, or asks for it again; otherwise leave it out."

// sendFlow offers the flows that the contact may get. The link to pay stays, since a
// contact who asks for it gets it again.
func (d *Desk) sendFlow() *offered {
	var options []option
	asks := false
	for _, f := range d.turn.Tools.Flows {
		asks = asks || f.Role == tenant.RolePaymentLink
		if f.Role != tenant.RoleOpening && (f.Role == tenant.RolePaymentLink || !d.hadBefore(f)) {
			options = append(options, option{f.ID, f.Description})
		}
	}
	if len(options) == 0 {
		return nil
	}
	describe := func() (string, []property) {
		properties := []property{enum("flow", options)}
		if asks {
			properties = append(properties, property{"contactAsked", true, schema{Type: "boolean", Description: askedText}})
		}
		return sendFlowText, properties
	}
	allowed := ids(options)
	return d.offer(sheet{action.SendFlow, strings.Join(allowed, " "), describe}, func(c action.Call, a arguments) Outcome {
		id, _ := a.text("flow")
		flow, found := d.flow(id)
		if !found {
			return d.bad(c, "flow", notOneOf("flow", allowed))
		}
		c.ID = flow.ID
		if asks {
			asked, ok := a.flag("contactAsked")
			if !ok {
				return d.bad(c, "contactAsked", "contactAsked must be true or false")
			}
			c.ContactAsked = asked && flow.Role == tenant.RolePaymentLink
		}
		return d.flowCalled(c, flow)
	})
}

// flow is a flow that the model may name, though the contact may have it already.
func (d *Desk) flow(id string) (tenant.Flow, bool) {
	i := slices.IndexFunc(d.turn.Tools.Flows, func(f tenant.Flow) bool { return f.ID == id && f.Role != tenant.RoleOpening })
	if i < 0 {
		return tenant.Flow{}, false
	}
	return d.turn.Tools.Flows[i], true
}

// hadBefore reports whether a flow is not to be sent, since an earlier turn sent it.
func (d *Desk) hadBefore(f tenant.Flow) bool {
	return !f.Repeatable && slices.Contains(d.turn.Sent, f.ID)
}

// flowCalled stages a flow or gives it its place among those to be sent.
func (d *Desk) flowCalled(c action.Call, f tenant.Flow) Outcome {
	k := key{tool: action.SendFlow, id: f.ID}
	if e := d.known[k]; e != nil && !(e.gone && c.ContactAsked && !e.record.ContactAsked) {
		return d.again(c, e)
	}
	if d.hadBefore(f) && !c.ContactAsked {
		return d.refuse(c, d.flowRefused(alreadySent))
	}
	r := action.Record{Tool: action.SendFlow, ID: f.ID, ContactAsked: c.ContactAsked, Status: action.Sending}
	if d.turn.Flows == nil {
		return d.stage(c, r, "")
	}
	ahead := slices.Clone(d.entries)
	e := &entry{record: r}
	if !d.place(k, e) {
		e.answer = d.flowRefused(overCap)
		return d.told(c, e)
	}
	e.done = make(chan struct{})
	d.trace = append(d.trace, &traced{c, e})
	return Outcome{Run: func(ctx context.Context) any { return d.fly(ctx, e, ahead) }}
}

func (d *Desk) flowRefused(reason string) answer {
	if d.turn.Flows == nil {
		return answer{action.AnsweredNotStaged, reason}
	}
	return answer{action.AnsweredNotSent, reason}
}
