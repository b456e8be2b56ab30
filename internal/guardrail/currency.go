package guardrail

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// currencyWords are the codes and the lower-case words that a catalog has for its
// currencies.
type currencyWords map[string]unit

// withAmbiguous is a copy that takes every ambiguous name for a currency.
func (c currencyWords) withAmbiguous() currencyWords {
	all := maps.Clone(c)
	for _, a := range ambiguousNames {
		for name := range strings.FieldsSeq(a.names) {
			if _, ok := c.named(name); !ok {
				all[name] = a.unit
			}
		}
	}
	return all
}

// beside looks for a currency right behind a number, then right before it.
func (c currencyWords) beside(runes []rune, n numeral) (unit, bool) {
	if u, ok := c.after(runes, n.end); ok {
		return u, true
	}
	return c.before(runes, n.start)
}

// before looks for a currency right before a number. One that stands nearer to a number
// before itself is that one's: "240 EUR (8 evenings)".
func (c currencyWords) before(runes []rune, i int) (unit, bool) {
	end := i
	for end > 0 && (isGap(runes[end-1]) || strings.ContainsRune(":=", runes[end-1])) {
		end--
	}
	start := end
	sign := end > 0 && unicode.Is(unicode.Sc, runes[end-1])
	dotted := end > 0 && runes[end-1] == '.'
	if sign || dotted {
		start--
	}
	for start > 0 && unicode.IsLetter(runes[start-1]) {
		start--
	}
	word, own := strings.TrimSuffix(string(runes[start:end]), "."), apart(runes[end:i])
	switch {
	case dotted && !isAbbreviation(word): // the end of a sentence
		return "", false
	case numberBefore(runes[:start]) < own, own == marked && numberBefore(runes[:start]) == marked:
		return "", false
	case sign:
		return ofSign(runes[end-1]), true
	}
	return c.named(word)
}

// after looks for a currency right behind a number. One that stands nearer to a number
// behind itself is that one's: "Level 2 (€240)".
func (c currencyWords) after(runes []rune, i int) (unit, bool) {
	if i+1 < len(runes) && strings.ContainsRune(".,", runes[i]) && strings.ContainsRune("-–—", runes[i+1]) {
		i += 2 // 240,– EUR
	}
	start := i
	for start < len(runes) && (isGap(runes[start]) || runes[start] == '/') {
		start++
	}
	end := wordEnd(runes, start)
	sign := end < len(runes) && unicode.Is(unicode.Sc, runes[end])
	beyond := runes[end:]
	if sign {
		beyond = runes[end+1:]
	}
	if numberBehind(beyond) < apart(runes[i:start]) {
		return "", false
	}
	if sign && (end == start || runes[end] == '$') { // 350 €, 350 US$
		return ofSign(runes[end]), true
	}
	return c.named(string(runes[start:end]))
}

// distance is how far a currency stands from a number.
type distance int

const (
	touching distance = iota
	spaced
	marked // with markup or brackets between
	absent // there is no number
)

// apart is the distance that a gap makes.
func apart(gap []rune) distance {
	switch {
	case len(gap) == 0:
		return touching
	case slices.ContainsFunc(gap, func(r rune) bool { return !isBlank(r) }):
		return marked
	}
	return spaced
}

// numberBehind is the distance of the number that follows.
func numberBehind(runes []rune) distance {
	for i, r := range runes {
		switch {
		case unicode.IsDigit(r):
			return apart(runes[:i])
		case !isGap(r):
			return absent
		}
	}
	return absent
}

// numberBefore is the distance of the number that ends before.
func numberBefore(runes []rune) distance {
	for i := len(runes); i > 0; i-- {
		switch r := runes[i-1]; {
		case unicode.IsDigit(r):
			return apart(runes[i:])
		case !isGap(r):
			return absent
		}
	}
	return absent
}

// isAbbreviation reports whether a currency's word is written with a point: Rs. 500.
func isAbbreviation(word string) bool {
	return strings.EqualFold(word, "rs") || strings.EqualFold(word, "kr")
}

func isBlank(r rune) bool { return r != '\n' && unicode.IsSpace(r) }

// isGap reports whether a rune may stand between a number and its currency: space,
// markup or a bracket.
func isGap(r rune) bool { return isBlank(r) || strings.ContainsRune("*_~`()[]", r) }

// wordEnd is where the word that begins at i ends.
func wordEnd(runes []rune, i int) int {
	for i < len(runes) && unicode.IsLetter(runes[i]) {
		i++
	}
	return i
}

// named is the unit that a word names, if it names one.
func (c currencyWords) named(word string) (unit, bool) {
	if word == "" {
		return "", false
	}
	lower := strings.ToLower(word)
	for _, own := range append(strings.Fields(string(ambiguous(lower))), strings.ToUpper(word), lower) {
		if u, ok := c[own]; ok {
			return u, true
		}
	}
	if tenant.Currency(word).Valid() && !strings.Contains(" ALL CUP MOP TOP TRY ", " "+word+" ") {
		return unit(word), true
	}
	for _, currency := range currencyNames {
		if isName(lower, currency.names) {
			return currency.unit, true
		}
	}
	return "", false
}

// learn adds the word that stands behind a price in a catalog's text, unless it also
// stands behind a number that is no price: then it may count anything. It stands for
// the catalog's main currency.
func (c currencyWords) learn(texts []string, prices moneyFacts, main unit) {
	behind := map[string]bool{} // word: only ever behind prices
	for _, text := range texts {
		runes := []rune(plain(text))
		for _, n := range numerals(runes) {
			i := n.end
			for i < len(runes) && isBlank(runes[i]) {
				i++
			}
			word := strings.ToLower(string(runes[i:wordEnd(runes, i)]))
			if len(word) < 3 {
				continue
			}
			only, seen := behind[word]
			behind[word] = (only || !seen) && prices.holds(n.amount(runes))
		}
	}
	for word, only := range behind {
		if only {
			c[word] = main
		}
	}
}
