package app

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/app/furniture"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// inventory is what the emulated account of a business has. Its error wraps a
// [tenant.Problems].
func inventory(c config.Config, t *tenant.Tenant) (sandbox.Inventory, error) {
	var known func(string) bool
	if !demoStandsIn(c) { // the academy's is right, whatever business a test brings along
		known = func(id string) bool {
			return t.Tools != nil && slices.ContainsFunc(t.Tools.Flows, func(f tenant.Flow) bool { return f.ID == id })
		}
	}
	folder, err := folderOf(c)
	var shown furniture.Shown
	if err == nil {
		shown, err = furniture.Read(folder, known)
	}
	if err != nil {
		return sandbox.Inventory{}, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), err)
	}
	return furniture.Inventory(t, shown), nil
}
