package archtest

import (
	"maps"
	"path"
	"slices"
	"strings"
)

// TenantData checks C1: what git does not ignore under config/ is the fictional demo
// tenant and nothing else, and the files a deployment writes are all ignored.
func TenantData(t *Tree) []Violation {
	var found []Violation
	for _, p := range slices.Sorted(maps.Keys(t.Paths)) {
		if secretFile(p) || within(p, "config") && !demoFile(p) {
			found = append(found, Violation{Path: p, Message: "a tenant's own data in the repository; name it in .gitignore"})
		}
	}
	for _, p := range ofDeployment() {
		if !t.Ignore.Covers(p) {
			found = append(found, Violation{Path: ".gitignore", Message: "does not ignore " + p + ", which holds a tenant's own data"})
		}
	}
	return found
}

// ofDeployment lists files that a running deployment has and git must never see.
func ofDeployment() []string {
	return []string{
		".env", ".env.production", "config/prompt.md", "config/catalog.json", "config/rules.json",
		"config/tools.json", "data/agent.db", "data/agent.db-wal", "agent.db",
	}
}

func secretFile(p string) bool {
	base := path.Base(p)
	return base == ".env" || strings.HasPrefix(base, ".env.") && base != ".env.example" || path.Ext(base) == ".db"
}

func demoFile(p string) bool {
	return p == "config" || p == "config/README.md" || within(p, "config/schema") ||
		path.Ext(p) == ".example" || path.Ext(p) == ".go"
}
