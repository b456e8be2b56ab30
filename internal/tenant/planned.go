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

func withoutEffect(rules *document.Document) (list []string) {
	for _, key := range planned {
		if rules.Has("/" + strings.ReplaceAll(key, ".", "/")) {
			list = append(list, RulesFile+" "+key)
		}
	}
	return list
}
