package mock

import (
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// maxNoted is how much of a contact's message a note quotes, in characters.
const maxNoted = 200

// callsIn are the calls of a step in a mode.
func (do acts) callsIn(mode Mode, c read.Conversation, a answer, box toolbox.Box) []llm.ToolCall {
	switch mode {
	case UnknownID:
		return box.Unknown()
	case EveryTool:
		return box.Every()
	}
	return do.calls(c, a, box)
}

// calls are what the desk asks its tools for, all in one step.
func (do acts) calls(c read.Conversation, a answer, box toolbox.Box) []llm.ToolCall {
	var b toolbox.Batch
	if do.contact {
		b.Add(toolbox.GetContact, map[string]any{})
	}
	if do.flow != nil {
		arguments := map[string]any{"flow": do.flow.ID}
		if do.asked && box.Asked {
			arguments["contactAsked"] = true
		}
		b.Add(toolbox.SendFlow, arguments)
	}
	if do.tag != nil {
		b.Add(toolbox.AddTag, map[string]any{"tag": do.tag.ID})
	}
	if do.field != nil {
		b.Add(toolbox.SetField, map[string]any{"field": do.field.ID, "value": do.value})
	}
	if do.note != nil {
		quoted := []rune(c.Message)
		b.Add(toolbox.WriteNote, map[string]any{"note": do.note.ID, "text": a.reason + ": " + string(quoted[:min(len(quoted), maxNoted)])})
	}
	return b.Calls
}
