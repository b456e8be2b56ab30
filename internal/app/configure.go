package app

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Business reads the tenant's files from CONFIG_DIR. Unless it is to be served, a folder
// without any of them is the demo tenant. Copy above maxTextUnits is a problem; 0 measures nothing,
// because a service splits what is too long. Its errors wrap a [tenant.Problems].
func Business(c config.Config, maxTextUnits int) (*tenant.Tenant, error) {
	folder := os.DirFS(c.Folders.Config)
	if demoStandsIn(c) {
		folder = demo.FS()
	}
	t, err := tenant.Load(folder, tenant.Options{
		ID:           c.Tenant.ID,
		ReplyField:   c.ManyChat.ReplyField,
		TokenField:   c.ManyChat.TokenField,
		ReplyFlowNs:  c.ManyChat.ReplyFlowNs,
		MaxTextUnits: maxTextUnits,

		NoWebhookSecret: c.Public.HandoffWebhookSecret == "",
	})
	if err != nil {
		return nil, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), err)
	}
	return t, nil
}

// demoStandsIn reports whether the demo tenant is used for want of files.
func demoStandsIn(c config.Config) bool {
	return c.Mode != config.Serve && !anyFile(os.DirFS(c.Folders.Config))
}

// anyFile reports whether a folder holds at least one of a tenant's files.
func anyFile(folder fs.FS) bool {
	for _, name := range []string{tenant.PromptFile, tenant.CatalogFile, tenant.RulesFile, tenant.ToolsFile} {
		if _, err := fs.Stat(folder, name); err == nil {
			return true
		}
	}
	return false
}
