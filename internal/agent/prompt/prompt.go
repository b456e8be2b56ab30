// Package prompt writes what a model reads: a static part that is the same, byte for
// byte, for every turn of a tenant, and the messages of one turn. Its own words are
// English and say nothing of any trade; everything else is the tenant's or the
// contact's, and the contact's stands between fence markers.
package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The headings of the static part, in their order. What changes seldom stands first, so
// that a provider's cache holds as much as it can; a playbook goes behind the catalog.
const (
	rulesHeading      = "## RULES"
	escalationHeading = "## ESCALATION"
	toolsHeading      = "## TOOLS" // of a tenant that has some
	saleHeading       = "## SALE"  // of a tenant that sells
	securityHeading   = "## SECURITY"
	formatHeading     = "## FORMAT"
	personaHeading    = "## PERSONA"
	catalogHeading    = "## CATALOG"
)

func headings() []string {
	return []string{rulesHeading, escalationHeading, toolsHeading, saleHeading, securityHeading, formatHeading, personaHeading, catalogHeading}
}

// Markers lists the strings that only a prompt holds: the fence and the headings. A
// reply that quotes one has leaked the prompt.
func Markers() []string {
	return append([]string{FenceOpen, FenceClose}, headings()...)
}

// Prompt is what a tenant's turns have in common. It is never changed after [New], so
// any number of turns may share it.
type Prompt struct {
	System  string // the static part, the same for every turn
	Version string // first 12 hexadecimal digits of the SHA-256 of System

	tenant *tenant.Tenant
	zone   *time.Location
	static []Part // of System
}

// Part is a named part of a prompt.
type Part struct{ Name, Text string }

// New renders the static part for a tenant. The same tenant files give the same bytes
// in every process. Its errors cannot happen for a tenant that was loaded.
func New(t *tenant.Tenant) (*Prompt, error) {
	schema, err := reply.Schema()
	if err != nil {
		return nil, fmt.Errorf("write the prompt of tenant %s: %w", t.ID, err)
	}
	zone, err := time.LoadLocation(t.Rules.Timezone)
	if err != nil {
		return nil, fmt.Errorf("write the prompt of tenant %s: %w", t.ID, err)
	}
	static := []Part{
		{rulesHeading, rules},
		{escalationHeading, escalation()},
	}
	if acts(t.Tools) {
		static = append(static, Part{toolsHeading, acting})
	}
	if sales.Applies(t.Tools) {
		static = append(static, Part{saleHeading, sale(t.Tools)})
	}
	static = append(static,
		Part{securityHeading, security},
		Part{formatHeading, format + string(schema)},
		Part{personaHeading, persona(unfence(t.Prompt))},
		Part{catalogHeading, unfence(catalog(t))},
	)
	texts := make([]string, len(static))
	for i, part := range static {
		texts[i] = part.Name + "\n" + strings.Trim(part.Text, "\n")
		static[i] = Part{strings.TrimPrefix(part.Name, "## "), texts[i]}
	}
	system := strings.Join(texts, "\n\n")
	sum := sha256.Sum256([]byte(system))
	return &Prompt{System: system, Version: hex.EncodeToString(sum[:])[:12], tenant: t, zone: zone, static: static}, nil
}

// Parts are what a model reads for a turn: the sections of the static part, then the
// history, the server's notices, and last the fenced message.
func (p *Prompt) Parts(turn Turn) []Part {
	parts := slices.Clone(p.static)
	var earlier []string
	for _, m := range history(turn.History) {
		earlier = append(earlier, m.Text)
	}
	if len(earlier) > 0 {
		parts = append(parts, Part{"history", strings.Join(earlier, "\n\n")})
	}
	return append(parts, Part{"notices", p.notices(turn)}, Part{"message", message(turn)})
}

// persona is the tenant's text. A line of it that reads as one of the static part's own
// headings is indented, so that it opens no section.
func persona(text string) string {
	lines := strings.Split(unixLines(strings.TrimSpace(text)), "\n")
	for i, line := range lines {
		if slices.Contains(headings(), strings.ToUpper(strings.Join(strings.Fields(line), " "))) {
			lines[i] = "  " + strings.TrimSpace(line)
		}
	}
	return strings.Join(lines, "\n")
}
