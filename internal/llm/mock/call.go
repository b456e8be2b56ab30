package mock

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
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
	return do.plan(a, box).Calls()
}

// plan is what the desk asks its tools for, all in one step.
func (do acts) plan(a answer, box toolbox.Box) toolbox.Plan {
	p := toolbox.Plan{Contact: do.contact, Writes: do.writes, Delay: do.delay}
	if do.flow != nil {
		p.Flow, p.Asked = do.flow.ID, do.asked && box.Asked
	}
	if do.tag != nil {
		p.Tag = do.tag.ID
	}
	if do.field != nil {
		p.Field = toolbox.Write{Field: do.field.ID, Value: do.value}
	}
	if do.note != nil {
		p.Note, p.Text = do.note.ID, do.noted(a)
	}
	return p
}

// noted is what a note says: why a person is needed, and the offerings it is about. It
// quotes nothing of what the contact wrote, since a note travels further than a chat.
func (do acts) noted(a answer) string {
	text := "reason: " + strings.ReplaceAll(a.reason, "_", " ")
	for _, o := range do.about {
		text += "; about: " + o.Name
	}
	return text
}

// opened is what a step does behind another one of the same turn: it sends the flow that the first
// has made possible.
func (do acts) opened(d *desk, c read.Conversation) acts {
	if d.sale.Intent == "" || do.flow == nil || slices.Contains(c.Used.Flows, do.flow.ID) {
		return acts{}
	}
	return acts{flow: do.flow, asked: do.asked}
}
