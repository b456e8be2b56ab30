package money

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
	folded := plain(text)
	out := words.spelled(folded)
	if !strings.ContainsFunc(folded, unicode.IsDigit) {
		return out
	}
	runes := []rune(folded)
	found := numerals(runes)
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
	for i, n := range found {
		if n.money && !(i > 0 && found[i-1].joinsCents(runes, n)) {
			a := n.amount(runes)
			if i+1 < len(found) && n.joinsCents(runes, found[i+1]) {
				a = n.withCents(runes, found[i+1])
			}
			out = append(out, a)
		}
	}
	return out
}

// plain folds compatibility forms, such as full width, and takes out characters that
// do not show.
func plain(text string) string {
	if isASCII(text) {
		return text
	}
	return strings.Map(func(r rune) rune {
		if r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Variation_Selector) || r == '\u034f' {
			return -1
		}
		return r
	}, norm.NFKC.String(text))
}

func isASCII(text string) bool {
	for i := range len(text) {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}

// numeral is where a number stands in a text, in runes.
type numeral struct {
	start, end int
	reach      int  // where the currency behind it ends, or the number
	scaled     bool // a word of magnitude is part of it: 2k, 1.2 thousand
	money      bool // a currency stands beside it
	sign       rune // the currency sign in the place of its decimal point: 2€50; 0: none
	currency
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
		if i < len(runes) && unicode.Is(unicode.Sc, runes[i]) && digitsFrom(runes, i+1) == 2 && n.isWhole(runes[:i]) &&
			(i+3 == len(runes) || !unicode.Is(unicode.Sc, runes[i+3])) {
			n.sign = runes[i]
			i += 3
		}
		n.end, n.scaled = overMagnitude(runes, i)
		i = n.end
		n.reach = n.end
		out = append(out, n)
	}
	return out
}

// isWhole reports whether a number, which ends with the runes, has no fraction.
func (n numeral) isWhole(runes []rune) bool {
	sure, _ := readings(string(runes[n.start:]))
	return !strings.Contains(sure[0], ".")
}

// isClock reports whether a number is part of a time of day or of a ratio: 18:30.
func (n numeral) isClock(runes []rune) bool {
	colon := func(i int) bool {
		return i > 0 && i+1 < len(runes) && runes[i] == ':' && unicode.IsDigit(runes[i-1]) && unicode.IsDigit(runes[i+1])
	}
	return colon(n.start-1) || colon(n.end)
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
			!slices.ContainsFunc([]names{currencyNames, ambiguousNames, ownNames}, func(n names) bool { return n.has(strings.ToLower(word)) })
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

// magnitudes multiply the number before them. Nobody's catalog writes its prices so, and
// a rounded price is none of its own.
var magnitudes = wordSet(`thousand thousands hundred million millions billion mil mila mille miles millón millones milhão milhões
	millionen milliarden milioni tausend tsd mio mrd χιλιάδες χιλ εκατομμύρια тысяч тысячи тысяча тыс млн lakh lakhs lac crore
	हज़ार हजार लाख करोड़ ألف الف آلاف مليون هزار میلیون bin milyon tys tysiące tysięcy mln tisíc mii tusen tusind duizend ribu rb juta jt
	nghìn ngàn triệu`)

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
	case strings.ContainsRune("万萬千億亿만천พันหมแสล้", runes[from]) && !unicode.IsMark(runes[from]) && scales(word):
		return from + 1, true
	case (word == "k" || word == "K" || word == "M") && (from == i || end < len(runes) && unicode.Is(unicode.Sc, runes[end])),
		magnitudes[strings.ToLower(word)]:
		if end < len(runes) && runes[end] == '.' { // Tsd.
			end++
		}
		return end, true
	}
	return i, false
}

// scales reports whether a word of a script without spaces begins with a magnitude.
func scales(word string) bool {
	for _, m := range strings.Fields("万 萬 千 億 亿 만 천 พัน หมื่น แสน ล้าน") {
		if strings.HasPrefix(word, m) {
			return true
		}
	}
	return false
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
	if n.scaled {
		return a
	}
	digits := string(runes[n.start:n.end])
	if n.sign != 0 {
		digits = strings.Replace(digits, string(n.sign), ".", 1)
	}
	a.readings, a.thousandths = readings(digits)
	if n.cents {
		a.readings, a.thousandths = []string{hundredth(a.readings[0])}, ""
	}
	return a
}

// joinsCents reports whether a whole amount and the hundredths behind it are one: "2 euros
// and 50 cents".
func (n numeral) joinsCents(runes []rune, next numeral) bool {
	if !n.money || n.cents || n.scaled || !next.money || !next.cents || next.end-next.start > 2 || !n.isWhole(runes[:n.end]) {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(string(runes[n.reach:next.start])))
	return n.reach > n.end && (between == "" || ands[between])
}

func (n numeral) withCents(runes []rune, cents numeral) amount {
	sure, _ := readings(string(runes[n.start:n.end]))
	fraction := plainDigits(string(runes[cents.start:cents.end]))
	if len(fraction) == 1 {
		fraction = "0" + fraction
	}
	return amount{readings: []string{canonical(sure[0], fraction)}, currency: n.currency}
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
	case same: // 1.200.000, 1,20,000
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
	whole = strings.ReplaceAll(strings.ReplaceAll(whole, ".", ""), ",", "")
	whole = strings.TrimLeft(whole, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction = strings.TrimRight(fraction, "0"); fraction != "" {
		return whole + "." + fraction
	}
	return whole
}

// hundredth is a canonical whole number divided by a hundred.
func hundredth(whole string) string {
	padded := "00" + whole
	if strings.Contains(whole, ".") {
		return whole // 1.5 cents: no price
	}
	return canonical(padded[:len(padded)-2], padded[len(padded)-2:])
}
