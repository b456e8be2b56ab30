package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/telemetry"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// providers are the model providers built into this program.
var providers = []string{"mock"}

// environment reads .env and the environment.
func environment(mode config.Mode, std Streams) (config.Config, error) {
	dotenv, err := os.ReadFile(".env")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config.Config{}, usageError{fmt.Errorf("the file .env cannot be read: %w", err)}
	}
	return config.Load(config.Source{
		Mode: mode, Environ: os.Environ(), DotEnv: dotenv, Providers: providers, Terminal: terminal(std.Err),
	})
}

// business reads the tenant's files. In dev a folder without any of them is the demo
// tenant. Copy above maxTextUnits is a problem; 0 measures nothing, because a service
// splits what is too long.
func business(c config.Config, maxTextUnits int) (*tenant.Tenant, error) {
	folder := os.DirFS(c.Folders.Config)
	if c.Mode == config.Dev && !anyFile(folder) {
		folder = demo.FS()
	}
	t, err := tenant.Load(folder, tenant.Options{
		ID:           c.Tenant.ID,
		ReplyField:   c.ManyChat.ReplyField,
		TokenField:   c.ManyChat.TokenField,
		ReplyFlowNs:  c.ManyChat.ReplyFlowNs,
		MaxTextUnits: maxTextUnits,
	})
	if err != nil {
		return nil, fmt.Errorf("the configuration in %s is not valid:\n%w", filepath.Clean(c.Folders.Config), err)
	}
	return t, nil
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

// logger writes the program's log to the standard error.
func logger(c config.Config, std Streams) *slog.Logger {
	var level slog.Level
	// The configuration has checked the name.
	_ = level.UnmarshalText([]byte(c.Server.LogLevel))
	log := telemetry.NewLogger(std.Err, level, telemetry.Format(c.Server.LogFormat))
	for _, w := range c.Warnings() {
		log.Warn(w.String())
	}
	return log
}
