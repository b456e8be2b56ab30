package tool

import (
	_ "embed" // the description
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/clean"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
)

//go:embed write_note.md
var writeNoteText string

const noteTextText = "What the note says: a few plain words for the people of the business, without telephone numbers, addresses or links."

func (d *Desk) writeNote() *offered {
	var options []form.Option
	most := map[string]int{}
	for _, n := range d.turn.Tools.Notes {
		most[n.ID] = n.MaxLength
		options = append(options, form.Option{ID: n.ID, Description: n.Description})
	}
	if len(options) == 0 {
		return nil
	}
	describe := func() (string, []form.Property) {
		lines := slices.Clone(options)
		for i := range lines {
			lines[i].Description = fmt.Sprintf("%s (at most %d characters)", lines[i].Description, most[lines[i].ID])
		}
		return writeNoteText, []form.Property{form.Enum("note", lines), {Name: "text", Schema: form.Schema{Type: "string", Description: noteTextText}}}
	}
	return d.offer(sheet{kind: action.WriteNote, describe: describe}, func(c action.Call, a form.Arguments) Outcome {
		id, _ := a.Text("note")
		length, found := most[id]
		if !found {
			return d.bad(c, "note", notOneOf("note", form.IDs(options)))
		}
		c.ID = id
		written, ok := a.Text("text")
		if !ok {
			return d.bad(c, "text", "text must be a string")
		}
		text := clean.Text(written, length)
		if text == "" {
			return d.refuse(c, answer{action.AnsweredNotStaged, nothingLeft})
		}
		c.Length = utf8.RuneCountInString(text)
		return d.stage(c, action.Record{Tool: action.WriteNote, ID: id, Length: c.Length}, text)
	})
}
