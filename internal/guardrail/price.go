package guardrail

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// priceGuard finds amounts of money that the catalog does not hold, and does about
// them what the tenant configured. What an amount is, and its limits: package money.
type priceGuard struct {
	facts *factCache
}

func (g priceGuard) run(d *draft) finding {
	mode := d.tenant.Rules.PriceGuard
	if mode == tenant.PriceGuardOff || g.holdsAll(d) {
		return finding{}
	}
	if mode == tenant.PriceGuardFlag {
		return finding{noted: true}
	}
	return broken()
}

// holdsAll looks at all texts together, since a number may end one message and its
// currency begin the next, and at what is left of them when the links are gone, since
// that may join figures.
func (g priceGuard) holdsAll(d *draft) bool {
	known := g.facts.of(d.tenant)
	all, rest := strings.Join(d.texts(), "\n"), strings.Join(d.leftover(known.allowed).texts(), "\n")
	return known.money.HoldsAll(all) && (rest == all || known.money.HoldsAll(rest))
}
