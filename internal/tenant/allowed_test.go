package tenant_test

import (
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/10-config.md, first section: what the agent may do is said. The opening is not
// the agent's to send.
func TestAllowed(t *testing.T) {
	const one = `{"id":"a","description":"d",`
	tests := []struct{ name, rules, tools, want string }{
		{"nothing", rules, "", "No tools.json: the agent only answers; handoff: nobody is told."},
		{"an empty file", with(`"handoff":{}`), "{}", "Nothing for the agent in tools.json: it only answers; handoff: nobody is told."},
		{"a nudge", rules, `{"fields":[],"nudge":{"delays":[{"id":"d","minutes":1}]}}`, "Tools: 1 nudge delay; handoff: nobody is told."},
		{"one of each", with(`"handoff":{"tag":"t","flowNs":"9","webhook":"https://desk.example"}`),
			`{"flows":[` + one + `"flowNs":"1"}],"tags":[` + one + `"tag":"g"}],"fields":[` + one + `"field":"f","values":["v"]}],"notes":[` + one + `"field":"n","maxLength":9,"neverRendered":true}],"readable":{"tags":[{"id":"r","tag":"r"}]},"nudge":{"delays":[{"id":"d","minutes":1},{"id":"e","minutes":2}]}}`,
			"Tools: 1 flow, 1 tag, 1 field, 1 note, 2 nudge delays, 1 to read only; handoff: tag, flow, webhook."},
		{"the opening", rules, `{"flows":[` + one + `"flowNs":"1","role":"opening"},{"id":"b","description":"d","flowNs":"2"},{"id":"c","description":"d","flowNs":"3"}],"fields":[` + intent + `]}`,
			"Tools: 2 flows, 1 field; handoff: nobody is told."},
		{"read only", rules, `{"readable":{"tags":[{"id":"r","tag":"r"}],"fields":[{"id":"s","field":"s","values":["v"]}]}}`, "Tools: 2 to read only; handoff: nobody is told."},
	}
	for _, tt := range tests {
		got, err := tenant.Load(folder(map[string]string{"rules.json": tt.rules, "tools.json": tt.tools}), tenant.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if got.Allowed() != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got.Allowed(), tt.want)
		}
	}
}

// Holds docs/spec/10-config.md, "tools.json": what is misnamed is found where the file that is
// meant is missing, and nothing else is.
func TestMisnamedFiles(t *testing.T) {
	files := func(names ...string) fstest.MapFS {
		m := fstest.MapFS{}
		for _, name := range names {
			m[name] = &fstest.MapFile{}
		}
		return m
	}
	tests := []struct {
		name   string
		folder fstest.MapFS
		want   []string
	}{
		{"the four", files("prompt.md", "catalog.json", "rules.json", "tools.json", "tool.json", "rules-old.json"), nil},
		{"nothing", files(), nil},
		{"misspelt", files("tool.json", "rule.json", "catalogue.json", "prompts.md"), []string{
			"catalogue.json is not read: did you mean catalog.json?", "prompts.md is not read: did you mean prompt.md?",
			"rule.json is not read: did you mean rules.json?", "tool.json is not read: did you mean tools.json?",
		}},
		{"other endings", files("Tools.JSON", "rules.jsonc", "catalog.json.txt", "prompt.txt"), []string{
			"Tools.JSON is not read: did you mean tools.json?", "catalog.json.txt is not read: did you mean catalog.json?",
			"prompt.txt is not read: did you mean prompt.md?", "rules.jsonc is not read: did you mean rules.json?",
		}},
		{"what is something else", files("README.md", "sandbox.json", "tools.json.example", "rules.json.example", ".tools.json", "tool.json/x", "schema/tools.json", "notes.txt"), nil},
	}
	for _, tt := range tests {
		var got []string
		for _, m := range tenant.MisnamedFiles(tt.folder) {
			got = append(got, m.String())
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
