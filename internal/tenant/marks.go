package tenant

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// IntentField is the field that says whether a contact means to buy, or nil.
func (t *Tools) IntentField() *Field { return t.field(func(f *Field) bool { return f.Intent }) }

// FunnelField is the field that says how far a sale has come, or nil.
func (t *Tools) FunnelField() *Field { return t.field(func(f *Field) bool { return f.Funnel }) }

// OfferingField is the field that says which offering a contact wants, or nil.
func (t *Tools) OfferingField() *Field { return t.field(func(f *Field) bool { return f.Offering }) }

func (t *Tools) field(is func(*Field) bool) *Field {
	if t == nil {
		return nil
	}
	for i := range t.Fields {
		if is(&t.Fields[i]) {
			return &t.Fields[i]
		}
	}
	return nil
}

// Mark is the part that the field has in the sale; empty: none.
func (f Field) Mark() contact.Mark {
	switch {
	case f.Intent:
		return contact.MarkIntent
	case f.Funnel:
		return contact.MarkFunnel
	case f.Offering:
		return contact.MarkOffering
	}
	return ""
}

// FlowWithRole is the flow that has a role in the sale.
func (t *Tools) FlowWithRole(role FlowRole) (Flow, bool) {
	return t.flow(func(f Flow) bool { return f.Role == role })
}

// FlowOnStage is the flow that reaching a stage sends.
func (t *Tools) FlowOnStage(stage contact.FunnelStage) (Flow, bool) {
	return t.flow(func(f Flow) bool { return f.OnStage == stage })
}

func (t *Tools) flow(is func(Flow) bool) (Flow, bool) {
	if t == nil {
		return Flow{}, false
	}
	if i := slices.IndexFunc(t.Flows, is); i >= 0 {
		return t.Flows[i], true
	}
	return Flow{}, false
}

// EventAt is the event that reaching a stage fires.
func (t *Tools) EventAt(stage contact.FunnelStage) (Event, bool) {
	for _, e := range t.Events {
		if e.Stage == stage {
			return e, true
		}
	}
	return Event{}, false
}
