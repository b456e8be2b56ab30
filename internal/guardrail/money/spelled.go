package money

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money/number"
)

// spelled finds the amounts of which the number is written in words: "two hundred and
// forty euros", "zweihundertvierzig Euro", "五千円", "five euros and fifty cents", "EUR two
// hundred". One alone is an article in many languages and no amount.
func (c currencyWords) spelled(text string) []amount {
	s := speller{known: c}
	for word, gap := range words(text) {
		s.read(word, gap)
	}
	s.lead(true)
	return s.out
}

// speller reads the words of a text in turn.
type speller struct {
	known  currencyWords
	out    []amount
	run    []int    // the number that ends before this word
	before string   // the word before the number, which may be its currency; empty: none, or another number's
	apart  distance // how far before it stands
	just   bool     // the word before made an amount
	open   bool     // only "and" and number words stand between the last amount and this word
	scaled bool     // a numeral stands before this word, whose magnitude it may be
}

func (s *speller) read(word string, gap distance) {
	if gap == absent {
		s.lead(true)
		s.run, s.before, s.open, s.scaled = nil, "", false, false
	}
	if first, _ := utf8.DecodeRuneInString(word); unicode.IsDigit(first) {
		if gap < absent && s.just {
			s.out = s.out[:len(s.out)-1] // two EUR 240: the currency is of the numeral
		}
		s.lead(false)
		s.run, s.before, s.just, s.open, s.scaled = nil, "", false, false, true
		return
	}
	s.just = false
	values, ok := number.Of(word)
	switch {
	case s.scaled && (ok || word[0] >= 0x80) && number.Magnitude([]rune(word)) > 0:
		return
	case ok && !(s.open && s.run != nil && minorNames[foldName(word)] > 0): // a French hundred behind an amount is cents
		if s.run == nil {
			s.apart = gap
		}
		s.run, s.scaled = append(s.run, values...), false
		return
	case (s.run != nil || s.open) && (ands[strings.ToLower(word)] || withs[strings.ToLower(word)]):
		return
	}
	s.end(word)
}

// end is for a word that is no part of a number.
func (s *speller) end(word string) {
	before := word
	a, ok := s.known.spelledAmount(number.Total(s.run), word)
	switch {
	case !ok && s.scaled:
		before, s.open = "", false // 240 EUR two evenings: the currency is of the numeral
	case !ok:
		s.lead(s.run != nil && pers[strings.ToLower(word)])
		s.open = false
	case s.open && a.minor > 0:
		last := &s.out[len(s.out)-1]
		last.readings = []string{number.Sum(last.readings[0], a.readings[0])}
		before, s.open = "", false
	default:
		s.out = append(s.out, a)
		before, s.just, s.open = "", true, a.minor == 0
	}
	s.run, s.before, s.scaled = nil, before, false
}

// lead adds the amount that a number makes with the currency before it. A name of one,
// or one in the line before, counts for a number that stands alone.
func (s *speller) lead(alone bool) {
	value := number.Total(s.run)
	if value < 2 || s.before == "" || !alone && s.before != strings.ToUpper(s.before) {
		return
	}
	found, ok := s.known.signed(s.before)
	if ok && found.minor == 0 && leads(s.before) && (alone || s.apart < broken) {
		s.out = append(s.out, amount{readings: []string{strconv.Itoa(value)}, currency: found})
	}
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
	found, ok := c.signed(name)
	if !ok {
		return amount{}, false
	}
	reading := strconv.Itoa(value)
	if found.minor > 0 {
		reading = number.Fraction(reading, found.minor)
	}
	return amount{readings: []string{reading}, currency: found}, true
}

// signed is the currency that a word or a sign names, if it names one.
func (c currencyWords) signed(word string) (currency, bool) {
	if sign, _ := utf8.DecodeRuneInString(word); unicode.Is(unicode.Sc, sign) {
		return currency{unit: ofSign("", sign), minor: minorNames[word]}, true
	}
	return c.named(word)
}

// words are the words, the currency signs and the numerals of a text, and how far each
// stands from the one before; absent: more than spaces, markup or a hyphen is between. A
// dash joins a currency to a number, and no two numbers.
func words(text string) func(yield func(string, distance) bool) {
	return func(yield func(string, distance) bool) {
		last := ""
		for rest, gap := text, absent; rest != ""; {
			end := strings.IndexFunc(rest, func(r rune) bool { return !isWord(r) && !unicode.IsMark(r) })
			if end < 0 {
				end = len(rest)
			}
			if end == 0 {
				r, size := utf8.DecodeRuneInString(rest)
				if !unicode.Is(unicode.Sc, r) {
					rest, gap = rest[size:], max(gap, gapOf(last, rest, gap))
					continue
				}
				end = size
			}
			if !yield(rest[:end], gap) {
				return
			}
			last, rest, gap = rest[:end], rest[end:], touching
		}
	}
}

// gapOf is how far the rune that a text begins with, and that is of no word, sets it from
// the word before.
func gapOf(last, text string, gap distance) distance {
	r, size := utf8.DecodeRuneInString(text)
	colon := r == ':' || r == '='
	switch {
	case r == '\n':
		return broken
	case isGap(r), r == '-', r == '.' && gap == touching && isAbbreviation(last+"."):
		return spaced
	case !colon && (gap > touching || !isDash(r)):
		return absent
	}
	next := text[size:]
	if colon {
		next = strings.TrimLeft(next, " *")
	}
	if end := strings.IndexFunc(next, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.Is(unicode.Sc, r) }); end >= 0 {
		next = next[:end]
	}
	_, before := number.Of(last)
	if _, behind := number.Of(next); next == "" || before && behind || colon && !behind {
		return absent
	}
	return spaced
}
