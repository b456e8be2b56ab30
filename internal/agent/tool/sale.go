package tool

import (
	"context"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// beside is what the server does beside a write of the sale, as the write's answer tells it.
type beside struct {
	opening bool     // it is due
	flow    *entry   // of the stage, also when it is refused; nil: none
	flows   []string // that may be sent since the offering is known
}

// saleTold is what is told of a write beside which the server does something.
type saleTold struct {
	Staged        bool     `json:"staged"`
	OpeningQueued bool     `json:"openingQueued,omitzero"`
	FlowSent      string   `json:"flowSent,omitempty"`
	FlowStaged    string   `json:"flowStaged,omitempty"`
	FlowDropped   string   `json:"flowDropped,omitempty"`
	FlowRefused   string   `json:"flowRefused,omitempty"`
	FlowReason    string   `json:"flowReason,omitempty"` // of the refused one
	Flows         []string `json:"flows,omitempty"`
}

// told is what a call of the action is told.
func (e *entry) told() any {
	b := e.beside
	if !b.opening && b.flow == nil && len(b.flows) == 0 {
		return e.answer.told()
	}
	t := saleTold{Staged: true, OpeningQueued: b.opening, Flows: b.flows}
	if b.flow != nil {
		switch id, a := b.flow.record.ID, b.flow.answer; {
		case a.kind == action.AnsweredSent:
			t.FlowSent = id
		case a.kind == action.AnsweredStaged:
			t.FlowStaged = id
		case a.reason == overCap:
			t.FlowDropped = id
		default:
			t.FlowRefused, t.FlowReason = id, a.reason
		}
	}
	return t
}

// sells reports whether the tenant has the sales layer.
func (d *Desk) sells() bool { return sales.Applies(d.turn.Tools) }

// withSale is a tool's description, and of a tenant that sells what else there is to it.
func (d *Desk) withSale(text, sale string) string {
	if !d.sells() {
		return text
	}
	return text + "\n" + sale
}

// write takes a write of a field, and does what follows one of the sale.
func (d *Desk) write(c action.Call, f tenant.Field, value string) Outcome {
	before := len(d.entries)
	at := d.paid()
	if why := at.Refuses(action.SetField, f.ID, value); why != "" {
		return d.refuse(c, answer{action.AnsweredNotStaged, string(why)})
	}
	out := d.stage(c, action.Record{Tool: action.SetField, ID: f.ID, Value: value, Mark: d.sale.Mark(f)}, "")
	if len(d.entries) == before || d.entries[before].record.Status != action.Staged {
		return out // refused, made before, or one too many
	}
	e := d.entries[before]
	if run := d.follow(e, d.sale.Set(f, value)); run != nil {
		return Outcome{Run: func(ctx context.Context) any { run(ctx); return d.toldOf(e) }}
	}
	return Outcome{Told: e.told()}
}

// paid is the case as it stands once a link to pay that is under way has gone out: what is staged
// meanwhile is made behind the last stage, which follows the link.
func (d *Desk) paid() sales.Case {
	at := d.sale
	if link, found := d.turn.Tools.FlowWithRole(tenant.RolePaymentLink); found {
		if e := d.known[flowKey(link.ID)]; e != nil && e.awaited() != nil {
			at.Paid(link)
		}
	}
	return at
}

// follow does what follows an accepted write, and returns what has to be waited for; nil: nothing.
func (d *Desk) follow(e *entry, s sales.Step) func(context.Context) {
	if s.Opening != nil && d.known[flowKey(s.Opening.ID)] == nil {
		d.due, e.beside.opening = s.Opening, true
	}
	if s.Event != "" {
		d.entries = append(d.entries, followOn(action.Record{Tool: action.SendEvent, ID: s.Event}))
	}
	e.beside.flows = s.Flows
	if s.Flow == nil {
		return nil
	}
	switch known := d.known[flowKey(s.Flow.ID)]; {
	case known != nil:
		if e.beside.flow = known; known.awaited() != nil {
			return func(context.Context) { <-known.done }
		}
		return nil
	case s.Refused != "":
		e.beside.flow = &entry{record: action.Record{ID: s.Flow.ID}, answer: d.flowRefused(string(s.Refused))}
		return nil
	}
	e.beside.flow = &entry{record: action.Record{Tool: action.SendFlow, ID: s.Flow.ID, Origin: action.FromStage}}
	return d.dispatch(e.beside.flow)
}

// dispatch launches a flow, and before it the opening, when that is due and the flow has a slot.
func (d *Desk) dispatch(e *entry) func(context.Context) {
	var first func(context.Context)
	if d.slots < maxActions {
		first = d.opening()
	}
	then := d.launch(e)
	if first == nil {
		return then
	}
	return func(ctx context.Context) { first(ctx); then(ctx) } // where one is sent, the other is
}

// opening launches the opening when it is due.
func (d *Desk) opening() func(context.Context) {
	if d.due == nil || d.result != nil {
		return nil
	}
	e := &entry{outside: true, record: action.Record{Tool: action.SendFlow, ID: d.due.ID, Origin: action.FromOpening}}
	d.due = nil
	return d.launch(e)
}

// went notes a flow that the contact has or will have, and puts behind the link to pay what follows
// it.
func (d *Desk) went(e *entry) {
	staged := e.record.Status == action.Staged
	if !e.gone && (staged || e.record.CountsAsSent()) {
		d.sale.Sent(e.record.ID)
	}
	if e.gone || !staged && e.record.Status != action.Performed {
		return
	}
	flow, _ := d.turn.Tools.Flow(e.record.ID)
	link, pays := d.sale.Paid(flow)
	if !pays {
		return
	}
	behind := []*entry{followOn(action.Record{
		Tool: action.SetField, ID: link.Field, Value: string(contact.LinkSent), Mark: contact.MarkFunnel,
	})}
	if link.Event != "" {
		behind = append(behind, followOn(action.Record{Tool: action.SendEvent, ID: link.Event}))
	}
	d.entries = slices.Insert(d.entries, slices.Index(d.entries, e)+1, behind...)
}

// followOn is what the server does behind the entry before it.
func followOn(r action.Record) *entry {
	r.Status = action.Staged
	return &entry{record: r, follows: true}
}
