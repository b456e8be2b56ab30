package app

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// Business reads the tenant's files from CONFIG_DIR. Unless it is to be served, a folder
// without any of them is the demo tenant, and no notice of a handoff needs to be signed. A
// CONFIG_DIR that was set has to be there. Copy above maxTextUnits is a problem; 0 measures nothing,
// because a service splits what is too long. Its errors wrap a [tenant.Problems].
func Business(c config.Config, maxTextUnits int) (*tenant.Tenant, error) {
	folder, err := folderOf(c)
	if err != nil {
		return nil, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), err)
	}
	t, err := tenant.Load(folder, tenant.Options{
		ID:           c.Tenant.ID,
		ReplyField:   c.ManyChat.ReplyField,
		TokenField:   c.ManyChat.TokenField,
		ReplyFlowNs:  c.ManyChat.ReplyFlowNs,
		MaxTextUnits: maxTextUnits,

		// A secret that was set and is not valid is the environment's problem, and said there.
		NoWebhookSecret: c.Mode == config.Serve && !c.Set("HANDOFF_WEBHOOK_SECRET"),
	})
	if err != nil {
		return nil, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), err)
	}
	return t, nil
}

// folderOf is where a tenant's files are read from. Its error is a [tenant.Problems].
func folderOf(c config.Config) (fs.FS, error) {
	path := c.Folders.Config
	if info, err := os.Stat(path); c.Set("CONFIG_DIR") && (err != nil || !info.IsDir()) {
		p := document.Problem{File: path, Found: "no folder of this name", Expected: "the folder with the files of the business", Hint: "correct CONFIG_DIR"}
		if err == nil {
			p.Found = "a file"
		} else if !errors.Is(err, fs.ErrNotExist) {
			p.Found = "a folder that cannot be read"
		}
		return nil, tenant.Problems{p}
	}
	if demoStandsIn(c) {
		return demo.FS(), nil
	}
	return os.DirFS(path), nil
}

// misnamed are sentences about files of CONFIG_DIR that nothing reads and that look like
// ones that are missing.
func misnamed(c config.Config) (sentences []string) {
	for _, m := range tenant.MisnamedFiles(os.DirFS(c.Folders.Config)) {
		sentences = append(sentences, "in "+filepath.Clean(c.Folders.Config)+", "+m.String())
	}
	return sentences
}

// demoStandsIn reports whether the demo tenant is used for want of files.
func demoStandsIn(c config.Config) bool {
	return c.Mode != config.Serve && !tenant.AnyFile(os.DirFS(c.Folders.Config))
}
