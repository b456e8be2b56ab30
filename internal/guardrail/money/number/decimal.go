// Package number reads what numerals and the words of numbers say. A canonical decimal has
// ASCII digits, no separators, a point before a fraction, and no zeros that say nothing.
package number

import (
	"strconv"
	"strings"
	"unicode"
)

// Readings are the ways a numeral of any script and locale can be read, as canonical
// decimals: no separators, a point, no zeros that say nothing. Three digits after one
// separator are a group of thousands, or else thousandths.
func Readings(numeral string) (sure []string, thousandths string) {
	digits := Plain(numeral)
	last := strings.LastIndexAny(digits, ".,")
	if last < 0 {
		return []string{Canonical(digits, "")}, ""
	}
	whole, rest := digits[:last], digits[last+1:]
	other := strings.ContainsAny(whole, ".,")
	same := other && !strings.ContainsAny(whole, strings.Trim(".,", digits[last:last+1]))
	switch {
	case same: // 1.200.000, 1,20,000
		return []string{Canonical(whole+rest, "")}, ""
	case !other && len(rest) == 3 && whole != "0": // 1.200
		return []string{Canonical(whole+rest, "")}, Canonical(whole, rest)
	}
	return []string{Canonical(whole, rest)}, ""
}

// Plain writes a numeral in ASCII digits with points and commas only.
func Plain(numeral string) string {
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

func Canonical(whole, fraction string) string {
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

// Shift multiplies a canonical decimal by a power of ten.
func Shift(decimal string, power int) string {
	whole, fraction, _ := strings.Cut(decimal, ".")
	for len(fraction) < power {
		fraction += "0"
	}
	return Canonical(whole+fraction[:power], fraction[power:])
}

// Sum adds a whole number, or none, to a canonical decimal.
func Sum(whole, decimal string) string {
	if whole == "" {
		return decimal
	}
	rest, fraction, _ := strings.Cut(decimal, ".")
	a, errA := strconv.ParseInt(whole, 10, 64)
	b, errB := strconv.ParseInt(rest, 10, 64)
	if errA != nil || errB != nil || a+b < 0 {
		return decimal
	}
	return Canonical(strconv.FormatInt(a+b, 10), fraction)
}

// Fraction is a canonical whole number in a unit of so many decimals.
func Fraction(whole string, decimals int) string {
	if strings.Contains(whole, ".") {
		return whole // 1.5 cents: no price
	}
	padded := strings.Repeat("0", decimals) + whole
	return Canonical(padded[:len(padded)-decimals], padded[len(padded)-decimals:])
}
