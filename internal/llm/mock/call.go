package mock

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// callsIn are the calls of a step in a mode.
func (do acts) callsIn(mode Mode, a answer, box toolbox.Box) []llm.ToolCall {
	switch mode {
	case UnknownID:
		return box.Unknown()
	case EveryTool:
		return box.Every()
	}
	return do.calls(a, box)
}

// calls are what the desk asks its tools for, all in one step.
func (do acts) calls(a answer, box toolbox.Box) []llm.ToolCall {
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
		b.Add(toolbox.WriteNote, map[string]any{"note": do.note.ID, "text": do.noted(a)})
	}
	return b.Calls
}

// noted is what a note says: why a person is needed, and the offerings it is about. It
// quotes nothing of what the contact wrote, since a note travels further than a chat.
func (do acts) noted(a answer) string {
	text := "reason: " + strings.ReplaceAll(a.reason, "_", " ")
	for _, o := range do.about {
		text += "; about: " + o.name
	}
	return text
}
