package guardrail

import (
	"strings"
	"unicode"
)

// amount is one amount of money in a text.
type amount struct {
	readings []string // canonical decimals it may mean; none: nothing that a catalog holds
	// thousandths is what "1.200" means in a currency of three decimals, where it may be
	// 1.2 as well as 1200; empty: nothing else.
	thousandths string
	unit        unit
}

// amounts finds the amounts of money in a text: a numeral beside a currency sign, an
// ISO code or a currency word, and the other end of a range with one.
func amounts(text string, words currencyWords) []amount {
	if !strings.ContainsFunc(text, unicode.IsNumber) {
		return nil
	}
	runes := []rune(plain(text))
	found := numerals(runes)
	for i := range found {
		found[i].unit, found[i].money = words.beside(runes, found[i])
	}
	spreadOverRanges(runes, found)
	var out []amount
	for _, n := range found {
		if n.money {
			out = append(out, n.amount(runes))
		}
	}
	return out
}

// numeral is where a number stands in a text, in runes.
type numeral struct {
	start, end int
	scaled     bool // a word of magnitude is part of it: 2k, 1.2 thousand
	money      bool // a currency stands beside it
	unit       unit // which
}

// numerals finds the numbers of a text, with the separators inside them.
func numerals(runes []rune) []numeral {
	var out []numeral
	for i := 0; i < len(runes); i++ {
		if !unicode.IsDigit(runes[i]) {
			continue
		}
		n := numeral{start: i}
		for i < len(runes) && (unicode.IsDigit(runes[i]) || separates(runes, i, n.start)) {
			i++
		}
		n.end, n.scaled = overMagnitude(runes, i)
		i = n.end
		out = append(out, n)
	}
	return out
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
		ofWord := start > 0 && unicode.IsLetter(runes[start-1]) // m² 240
		return !ofWord && digitsFrom(runes, i+1) == 3 && digitsFrom(runes, start) <= 3 && i-start <= 11
	}
	return false
}

// The words that multiply the number before them. Nobody's catalog writes its prices
// so, and a rounded price is none of its own.
const magnitudes = " thousand thousands hundred million millions billion mil mila mille miles millón millones milhão milhões" +
	" million millionen milliarden mille milioni tausend tsd mio mrd χιλιάδες χιλ εκατομμύρια тысяч тысячи тыс млн lakh lakhs crore "

// overMagnitude is where a number that ends at i ends with its word of magnitude.
func overMagnitude(runes []rune, i int) (end int, scaled bool) {
	from := i
	for from < len(runes) && isBlank(runes[from]) {
		from++
	}
	end = wordEnd(runes, from)
	switch word := string(runes[from:end]); {
	case word == "":
		return i, false
	case strings.ContainsRune("万萬千億亿만천", runes[from]):
		return from + 1, true
	case from == i && (word == "k" || word == "K" || word == "M"), strings.Contains(magnitudes, " "+strings.ToLower(word)+" "):
		return end, true
	}
	return i, false
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
	a := amount{unit: n.unit}
	if !n.scaled {
		a.readings, a.thousandths = readings(string(runes[n.start:n.end]))
	}
	return a
}

// spreadOverRanges marks both ends of a range of which one has a currency.
func spreadOverRanges(runes []rune, found []numeral) {
	for i := len(found) - 1; i > 0; i-- {
		if found[i].money && !found[i-1].money && isRange(runes, found[i-1], found[i]) {
			found[i-1].money, found[i-1].unit = true, found[i].unit
		}
	}
	for i := 1; i < len(found); i++ {
		if found[i-1].money && !found[i].money && isRange(runes, found[i-1], found[i]) {
			found[i].money, found[i].unit = true, found[i-1].unit
		}
	}
}

// isRange reports whether two neighbouring numbers are the ends of a range: a dash or
// a word such as "to" between them. A time of day is no end, nor is a single digit
// before a spaced dash or an "and", which is more often the number of a thing.
func isRange(runes []rune, from, to numeral) bool {
	if from.start > 0 && strings.ContainsRune(":/-.", runes[from.start-1]) {
		return false
	}
	between := string(runes[from.end:to.start])
	switch joint := strings.ToLower(strings.TrimSpace(between)); joint {
	case "-", "–", "—", "−", "~", "〜", "/":
		return joint == between || from.end-from.start > 1
	case "and", "or", "y", "e", "o", "u", "ou", "und", "oder":
		return from.end-from.start > 1
	case "…", "...", "until", "through", "to", "a", "à", "até", "bis", "hasta", "до", "έως", "ως":
		return true
	}
	return false
}

// readings are the ways a numeral of any script and locale can be read, as canonical
// decimals: no separators, a point, no zeros that say nothing. Three digits after one
// separator are a group of thousands, or else thousandths.
func readings(numeral string) (sure []string, thousandths string) {
	digits := plainDigits(numeral)
	last := strings.LastIndexAny(digits, ".,")
	if last < 0 {
		return []string{canonical(digits, "")}, ""
	}
	whole, rest := digits[:last], digits[last+1:]
	other := strings.ContainsAny(whole, ".,")
	same := other && !strings.ContainsAny(whole, strings.Trim(".,", digits[last:last+1]))
	switch {
	case same: // 1.200.000
		return []string{canonical(whole+rest, "")}, ""
	case !other && len(rest) == 3 && whole != "0": // 1.200
		return []string{canonical(whole+rest, "")}, canonical(whole, rest)
	}
	return []string{canonical(whole, rest)}, ""
}

// plainDigits writes a numeral in ASCII digits with points and commas only.
func plainDigits(numeral string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsDigit(r):
			return '0' + digitValue(r)
		case r == '٫':
			return '.'
		case r == '.', r == ',':
			return r
		}
		return -1
	}, numeral)
}

// digitValue is 0 to 9. Unicode keeps the decimal digits of every script in runs of
// ten that begin with zero.
func digitValue(r rune) rune {
	if r <= '9' {
		return r - '0'
	}
	for _, t := range unicode.Nd.R16 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	for _, t := range unicode.Nd.R32 {
		if rune(t.Lo) <= r && r <= rune(t.Hi) {
			return (r - rune(t.Lo)) % 10
		}
	}
	return 0
}

func canonical(whole, fraction string) string {
	whole = strings.NewReplacer(".", "", ",", "").Replace(whole)
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}
