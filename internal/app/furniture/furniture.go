// Package furniture is what the emulated account of a sandbox is furnished with: what the
// business's files name, and what the sandbox's own file says that its flows show.
package furniture

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// fileName says what the business's flows show on the phone page. It is not one of the
// tenant's files: nothing but the sandbox reads it.
const fileName = "sandbox.json"

// file is the sandbox's file.
type file struct {
	Flows Shown `json:"flows" jsonschema:"required"` // by the flow's id
}

// Shown is what flows show, by the flow's id.
type Shown map[string][]Step

// Step is one message of a flow.
type Step struct {
	AfterSeconds float64 `json:"afterSeconds" jsonschema:"minimum=0,maximum=30"`
	Text         string  `json:"text" jsonschema:"minLength=1"`
	Picture      string  `json:"picture" jsonschema:"enum=image,enum=map,enum=video,enum=file"`
	Title        string  `json:"title" jsonschema:"minLength=1"`
	Caption      string  `json:"caption" jsonschema:"minLength=1"`
}

// Read reads what the flows of the business show; nil: nobody has said it. It names no flow
// but those that are known; without known it may. Its error is a [tenant.Problems].
func Read(folder fs.FS, known func(flow string) bool) (Shown, error) {
	text, err := fs.ReadFile(folder, fileName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var f file
	var problems tenant.Problems
	if err != nil {
		problems = tenant.Problems{{File: fileName, Found: "a file that cannot be read", Expected: "a readable file"}}
	} else if doc, problem := document.Parse(fileName, text); problem != nil {
		problems = tenant.Problems{*problem}
	} else {
		problems = append(doc.Decode(&f), f.check(doc, known)...)
	}
	if len(problems) > 0 {
		return nil, problems.Sort()
	}
	return f.Flows, nil
}

// check finds the flows that the business does not have and the steps that show nothing.
func (f file) check(doc *document.Document, known func(string) bool) (problems tenant.Problems) {
	for _, id := range slices.Sorted(maps.Keys(f.Flows)) {
		if known != nil && !known(id) {
			problems = append(problems, doc.Problem(pointerTo(id), "the flow "+strconv.Quote(id), "the id of a flow of "+tenant.ToolsFile))
		}
		for i, s := range f.Flows[id] {
			at := fmt.Sprintf("%s/%d", pointerTo(id), i)
			switch {
			case s.Text == "" && s.Picture == "":
				problems = append(problems, doc.Problem(at, "a step that shows nothing", "a text or a picture"))
			case s.Picture == "" && s.Title+s.Caption != "":
				problems = append(problems, doc.Problem(at, "a title or a caption without a picture", "a picture beside it"))
			}
		}
	}
	return problems
}

func pointerTo(id string) string {
	return "/flows/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(id)
}

// Inventory is what the business's files name in its account. Flows that are no message to
// the contact show nothing.
func Inventory(t *tenant.Tenant, shown Shown) (has sandbox.Inventory) {
	if h := t.Rules.Handoff; h != nil {
		has.Tags = appendNamed(has.Tags, h.Tag)
		if h.FlowNs != "" {
			has.Flows = append(has.Flows, flow.Flow{ID: "handoff", NS: h.FlowNs, Quiet: true})
		}
	}
	if l := t.Rules.Learning; l != nil {
		has.Tags = appendNamed(has.Tags, l.ConvertedTag)
	}
	tools := t.Tools
	if tools == nil {
		return has
	}
	for _, e := range tools.Events {
		has.Flows = append(has.Flows, flow.Flow{ID: e.ID, NS: e.FlowNs, Quiet: true})
	}
	for _, f := range tools.Flows {
		has.Flows = append(has.Flows, flow.Flow{ID: f.ID, NS: f.FlowNs, Steps: steps(shown[f.ID])})
	}
	nameAll(&has, tools)
	return has
}

// nameAll adds the names of the tags and the fields.
func nameAll(has *sandbox.Inventory, tools *tenant.Tools) {
	for _, tag := range tools.Tags {
		has.Tags = appendNamed(has.Tags, tag.Tag)
	}
	for _, tag := range tools.Readable.Tags {
		has.Tags = appendNamed(has.Tags, tag.Tag)
	}
	if tools.Nudge != nil {
		has.Tags = appendNamed(has.Tags, tools.Nudge.HumanActiveTag)
	}
	for _, f := range tools.Fields {
		has.Fields = append(has.Fields, f.Field)
	}
	for _, f := range tools.Readable.Fields {
		has.Fields = append(has.Fields, f.Field)
	}
	for _, n := range tools.Notes {
		has.Fields = append(has.Fields, n.Field)
	}
}

func appendNamed(list []string, name string) []string {
	if name == "" {
		return list
	}
	return append(list, name)
}

func steps(of []Step) (out []flow.Step) {
	for _, s := range of {
		out = append(out, flow.Step{
			After: time.Duration(s.AfterSeconds * float64(time.Second)),
			Text:  s.Text, Picture: flow.Picture(s.Picture), Title: s.Title, Caption: s.Caption,
		})
	}
	return out
}
