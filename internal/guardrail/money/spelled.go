package money

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
)

// spelled finds the amounts of which the number is written in words: "two hundred and
// forty euros", "zweihundertvierzig Euro", "五千円", "five euros and fifty cents". One
// alone is an article in many languages and no amount.
func (c currencyWords) spelled(text string) []amount {
	var out []amount
	var run []int   // the number that ends before this word
	just := false   // the word before made an amount
	open := false   // only "and" and number words stand between the last amount and this word
	scaled := false // a numeral stands before this word, whose magnitude it may be
	for word, joined := range words(text) {
		if !joined {
			run, open, scaled = nil, false, false
		}
		if first, _ := utf8.DecodeRuneInString(word); unicode.IsDigit(first) {
			if joined && just {
				out = out[:len(out)-1] // two EUR 240: the currency is of the numeral
			}
			run, just, open, scaled = nil, false, false, true
			continue
		}
		just = false
		values, ok := number.Of(word)
		switch {
		case scaled && (ok || word[0] >= 0x80) && magnitudes[foldName(word)] > 0:
			continue
		case ok && !(open && run != nil && minorNames[foldName(word)] > 0): // a French hundred behind an amount is cents
			run, scaled = append(run, values...), false
			continue
		case (run != nil || open) && (ands[strings.ToLower(word)] || withs[strings.ToLower(word)]):
			continue
		}
		scaled = false
		a, ok := c.spelledAmount(number.Total(run), word)
		run = nil
		switch {
		case !ok:
			open = false
			continue
		case open && a.minor > 0:
			last := &out[len(out)-1]
			last.readings = []string{number.Sum(last.readings[0], a.readings[0])}
			open = false
			continue
		}
		out = append(out, a)
		just, open = true, a.minor == 0
	}
	return out
}

// spelledAmount is the amount that a number makes with the word behind it, which may be
// Han numerals with their currency.
func (c currencyWords) spelledAmount(value int, word string) (amount, bool) {
	name := word
	if value == 0 && word[0] >= 0x80 {
		value, name = number.Han(word)
	}
	if value < 2 {
		return amount{}, false
	}
	found, ok := c.named(name)
	if sign, _ := utf8.DecodeRuneInString(name); unicode.Is(unicode.Sc, sign) {
		found, ok = currency{unit: ofSign("", sign)}, true
	}
	if !ok {
		return amount{}, false
	}
	reading := strconv.Itoa(value)
	if found.minor > 0 {
		reading = number.Fraction(reading, found.minor)
	}
	return amount{readings: []string{reading}, currency: found}, true
}

// words are the words, the currency signs and the numerals of a text, and whether only
// spaces, or a hyphen, join each to the one before.
func words(text string) func(yield func(string, bool) bool) {
	return func(yield func(string, bool) bool) {
		for rest, joined := text, false; rest != ""; {
			end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) })
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				r, size := utf8.DecodeRuneInString(rest)
				end = size
				switch {
				case unicode.Is(unicode.Sc, r):
					if !yield(rest[:end], joined) {
						return
					}
					joined = false
				case !isGap(r) && r != '-':
					joined = false
				}
				rest = rest[end:]
				continue
			}
			if !yield(rest[:end], joined) {
				return
			}
			rest, joined = rest[end:], true
		}
	}
}
