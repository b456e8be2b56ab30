package toolbox

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Write is a field that is set.
type Write struct{ Field, Value string }

// Plan is what is asked of the tools in one step, by ids; empty: not asked.
type Plan struct {
	Contact    bool    // is read
	Writes     []Write // before what depends on them
	Flow       string
	Asked      bool // the contact asked for the flow
	Tag        string
	Field      Write
	Note, Text string
	Delay      string
}

// Calls are the plan's, in the order in which they may depend on each other.
func (p Plan) Calls() []llm.ToolCall {
	var b Batch
	if p.Contact {
		b.Add(GetContact, map[string]any{})
	}
	for _, w := range p.Writes {
		b.Add(SetField, map[string]any{"field": w.Field, "value": w.Value})
	}
	if p.Flow != "" {
		arguments := map[string]any{"flow": p.Flow}
		if p.Asked {
			arguments["contactAsked"] = true
		}
		b.Add(SendFlow, arguments)
	}
	if p.Tag != "" {
		b.Add(AddTag, map[string]any{"tag": p.Tag})
	}
	if p.Field.Field != "" {
		b.Add(SetField, map[string]any{"field": p.Field.Field, "value": p.Field.Value})
	}
	if p.Delay != "" {
		b.Add(ScheduleNudge, map[string]any{"delay": p.Delay})
	}
	if p.Note != "" {
		b.Add(WriteNote, map[string]any{"note": p.Note, "text": p.Text})
	}
	return b.Calls
}

// Sets reports whether a field may be set.
func (box Box) Sets(id string) bool {
	return slices.ContainsFunc(box.Fields, func(t Thing) bool { return t.ID == id })
}
