// Package money finds the amounts of money in a text and knows those that a catalog
// holds.
//
// An amount is a numeral in any script and any locale's separators, or a number in words
// of some languages, beside a currency: a sign, an ISO code, a name in its inflected
// forms, or a word that the catalog itself has behind its prices. Space, markup, brackets
// or one hyphen or dash that touches both may stand between. A word or letter of magnitude
// multiplies it: 1.2 thousand is exactly 1200, 1,200 thousand is 1.2 million, and 2k is no
// way to say 1999. A smaller unit behind it is part of it: 12 zł 90 gr.
//
// Known limits: a number without a currency ("it costs 250"), a share of a price ("half of
// it"), a number in words of other languages, one with other words between it and its
// currency, a comma that lists more amounts after a currency ("100 EUR, 200") and the
// first end of a range of which the second has a sign before it ("100 to €240") are no
// amounts. Nor is a word for other things too, as "pounds", "soles" or "Kronen", in another
// currency than the catalog's, unless the catalog holds its number. What only looks like
// money, as a shoe size ("EUR 42") or a championship ("Euro 2028"), is an amount; and a
// currency at the end of a line takes a number that stands alone in the next one.
package money

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Facts are the amounts a catalog holds and the words it has for its currencies. It is
// never changed, so any number of goroutines may ask it.
type Facts struct {
	units map[string][]unit // the units of each amount, which is a canonical decimal
	words currencyWords
}

// Read collects the prices of a catalog, and every amount in its texts.
func Read(c *tenant.Catalog, texts []string) Facts {
	main := unit(c.Currency)
	m := Facts{units: map[string][]unit{}, words: currencyWords{string(main): main}}
	for _, o := range c.Offerings {
		code := o.Price.Currency
		m.words[string(code)] = unit(code)
		m.enter(price(o.Price), unit(code))
	}
	m.words.learn(texts, m, main)
	for _, text := range texts {
		for _, a := range amounts(text, m.words) {
			if a.unit = a.unit.within(main); !a.loose {
				m.add(a)
			}
		}
	}
	return m
}

// price is a catalog price as a canonical decimal. It has a decimal point, never a
// separator of thousands: 4.900 KWD is no 4900.
func price(p tenant.Money) string {
	whole, fraction, _ := strings.Cut(p.Decimal(), ".")
	return number.Canonical(whole, fraction)
}

func (m Facts) add(a amount) {
	for _, reading := range a.readings {
		m.enter(reading, a.unit)
	}
	if a.thousandths != "" && a.unit.hasThousandths() {
		m.enter(a.thousandths, a.unit)
	}
}

func (m Facts) enter(reading string, u unit) {
	if !slices.Contains(m.units[reading], u) {
		m.units[reading] = append(m.units[reading], u)
	}
}

// HoldsAll reports whether the catalog holds every amount of a text.
func (m Facts) HoldsAll(text string) bool {
	for _, a := range amounts(text, m.words) {
		if !m.holds(a) && (!a.loose || m.holdsNumber(a)) {
			return false
		}
	}
	return true
}

// holdsNumber reports whether the catalog holds an amount in any currency.
func (m Facts) holdsNumber(a amount) bool {
	return slices.ContainsFunc(a.readings, func(reading string) bool { return len(m.units[reading]) > 0 })
}

// holds reports whether the catalog holds an amount in one of the ways it can be read,
// in a currency that it may be in.
func (m Facts) holds(a amount) bool {
	for _, reading := range a.readings {
		if slices.ContainsFunc(m.units[reading], a.unit.is) {
			return true
		}
	}
	return slices.ContainsFunc(m.units[a.thousandths], func(u unit) bool { return u.hasThousandths() && a.unit.is(u) })
}
