// Package toolbox reads the tools that a request offers, and writes calls of them.
package toolbox

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/fold"
)

// The tools of docs/spec/07-tools.md that the desk knows how to use, and the parameters
// that name what they act on.
const (
	SendFlow   = "send_flow"
	AddTag     = "add_tag"
	RemoveTag  = "remove_tag"
	SetField   = "set_field"
	WriteNote  = "write_note"
	GetContact = "get_contact"

	ScheduleNudge = "schedule_nudge"
)

// Thing is something that a tool acts on, as the tool describes it.
type Thing struct {
	ID     string
	Values []string // of a field

	IDWords, AllWords []string
	Padded            string // all its words
}

// Box is what the tools of a request offer.
type Box struct {
	Flows, Tags, Untags, Fields, Notes []Thing
	Delays                             []Thing // after which a contact may be asked once more
	Contact                            bool    // it may be read
	Asked                              bool    // the flow's call says whether the contact asked for it
}

// parameters is what the desk reads of a tool's schema: the ids that may be given, and
// a description with a line for each.
type parameters struct {
	Properties map[string]struct {
		Enum        []string `json:"enum"`
		Description string   `json:"description"`
	} `json:"properties"`
}

// Open reads the tools of a request; ok is false when none can be called.
func Open(req llm.Request) (box Box, ok bool) {
	if req.ToolChoice == llm.ToolsNone {
		return Box{}, false
	}
	for _, tool := range req.Tools {
		var p parameters
		if err := json.Unmarshal(tool.Parameters, &p); err != nil {
			continue // a tool that it cannot read, it cannot use
		}
		switch tool.Name {
		case SendFlow:
			box.Flows = p.things("flow")
			_, box.Asked = p.Properties["contactAsked"]
		case AddTag:
			box.Tags = p.things("tag")
		case RemoveTag:
			box.Untags = p.things("tag")
		case SetField:
			box.Fields = p.things("field")
		case WriteNote:
			box.Notes = p.things("note")
		case ScheduleNudge:
			box.Delays = p.things("delay")
		case GetContact:
			box.Contact = true
		}
	}
	return box, len(req.Tools) > 0
}

// things reads the lines "id: description" and "id (value | value): description" of a
// parameter's description.
func (p parameters) things(parameter string) (out []Thing) {
	lines := strings.Split(p.Properties[parameter].Description, "\n")
	for _, id := range p.Properties[parameter].Enum {
		t := Thing{ID: id, IDWords: fold.Words(id)}
		i := slices.IndexFunc(lines, func(line string) bool { return t.describedBy(line) })
		if id == "" || i < 0 {
			continue
		}
		head, text, _ := strings.Cut(strings.TrimLeft(lines[i], "-* "), "): ")
		if list, valued := strings.CutPrefix(head, id+" ("); valued {
			t.Values = strings.Split(list, " | ")
		} else {
			_, text, _ = strings.Cut(lines[i], ": ")
		}
		t.AllWords = append(slices.Clone(t.IDWords), fold.Words(text)...)
		t.Padded = fold.Pad(t.AllWords)
		out = append(out, t)
	}
	return out
}

// describedBy reports whether a line of a description is the Thing's.
func (t Thing) describedBy(line string) bool {
	rest, own := strings.CutPrefix(strings.TrimLeft(line, "-* "), t.ID)
	return own && (strings.HasPrefix(rest, ": ") || strings.HasPrefix(rest, " ("))
}
