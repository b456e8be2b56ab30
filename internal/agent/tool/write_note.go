package tool

import (
	_ "embed" // the description
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/clean"
)

//go:embed write_note.md
var writeNoteText string

const noteTextText = "What the note says: a few plain words for the people of the business, without telephone numbers, addresses or links."

func (d *Desk) writeNote() *offered {
	var options []option
	most := map[string]int{}
	for _, n := range d.turn.Tools.Notes {
		most[n.ID] = n.MaxLength
		options = append(options, option{n.ID, n.Description})
	}
	if len(options) == 0 {
		return nil
	}
	describe := func() (string, []property) {
		lines := slices.Clone(options)
		for i := range lines {
			lines[i].description = fmt.Sprintf("%s (at most %d characters)", lines[i].description, most[lines[i].id])
		}
		return writeNoteText, []property{enum("note", lines), {name: "text", schema: schema{Type: "string", Description: noteTextText}}}
	}
	return d.offer(sheet{kind: action.WriteNote, describe: describe}, func(c action.Call, a arguments) Outcome {
		id, _ := a.text("note")
		length, found := most[id]
		if !found {
			return d.bad(c, "note", notOneOf("note", ids(options)))
		}
		c.ID = id
		written, ok := a.text("text")
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
