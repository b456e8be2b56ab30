package tenant_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/10-config.md, "rules.json": what a file configures and this version does
// not do is said.
func TestWithoutEffect(t *testing.T) {
	got, err := tenant.Load(demo.FS(), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string(nil), got.WithoutEffect()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}

	const acting = `{"flows":[{"id":"f","flowNs":"1","description":"d","settleSeconds":3,"repeatable":true}],"tags":[{"id":"g","tag":"g","description":"d"}],
		"fields":[{"id":"f","field":"f","values":["a"],"description":"d"}],"readable":{"tags":[{"id":"r","tag":"r"}],"fields":[{"id":"r","field":"r","values":["a"]}]},
		"notes":[{"id":"n","field":"n","maxLength":9,"neverRendered":true,"description":"d","onEscalation":true}],"nudge":{"delays":[{"id":"d","minutes":1}]},"events":[]}`
	const marks = `{"fields":[` + intent + `,` + funnel + `],"flows":[{"id":"p","flowNs":"1","description":"d","role":"payment_link"}]}`
	tests := []struct {
		name, rules, tools string
		want               []string
	}{
		{"nothing", rules, "", nil},
		{"everything that works", with(`"handoff":{"tag":"person","flowNs":"9","webhook":"https://desk.example/agent","pauseHours":4}`), acting, nil},
		{"learning", with(`"learning":{"language":"en","convertedTag":"paid","maxRunCostUsd":1}`), marks, []string{"rules.json learning"}},
	}
	for _, tt := range tests {
		got, err := tenant.Load(folder(map[string]string{"rules.json": tt.rules, "tools.json": tt.tools}), tenant.Options{})
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if diff := cmp.Diff(tt.want, got.WithoutEffect()); diff != "" {
			t.Errorf("%s: keys (-want +got):\n%s", tt.name, diff)
		}
	}
}
