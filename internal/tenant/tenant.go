// Package tenant holds everything that belongs to a business: its persona, its
// catalog, its rules and what the agent may do for it. The types are the whole of
// the four configuration files; [Load] reads and checks them. A [Tenant] is pure
// data: a turn takes one at its start and keeps it, whatever is reloaded meanwhile.
package tenant

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/tenant/keyword"
)

// The files of a tenant, in the configuration folder.
const (
	PromptFile  = "prompt.md"
	CatalogFile = "catalog.json"
	RulesFile   = "rules.json"
	ToolsFile   = "tools.json"
)

// A Tenant is one business as its configuration files describe it. It is never
// changed after [Load] returned it, so any number of turns may share it.
type Tenant struct {
	ID      string
	Prompt  string // prompt.md: persona, tone, language
	Catalog Catalog
	Rules   Rules
	Tools   *Tools // nil without a tools.json: the agent has no tools
	Hash    string // hexadecimal SHA-256 over the names and contents of the files

	Keywords Keywords
	Zone     *time.Location // of rules.timezone: the prompt's date, reports

	withoutEffect []string // see [Tenant.WithoutEffect]
}

// Keywords are the rules' keyword lists, ready to match.
type Keywords struct {
	Escalation keyword.Set // anywhere in a message
	Opening    keyword.Set // whole message
	OptOut     keyword.Set // whole message
	OptIn      keyword.Set // whole message
}
