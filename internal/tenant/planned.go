package tenant

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// planned are the keys of rules.json that are read and checked, and that nothing acts
// on in this version. Nothing acts on the whole of tools.json either.
var planned = [...]string{
	"messages.optOut",
	"handoff",
	"optOutKeywords",
	"optInKeywords",
	"learning",
}

// WithoutEffect lists what the tenant's files configure and this version does not do,
// each as the file and the key in it, with dots between levels; a file alone is meant
// as a whole.
func (t *Tenant) WithoutEffect() []string { return slices.Clone(t.withoutEffect) }

func withoutEffect(rules *document.Document, tools *Tools) (list []string) {
	for _, key := range planned {
		if rules.Has("/" + strings.ReplaceAll(key, ".", "/")) {
			list = append(list, RulesFile+" "+key)
		}
	}
	if tools != nil {
		list = append(list, ToolsFile)
	}
	return list
}
