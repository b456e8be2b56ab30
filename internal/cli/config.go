package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/schema"
	"github.com/manychat-agent/manychat-agent/manychat"
)

type configCommands struct {
	Check   configCheck   `cmd:"" help:"Check every file and variable, and report everything that is wrong."`
	Show    configShow    `cmd:"" help:"Print every variable, secrets masked, and where it comes from."`
	Schema  configSchema  `cmd:"" help:"Print the JSON Schemas of the configuration files, or write them to a folder."`
	Upgrade configUpgrade `cmd:"" help:"Rewrite old keys of the configuration files."`
}

// Help shows examples.
func (configCommands) Help() string {
	return `Examples:

    manychat-agent config check
    manychat-agent config show --dev
    manychat-agent config schema catalog.json
    manychat-agent config upgrade --dry-run`
}

// mode is what the configuration is read for.
type mode struct {
	Dev bool `help:"As dev reads it: nothing is required and the demo tenant stands in."`
}

func (m mode) mode() config.Mode {
	if m.Dev {
		return config.Dev
	}
	return config.Serve
}

type configCheck struct{ mode }

// Run reports the problems of the environment and of the files together.
func (cc configCheck) Run(std Streams) error {
	c, err := environment(cc.mode.mode(), std)
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	// With problems the files are checked all the same: one round shows everything.
	t, files := app.Business(c, longestText(c))
	if err := errors.Join(err, files); err != nil {
		return err
	}
	spending, err := app.SpendingOf(c, t)
	if err != nil {
		return err
	}
	for _, sentence := range spending.Warnings {
		fmt.Fprintln(std.Err, sentence)
	}
	for _, w := range c.Warnings() {
		fmt.Fprintln(std.Err, w)
	}
	for _, line := range withoutEffect(t) {
		fmt.Fprintln(std.Err, line)
	}
	if _, err := fmt.Fprintf(std.Out, "The configuration is valid: %s, %d offerings, hash %s.\n", t.Catalog.BusinessName, len(t.Catalog.Offerings), t.Hash[:12]); err != nil {
		return err
	}
	if spending.Allows != "" {
		fmt.Fprintln(std.Out, spending.Allows)
	}
	_, err = fmt.Fprintln(std.Out, spending.MayDo)
	return err
}

// withoutEffect is a line for each file that configures what this version does not do.
func withoutEffect(t *tenant.Tenant) (lines []string) {
	last := ""
	for _, entry := range t.WithoutEffect() {
		if file, key, _ := strings.Cut(entry, " "); file == last {
			lines[len(lines)-1] += ", " + key
		} else {
			lines, last = append(lines, "Without effect in this version: "+entry), file
		}
	}
	return lines
}

// longestText is the channel's, in UTF-16 units.
func longestText(c config.Config) int {
	caps, _ := manychat.CapabilitiesOf(manychat.Channel(c.Tenant.Channel))
	return caps.TextUnits
}

type configShow struct {
	mode
	JSON bool `help:"One JSON object a line."`
}

// Run prints the variables, also when something is wrong with them.
func (cs configShow) Run(std Streams) error {
	c, err := environment(cs.mode.mode(), std)
	var problems config.Problems
	if err != nil && !errors.As(err, &problems) {
		return err
	}
	if cs.JSON {
		return errors.Join(err, show.Lines(std.Out, c.Values()))
	}
	return errors.Join(err, c.Print(std.Out))
}

type configSchema struct {
	File string `arg:"" optional:"" help:"One of catalog.json, rules.json and tools.json; all when left out."`
	Dir  string `help:"Write each schema to this folder instead of printing it." placeholder:"DIR"`
}

// Run prints the schemas in the order of their names.
func (cs configSchema) Run(std Streams) error {
	all, err := schema.All()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	if cs.File != "" {
		if !slices.Contains(names, cs.File) {
			return usageError{fmt.Errorf("there is no schema of %q: choose one of %s, %s and %s", cs.File, tenant.CatalogFile, tenant.RulesFile, tenant.ToolsFile)}
		}
		names = []string{cs.File}
	}
	for _, name := range names {
		if cs.Dir != "" {
			if err := os.WriteFile(filepath.Join(cs.Dir, name), all[name], 0o644); err != nil {
				return fmt.Errorf("write the schema of %s: %w", name, err)
			}
			continue
		}
		if _, err := std.Out.Write(all[name]); err != nil {
			return err
		}
	}
	return nil
}
