// Package prompt writes what a model reads: a static part that is the same, byte for
// byte, for every turn of a tenant, and the messages of one turn. Its own words are
// English and say nothing of any trade; everything else is the tenant's or the
// contact's, and the contact's stands between fence markers.
package prompt

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// The headings of the static part, in their order.
const (
	rulesHeading      = "## RULES"
	escalationHeading = "## ESCALATION"
	securityHeading   = "## SECURITY"
	formatHeading     = "## FORMAT"
	personaHeading    = "## PERSONA"
	catalogHeading    = "## CATALOG"
)

// Markers lists the strings that only a prompt holds: the fence and the headings. A
// reply that quotes one has leaked the prompt.
func Markers() []string {
	return []string{FenceOpen, FenceClose, rulesHeading, escalationHeading, securityHeading,
		formatHeading, personaHeading, catalogHeading}
}

// Prompt is what a tenant's turns have in common. It is never changed after [New], so
// any number of turns may share it.
type Prompt struct {
	System  string // the static part, the same for every turn
	Version string // first 12 hexadecimal digits of the SHA-256 of System

	tenant *tenant.Tenant
	zone   *time.Location
}

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
	var b strings.Builder
	section(&b, rulesHeading, rules)
	section(&b, escalationHeading, escalation())
	section(&b, securityHeading, security)
	section(&b, formatHeading, format+string(schema))
	section(&b, personaHeading, unfence(t.Prompt))
	section(&b, catalogHeading, unfence(catalog(&t.Catalog)))
	system := strings.TrimSuffix(b.String(), "\n")
	sum := sha256.Sum256([]byte(system))
	return &Prompt{System: system, Version: hex.EncodeToString(sum[:])[:12], tenant: t, zone: zone}, nil
}

func section(b *strings.Builder, heading, body string) {
	b.WriteString(heading)
	b.WriteByte('\n')
	b.WriteString(strings.TrimSpace(body))
	b.WriteString("\n\n")
}
