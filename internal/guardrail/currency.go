package guardrail

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// unit is the currency that stands beside a number: an ISO code, a sign or name that
// several currencies share ("$", "¥"), or empty for a word that may be any.
type unit string

const (
	dollar unit = "$"
	yen    unit = "¥"
)

// is reports whether two units may be the same currency.
func (u unit) is(other unit) bool {
	return u == other || u == "" || other == "" || u.covers(other) || other.covers(u)
}

// covers reports whether a shared sign stands for a code too.
func (u unit) covers(code unit) bool {
	const dollars = " ARS AUD BBD BMD BND BRL BSD BZD CAD CLP COP CUP DOP FJD GYD HKD JMD KYD LRD MXN NAD NIO NZD PHP SBD SGD SRD TTD TWD USD UYU XCD "
	switch u {
	case dollar:
		return strings.Contains(dollars, " "+string(code)+" ")
	case yen:
		return code == "JPY" || code == "CNY"
	}
	return false
}

// ofSign is the unit of a currency sign; empty when more than one country uses it.
func ofSign(sign rune) unit {
	switch sign {
	case '$':
		return dollar
	case '¥', '￥':
		return yen
	case '€':
		return "EUR"
	case '₹':
		return "INR"
	case '₽':
		return "RUB"
	case '₺':
		return "TRY"
	case '₴':
		return "UAH"
	case '₪':
		return "ILS"
	case '₫':
		return "VND"
	case '₦':
		return "NGN"
	}
	return ""
}

// currencyWords are the codes and the lower-case words that a catalog has for its
// currencies.
type currencyWords map[string]unit

// names are the beginnings of currency names that mean nothing else beside a number, in
// the languages that have them; up to two letters may follow. They recognise an amount
// in a currency that the catalog does not use.
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

// beside looks for a currency right before or right behind a number. Behind wins: in
// "240 EUR" after another amount only that one belongs to the number.
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
