package toolbox

import (
	"encoding/json"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Batch is the calls of one step.
type Batch struct{ Calls []llm.ToolCall }

func (b *Batch) Add(tool string, arguments map[string]any) {
	text, err := json.Marshal(arguments)
	if err != nil {
		return // unreachable: strings and booleans
	}
	b.Calls = append(b.Calls, llm.ToolCall{ID: fmt.Sprintf("call_%d", len(b.Calls)+1), Name: tool, Arguments: text})
}

// Every calls every tool with everything it takes.
func (box Box) Every() []llm.ToolCall {
	var b Batch
	for _, t := range box.Flows {
		b.Add(SendFlow, map[string]any{"flow": t.ID})
	}
	for _, t := range box.Tags {
		b.Add(AddTag, map[string]any{"tag": t.ID})
	}
	for _, t := range box.Untags {
		b.Add(RemoveTag, map[string]any{"tag": t.ID})
	}
	for _, t := range box.Fields {
		for _, v := range t.Values {
			b.Add(SetField, map[string]any{"field": t.ID, "value": v})
		}
	}
	for _, t := range box.Notes {
		b.Add(WriteNote, map[string]any{"note": t.ID, "text": t.ID})
	}
	if box.Contact {
		b.Add(GetContact, map[string]any{})
	}
	return b.Calls
}

// unknownID is an id that no business is likely to have.
const unknownID = "no_such_id"

// Unknown calls every tool that takes an id with one that it does not have.
func (box Box) Unknown() []llm.ToolCall {
	var b Batch
	if len(box.Flows) > 0 {
		b.Add(SendFlow, map[string]any{"flow": unknownID})
	}
	if len(box.Tags) > 0 {
		b.Add(AddTag, map[string]any{"tag": unknownID})
	}
	if len(box.Fields) > 0 {
		b.Add(SetField, map[string]any{"field": unknownID, "value": unknownID})
	}
	if len(box.Notes) > 0 {
		b.Add(WriteNote, map[string]any{"note": unknownID, "text": unknownID})
	}
	return b.Calls
}
