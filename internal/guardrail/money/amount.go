package money

import (
	"slices"
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// amount is one amount of money in a text.
type amount struct {
	readings []string // canonical decimals it may mean; none: nothing that a catalog holds
	// thousandths is what "1.200" means in a currency of three decimals, where it may be
	// 1.2 as well as 1200; empty: nothing else.
	thousandths string
	currency
}

// amounts finds the amounts of money in a text: a numeral beside a currency, and what
// stands in a range or a list with one.
func amounts(text string, words currencyWords) []amount {
	folded := visible.Text(text)
	out := words.spelled(folded)
	if !strings.ContainsFunc(folded, unicode.IsDigit) {
		return out
	}
	runes := []rune(folded)
	found := join(runes, words.numerals(runes))
	for i := range found {
		n := &found[i]
		if !n.isClock(runes) && !n.isItem(runes) {
			if found, reach, ok := words.beside(runes, *n); ok {
				n.currency, n.reach, n.money = found, reach, true
			}
		}
		if n.sign != 0 {
			n.currency, n.reach, n.money = currency{unit: ofSign("", n.sign)}, n.end, true
		}
	}
	spread(runes, found)
	for i := 0; i < len(found); i++ {
		n := found[i]
		if !n.money {
			continue
		}
		a := n.amount(runes)
		if i+1 < len(found) {
			if decimals := n.minorBehind(runes, found[i+1]); decimals > 0 {
				a = n.withMinor(runes, found[i+1], decimals)
				i++
			}
		}
		out = append(out, a)
	}
	return out
}

// numeral is where a number stands in a text, in runes.
type numeral struct {
	start, end   int
	digits, last int    // where its digits begin and end: words of magnitude follow, and larger parts of it come before
	reach        int    // where the currency behind it ends, or the number
	power        int    // its words of magnitude multiply it with this power of ten: 2k, 1.2 thousand
	added        string // what the larger parts of it say: the 1万 of 1万2,800; empty: there is none
	money        bool   // a currency stands beside it
	sign         rune   // the currency sign in the place of its decimal point: 2€50; 0: none
	currency
}

// numerals finds the numbers of a text, with the separators inside them.
func (c currencyWords) numerals(runes []rune) []numeral {
	out := make([]numeral, 0, 4)
	for i := 0; i < len(runes); i++ {
		if !unicode.IsDigit(runes[i]) {
			continue
		}
		n := numeral{start: i, digits: i}
		for i < len(runes) && (unicode.IsDigit(runes[i]) || separates(runes, i, n.start)) {
			i++
		}
		if i < len(runes) && unicode.Is(unicode.Sc, runes[i]) && digitsFrom(runes, i+1) == 2 && n.isWhole(runes[:i]) &&
			(i+3 == len(runes) || !unicode.Is(unicode.Sc, runes[i+3])) {
			n.sign = runes[i]
			i += 3
		}
		n.last = i
		n.end, n.power = overMagnitude(runes, i)
		if n.power == 0 {
			n.end, n.power = c.overLetter(runes, n)
		}
		i = n.end
		n.reach = n.end
		if !n.isDate(runes) {
			out = append(out, n)
		}
		i-- // the loop goes on behind it
	}
	return out
}

// isDate reports whether a number is a day, a month and a year with points between.
func (n numeral) isDate(runes []rune) bool {
	if n.last-n.digits < len("1.1.2026") || n.last-n.digits > len("31.12.2026") {
		return false
	}
	day, rest, _ := strings.Cut(string(runes[n.digits:n.last]), ".")
	month, year, _ := strings.Cut(rest, ".")
	return len(year) == 4 && len(day) <= 2 && len(month) <= 2 && !strings.ContainsAny(day+month+year, ".,'’")
}

// isWhole reports whether a number, which ends with the runes, has no fraction.
func (n numeral) isWhole(runes []rune) bool {
	sure, _ := number.Readings(string(runes[n.start:]))
	return !strings.Contains(sure[0], ".")
}

// isClock reports whether a number is part of a time of day or of a ratio: 18:30, 9 Uhr.
func (n numeral) isClock(runes []rune) bool {
	colon := func(i int) bool {
		return i > 0 && i+1 < len(runes) && runes[i] == ':' && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
	}
	return colon(n.start-1) || colon(n.end) || isNext(runes, n.end, "uhr")
}

// isItem reports whether a number counts the items of a list: 2) 240 EUR
func (n numeral) isItem(runes []rune) bool {
	if n.end == len(runes) || runes[n.end] != ')' || n.end-n.start > 2 || n.start > 0 && !isGap(runes[n.start-1]) {
		return false
	}
	for i := n.start - 1; i >= 0; i-- {
		if runes[i] == '(' || runes[i] == ')' {
			return runes[i] == ')'
		}
	}
	return true
}

// isLabelled reports whether a word such as "no." stands before the number at start, or
// one that it is part of and that is no currency: m²
func isLabelled(runes []rune, start int) bool {
	if word := string(runes[wordStart(runes, start):start]); word != "" {
		return !tenant.Currency(strings.ToUpper(word)).Valid() &&
			!slices.ContainsFunc([]names{currencyNames, ambiguousNames, ownNames}, func(n names) bool { return n.has(foldName(word)) })
	}
	for start > 0 && (isBlank(runes[start-1]) || strings.ContainsRune(".°#", runes[start-1])) {
		start--
	}
	return labels[strings.ToLower(string(runes[wordStart(runes, start):start]))]
}

// separates reports whether the rune at i separates digits of the number that begins
// at start. White space does so only between a group of one to three and groups of
// exactly three.
func separates(runes []rune, i, start int) bool {
	if i+1 >= len(runes) || !unicode.IsDigit(runes[i+1]) {
		return false
	}
	switch runes[i] {
	case '.', ',', '\'', '’', '٫', '٬':
		return true
	case ' ', '\u2009', '\u202f':
		return !isLabelled(runes, start) && digitsFrom(runes, i+1) == 3 && digitsFrom(runes, start) <= 3 && i-start <= 11
	}
	return false
}

// wordBehind is the word that follows, with spaces between or not; empty: there is none.
func wordBehind(runes []rune, i int) string {
	for i < len(runes) && isBlank(runes[i]) {
		i++
	}
	return string(runes[i:wordEnd(runes, i)])
}

func digitsFrom(runes []rune, i int) int {
	n := 0
	for i+n < len(runes) && unicode.IsDigit(runes[i+n]) {
		n++
	}
	return n
}

// amount is what the numeral says.
func (n numeral) amount(runes []rune) amount {
	a := amount{currency: n.currency}
	switch {
	case n.sign != 0:
		a.readings, a.thousandths = number.Readings(strings.Replace(string(runes[n.digits:n.last]), string(n.sign), ".", 1))
	case n.power > 0 || n.added != "":
		a.readings = []string{n.value(runes)}
	default:
		a.readings, a.thousandths = number.Readings(string(runes[n.digits:n.last]))
	}
	if n.minor > 0 {
		a.readings, a.thousandths = []string{number.Fraction(a.readings[0], n.minor)}, ""
	}
	return a
}
