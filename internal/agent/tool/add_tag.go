package tool

import (
	_ "embed" // the description
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool/form"
)

//go:embed add_tag.md
var addTagText string

func (d *Desk) addTag() *offered { return d.tagTool(action.AddTag, addTagText) }

// tagTool offers the tags that the agent may set, to one of two ends.
func (d *Desk) tagTool(kind action.Kind, text string) *offered {
	var options []form.Option
	for _, t := range d.turn.Tools.Tags {
		options = append(options, form.Option{ID: t.ID, Description: t.Description})
	}
	if len(options) == 0 {
		return nil
	}
	allowed := form.IDs(options)
	describe := func() (string, []form.Property) { return text, []form.Property{form.Enum("tag", options)} }
	return d.offer(sheet{kind: kind, describe: describe}, func(c action.Call, a form.Arguments) Outcome {
		id, ok := a.Text("tag")
		if !ok || !slices.Contains(allowed, id) {
			return d.bad(c, "tag", notOneOf("tag", allowed))
		}
		c.ID = id
		return d.stage(c, action.Record{Tool: kind, ID: id}, "")
	})
}
