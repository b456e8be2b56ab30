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
	want := []string{
		"rules.json messages.optOut", "rules.json optOutKeywords", "rules.json optInKeywords", "tools.json",
	}
	if diff := cmp.Diff(want, got.WithoutEffect()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}

	plain, err := tenant.Load(folder(nil), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if keys := plain.WithoutEffect(); len(keys) > 0 {
		t.Errorf("keys that are not in the files are named: %v", keys)
	}

	other, err := tenant.Load(folder(map[string]string{
		"rules.json": with(`"handoff":{"tag":"person"},"learning":{"language":"en","convertedTag":"paid","maxRunCostUsd":1}`),
		"tools.json": `{"fields":[{"id":"intent","field":"intent","values":["not_prospect","prospect"],"description":"d","intent":true},{"id":"stage","field":"stage","values":["new","qualifying","nurturing","offered","prepared","link_sent"],"description":"d","funnel":true}]}`,
	}), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"rules.json handoff", "rules.json learning", "tools.json"}, other.WithoutEffect()); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}
