package guardrail

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// priceGuard finds amounts of money that the catalog does not hold, and does about
// them what the tenant configured.
type priceGuard struct {
	facts *factCache
}

func (g priceGuard) run(d *draft) finding {
	mode := d.tenant.Rules.PriceGuard
	if mode == tenant.PriceGuardOff {
		return finding{}
	}
	known := g.facts.of(d.tenant).money
	for _, text := range d.texts() {
		if known.holdsAll(text) {
			continue
		}
		if mode == tenant.PriceGuardFlag {
			return finding{noted: true}
		}
		return finding{noted: true, outcome: conversation.EscalatedError, reason: conversation.ByError}
	}
	return finding{}
}

// moneyFacts are the amounts a catalog holds and the words it has for its currencies.
type moneyFacts struct {
	units map[string][]unit // the units of each amount, which is a canonical decimal
	words currencyWords
	loose currencyWords // with the names that mean other things too
}

// readMoney collects the prices, and every amount in the catalog's texts.
func readMoney(c *tenant.Catalog) moneyFacts {
	main := unit(c.Currency)
	m := moneyFacts{units: map[string][]unit{}, words: currencyWords{string(main): main}}
	for _, o := range c.Offerings {
		code := o.Price.Currency
		m.words[string(code)] = unit(code)
		m.add(amount{readings: []string{price(o.Price)}, unit: unit(code)})
	}
	texts := catalogTexts(c)
	m.words.learn(texts, m, main)
	for _, text := range texts {
		for _, a := range amounts(text, m.words) {
			m.add(a)
		}
	}
	m.loose = m.words.withAmbiguous()
	return m
}

// price is a catalog price as a canonical decimal. It has a decimal point, never a
// separator of thousands: 4.900 KWD is no 4900.
func price(p tenant.Money) string {
	whole, fraction, _ := strings.Cut(p.Decimal(), ".")
	return canonical(whole, fraction)
}

func (m moneyFacts) add(a amount) {
	for _, reading := range a.readings {
		m.units[reading] = append(m.units[reading], a.unit)
	}
	if a.thousandths != "" && a.unit.hasThousandths() {
		m.units[a.thousandths] = append(m.units[a.thousandths], a.unit)
	}
}

// holdsAll reports whether the catalog holds every amount of a text.
func (m moneyFacts) holdsAll(text string) bool {
	for _, a := range amounts(text, m.words) {
		if !m.holds(a) {
			return false
		}
	}
	for _, a := range amounts(text, m.loose) {
		if m.holdsNumber(a) && !m.holds(a) {
			return false
		}
	}
	return true
}

// holdsNumber reports whether the catalog holds an amount in any currency.
func (m moneyFacts) holdsNumber(a amount) bool {
	return slices.ContainsFunc(a.readings, func(reading string) bool { return len(m.units[reading]) > 0 })
}

// holds reports whether the catalog holds an amount in one of the ways it can be read,
// in a currency that it may be in.
func (m moneyFacts) holds(a amount) bool {
	for _, reading := range a.readings {
		if slices.ContainsFunc(m.units[reading], a.unit.is) {
			return true
		}
	}
	return slices.ContainsFunc(m.units[a.thousandths], func(u unit) bool { return u.hasThousandths() && a.unit.is(u) })
}
