package tenant

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// planned are the keys of rules.json that are read and checked, and that nothing acts
// on in this version.
var planned = [...]string{
	"learning",
}

// WithoutEffect lists what the tenant's files configure and this version does not do,
// each as the file and the key in it, with dots between levels and [] behind a list of
// which at least one entry has the key.
func (t *Tenant) WithoutEffect() []string { return slices.Clone(t.withoutEffect) }

func withoutEffect(rules *document.Document, tools *Tools) (list []string) {
	for _, key := range planned {
		if rules.Has("/" + strings.ReplaceAll(key, ".", "/")) {
			list = append(list, RulesFile+" "+key)
		}
	}
	if tools == nil {
		return list
	}
	for _, p := range plannedTools(tools) {
		if p.configured {
			list = append(list, ToolsFile+" "+p.key)
		}
	}
	return list
}

type plannedKey struct {
	key        string
	configured bool
}

// plannedTools are the keys of tools.json whose rules are not built: those of the sale and of
// events. Their flows, and fields, are sent and set like any other.
func plannedTools(t *Tools) []plannedKey {
	flow := func(has func(Flow) bool) bool { return slices.ContainsFunc(t.Flows, has) }
	return []plannedKey{
		{"flows[].role", flow(func(f Flow) bool { return f.Role != "" })},
		{"flows[].onStage", flow(func(f Flow) bool { return f.OnStage != "" })},
		{"flows[].offering", flow(func(f Flow) bool { return f.Offering != "" })},
		{"fields[].intent", t.IntentField() != nil},
		{"fields[].funnel", t.FunnelField() != nil},
		{"fields[].offering", t.OfferingField() != nil},
		{"events", len(t.Events) > 0},
	}
}
