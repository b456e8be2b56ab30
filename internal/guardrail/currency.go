package guardrail

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// currencyWords are the codes and the lower-case words that a catalog has for its
// currencies.
type currencyWords map[string]unit

// The beginnings of currency names that mean nothing else beside a number; up to two
// letters may follow. They recognise amounts, also in currencies that the catalog does
// not use; the second list is of names under the $ sign.
const (
	euroNames   = " euro evro ευρώ евро "
	dollarNames = " dollar dólar dolar доллар peso reais "
	otherNames  = " franc franken yen yuan rupee rupia rupiah roupie rublo rubel ruble рубл руб грн гривн złot zł zloty lira lire" +
		" dirham riyal dinar baht ringgit shekel quetzal guaraní lempira colones bolívar soles krona kronor krone kroner kr 円 元 원 "
)

// ambiguous names are words for other things too: each counts only for a catalog in
// its currency.
func ambiguous(word string) []string {
	switch word {
	case "pound", "pounds", "libra", "libras":
		return []string{"GBP", "EGP"}
	case "rand":
		return []string{"ZAR"}
	case "lei":
		return []string{"RON", "MDL"}
	case "real":
		return []string{"BRL"}
	case "won":
		return []string{"KRW"}
	case "sol":
		return []string{"PEN"}
	case "rs":
		return []string{"INR", "PKR", "LKR", "NPR"}
	}
	return nil
}

// beside looks for a currency right behind a number, then right before it.
func (c currencyWords) beside(runes []rune, n numeral) (unit, bool) {
	if u, ok := c.after(runes, n.end); ok {
		return u, true
	}
	return c.before(runes, n.start)
}

func (c currencyWords) before(runes []rune, i int) (unit, bool) {
	i = backOverSpace(runes, i)
	if i > 0 && unicode.Is(unicode.Sc, runes[i-1]) {
		return ofSign(runes[i-1]), true
	}
	dotted := i > 0 && runes[i-1] == '.'
	if dotted {
		i--
	}
	end := i
	for i > 0 && unicode.IsLetter(runes[i-1]) {
		i--
	}
	word := string(runes[i:end])
	if dotted && !isAbbreviation(word) {
		return "", false // the end of a sentence
	}
	return c.named(word)
}

func (c currencyWords) after(runes []rune, i int) (unit, bool) {
	if i+1 < len(runes) && strings.ContainsRune(".,", runes[i]) && strings.ContainsRune("-–—", runes[i+1]) {
		i += 2 // 240,– EUR
	}
	for i < len(runes) && isBlank(runes[i]) {
		i++
	}
	if i < len(runes) && unicode.Is(unicode.Sc, runes[i]) {
		return ofSign(runes[i]), true
	}
	end := wordEnd(runes, i)
	if end < len(runes) && runes[end] == '$' {
		return dollar, true // 350 US$
	}
	return c.named(string(runes[i:end]))
}

// isAbbreviation reports whether a currency's word is written with a point: Rs. 500.
func isAbbreviation(word string) bool {
	return strings.EqualFold(word, "rs") || strings.EqualFold(word, "kr")
}

func backOverSpace(runes []rune, i int) int {
	for i > 0 && isBlank(runes[i-1]) {
		i--
	}
	return i
}

func isBlank(r rune) bool { return r != '\n' && unicode.IsSpace(r) }

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
	for _, own := range append(ambiguous(lower), strings.ToUpper(word), lower) {
		if u, ok := c[own]; ok {
			return u, true
		}
	}
	switch {
	case tenant.Currency(word).Valid() && !strings.Contains(" ALL CUP MOP TOP TRY ", " "+word+" "):
		return unit(word), true
	case isName(lower, euroNames):
		return "EUR", true
	case isName(lower, dollarNames):
		return dollar, true
	}
	return "", isName(lower, otherNames)
}

// isName reports whether a word is one of names with at most two letters after it.
func isName(word, names string) bool {
	runes := []rune(word)
	for ending := 0; ending <= 2 && ending < len(runes); ending++ {
		if strings.Contains(names, " "+string(runes[:len(runes)-ending])+" ") {
			return true
		}
	}
	return false
}

// learn adds the word that stands behind a price in a catalog's text, unless it also
// stands behind a number that is no price: then it may count anything. It stands for
// the catalog's main currency.
func (c currencyWords) learn(texts []string, prices moneyFacts, main unit) {
	behind := map[string]bool{} // word: only ever behind prices
	for _, text := range texts {
		runes := []rune(text)
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
			behind[word] = (only || !seen) && prices.holds(amount{readings: n.readings(runes)})
		}
	}
	for word, only := range behind {
		if only {
			c[word] = main
		}
	}
}
