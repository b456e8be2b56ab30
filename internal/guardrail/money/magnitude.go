package money

import (
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// maxPower bounds what magnitudes make of a number, as a power of ten. No price is near.
const maxPower = 12

// overMagnitude is where a number that ends at i ends with its words of magnitude, and
// the power of ten that they multiply it with.
func overMagnitude(runes []rune, i int) (end, power int) {
	for power < maxPower {
		next, times := magnitudeAt(runes, i)
		if times == 0 {
			break
		}
		i, power = next, power+times
	}
	return i, power
}

// overFill is where what stands between a number and its magnitude ends: spaces and
// markup, or a hyphen.
func overFill(runes []rune, i int) int {
	if i+1 < len(runes) && isDash(runes[i]) && unicode.IsLetter(runes[i+1]) {
		return i + 1
	}
	for i < len(runes) && (isBlank(runes[i]) || strings.ContainsRune("*_~`", runes[i])) {
		i++
	}
	return i
}

func magnitudeAt(runes []rune, i int) (end, power int) {
	from := overFill(runes, i)
	if from == len(runes) {
		return i, 0
	}
	if power := number.RuneMagnitude(runes[from]); power > 0 {
		return from + 1, power
	}
	end = wordEnd(runes, from)
	touches := from == i || end < len(runes) && unicode.Is(unicode.Sc, runes[end])
	if touches && end == from+1 && strings.ContainsRune("kKM", runes[from]) {
		return end, number.LetterMagnitude(runes[from:end])
	}
	if power = number.Magnitude(runes[from:end]); power == 0 {
		return i, 0
	}
	if end < len(runes) && runes[end] == '.' && end-from <= 4 { // Tsd.
		end++
	}
	return end, power
}

// overLetter is where a number ends with a letter of magnitude beside a currency, and the
// power of ten: 2 k EUR, €120 K, 5 TEUR, 5k円.
func (c currencyWords) overLetter(runes []rune, n numeral) (end, power int) {
	from := overFill(runes, n.last)
	end = wordEnd(runes, from)
	if end == from+4 && tenant.Currency(runes[from+1:end]).Valid() || end > from+1 && runes[from] < 0x80 && runes[from+1] >= 0x80 {
		end = from + 1
	}
	power = number.LetterMagnitude(runes[from:end])
	if power == 0 || end < len(runes) && (unicode.IsDigit(runes[end]) || runes[end] == '/' || isDash(runes[end]) && runes[from] != 'k') {
		return n.last, 0
	}
	if _, reach, ok := c.after(runes, end); ok && numberBehind(runes[reach:]) > spaced {
		return end, power
	}
	n.end = end
	if _, ok := c.before(runes, n); ok && (strings.ContainsRune("kKMB", runes[from]) && end == from+1 || n.standsAlone(runes)) {
		return end, power
	}
	return n.last, 0
}

// join puts together the numbers that say one in parts, each smaller than the magnitude
// of the one before: 1万2,800, 1 lakh 25 thousand.
func join(runes []rune, found []numeral) []numeral {
	out := found[:0]
	for _, n := range found {
		if last := len(out) - 1; last >= 0 && out[last].continues(runes, n) {
			first := out[last]
			n.start, n.added = first.start, first.value(runes)
			out[last] = n
			continue
		}
		out = append(out, n)
	}
	return out
}

// continues reports whether the next number is the smaller part of this one.
func (n numeral) continues(runes []rune, next numeral) bool {
	if n.power < 3 || strings.ContainsRune("kKmMTbB", runes[n.end-1]) || next.isClock(runes) {
		return false
	}
	between := strings.ToLower(strings.TrimSpace(string(runes[n.end:next.start])))
	if between != "" && between != "و" && between != "ve" {
		return false
	}
	mine, theirs := n.value(runes), next.value(runes)
	whole, _, _ := strings.Cut(theirs, ".")
	return len(whole) <= n.power && strings.HasSuffix(mine, strings.Repeat("0", len(whole))) && !strings.ContainsAny(mine, ".,")
}

// value is what a number says with its magnitudes. Three digits behind a separator are
// thousands before them: 1,200 thousand is 1.2 million.
func (n numeral) value(runes []rune) string {
	sure, _ := number.Readings(string(runes[n.digits:n.last]))
	return number.Sum(n.added, number.Shift(sure[0], n.power))
}
