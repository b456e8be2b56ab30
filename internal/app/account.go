package app

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// sandboxFile says what the business's flows show on the phone page. It is not one of the
// tenant's files: nothing but the sandbox reads it.
const sandboxFile = "sandbox.json"

// sandboxFlows is the sandbox's file.
type sandboxFlows struct {
	Flows map[string][]sandboxStep `json:"flows" jsonschema:"required"` // by the flow's id
}

// sandboxStep is one message of a flow.
type sandboxStep struct {
	AfterSeconds float64 `json:"afterSeconds" jsonschema:"minimum=0,maximum=30"`
	Text         string  `json:"text" jsonschema:"minLength=1"`
	Picture      string  `json:"picture" jsonschema:"enum=image,enum=map,enum=video,enum=file"`
	Title        string  `json:"title" jsonschema:"minLength=1"`
	Caption      string  `json:"caption" jsonschema:"minLength=1"`
}

// contents reads what the flows of the business show; nil: nobody has said it. Its error
// wraps a [tenant.Problems].
func contents(c config.Config, t *tenant.Tenant) (map[string][]sandboxStep, error) {
	folder := os.DirFS(c.Folders.Config)
	if demoStandsIn(c) {
		folder = demo.FS()
	}
	text, err := fs.ReadFile(folder, sandboxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var file sandboxFlows
	var problems tenant.Problems
	if err != nil {
		problems = tenant.Problems{{File: sandboxFile, Found: "a file that cannot be read", Expected: "a readable file"}}
	} else if doc, problem := document.Parse(sandboxFile, text); problem != nil {
		problems = tenant.Problems{*problem}
	} else {
		problems = append(doc.Decode(&file), file.check(doc)...)
		if !demoStandsIn(c) { // the academy's is right, whatever business a test brings along
			problems = append(problems, file.unknown(doc, t.Tools)...)
		}
	}
	if len(problems) > 0 {
		return nil, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), problems.Sort())
	}
	return file.Flows, nil
}

// check finds the steps that show nothing.
func (f sandboxFlows) check(doc *document.Document) (problems tenant.Problems) {
	for _, id := range slices.Sorted(maps.Keys(f.Flows)) {
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

// unknown finds the flows that the business does not have.
func (f sandboxFlows) unknown(doc *document.Document, tools *tenant.Tools) (problems tenant.Problems) {
	for _, id := range slices.Sorted(maps.Keys(f.Flows)) {
		has := func(f tenant.Flow) bool { return f.ID == id }
		if tools == nil || !slices.ContainsFunc(tools.Flows, has) {
			problems = append(problems, doc.Problem(pointerTo(id), "the flow "+strconv.Quote(id), "the id of a flow of "+tenant.ToolsFile))
		}
	}
	return problems
}

func pointerTo(id string) string {
	return "/flows/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(id)
}

// furnish adds what the business's files name to the emulated account. Flows that are no
// message to the contact show nothing.
func furnish(account *sandbox.AccountConfig, t *tenant.Tenant, shown map[string][]sandboxStep) {
	if h := t.Rules.Handoff; h != nil {
		account.Tags = appendNamed(account.Tags, h.Tag)
		if h.FlowNs != "" {
			account.Flows = append(account.Flows, flow.Flow{ID: "handoff", NS: h.FlowNs, Quiet: true})
		}
	}
	if l := t.Rules.Learning; l != nil {
		account.Tags = appendNamed(account.Tags, l.ConvertedTag)
	}
	tools := t.Tools
	if tools == nil {
		return
	}
	for _, e := range tools.Events {
		account.Flows = append(account.Flows, flow.Flow{ID: e.ID, NS: e.FlowNs, Quiet: true})
	}
	for _, f := range tools.Flows {
		account.Flows = append(account.Flows, flow.Flow{ID: f.ID, NS: f.FlowNs, Steps: steps(shown[f.ID])})
	}
	furnishNames(account, tools)
}

func furnishNames(account *sandbox.AccountConfig, tools *tenant.Tools) {
	for _, tag := range tools.Tags {
		account.Tags = appendNamed(account.Tags, tag.Tag)
	}
	for _, tag := range tools.Readable.Tags {
		account.Tags = appendNamed(account.Tags, tag.Tag)
	}
	if tools.Nudge != nil {
		account.Tags = appendNamed(account.Tags, tools.Nudge.HumanActiveTag)
	}
	for _, f := range tools.Fields {
		account.Fields = append(account.Fields, f.Field)
	}
	for _, f := range tools.Readable.Fields {
		account.Fields = append(account.Fields, f.Field)
	}
	for _, n := range tools.Notes {
		account.Fields = append(account.Fields, n.Field)
	}
}

func appendNamed(list []string, name string) []string {
	if name == "" {
		return list
	}
	return append(list, name)
}

func steps(of []sandboxStep) (out []flow.Step) {
	for _, s := range of {
		out = append(out, flow.Step{
			After: time.Duration(s.AfterSeconds * float64(time.Second)),
			Text:  s.Text, Picture: flow.Picture(s.Picture), Title: s.Title, Caption: s.Caption,
		})
	}
	return out
}
