package redact

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
	"github.com/manychat-agent/manychat-agent/internal/redact/ordinary"
)

// isAmount reports whether a number is a price: it has thousands with a mark, or is a
// range, and a currency stands beside it.
func (f *finder) isAmount(g groups) bool {
	if len(g.all) < 2 || g.startsWithZero() || g.digits > mostPhone {
		return false
	}
	marked := g.thousands() > 0 && g.all[1].mark != ' '
	return (marked || g.isPriceRange()) && f.besideCurrency(g)
}

// isPriceRange reports 1250-1499 and 150 000 - 200 000: two amounts, the second higher.
func (g groups) isPriceRange() bool {
	parts := g.parts("-")
	if len(parts) != 2 {
		return false
	}
	var amounts [2]int
	for i, part := range parts {
		if part.digits > 5 && !part.isThousands() || len(part.all) > 1 && part.thousands() == 0 {
			return false
		}
		for n := range part.all {
			amounts[i] = 1000*amounts[i] + ordinary.Value(part.text(n))
		}
	}
	return amounts[0] < amounts[1]
}

// besideCurrency reports whether a currency's sign or name stands right before or right
// behind the number.
func (f *finder) besideCurrency(g groups) bool {
	start, end := g.all[0].start, g.end()
	before := strings.TrimRight(f.text[:start], " ")
	after := strings.TrimLeft(f.text[end:], " ")
	switch {
	case endsWithSign(before), startsWithSign(after):
		return true
	case before != "":
		_, to := f.origin(len(before)-1, len(before))
		if ordinary.IsCurrency(lastWord(f.source[:to])) {
			return true
		}
	}
	if after == "" {
		return false
	}
	from, _ := f.origin(len(f.text)-len(after), len(f.text)-len(after)+1)
	return ordinary.IsCurrency(firstWord(f.source[from:]))
}

func endsWithSign(t string) bool {
	return t != "" && (t[len(t)-1] == '$' || t[len(t)-1] == glyph.Currency)
}

func startsWithSign(t string) bool {
	return t != "" && (t[0] == '$' || t[0] == glyph.Currency) && (len(t) == 1 || !glyph.Is(t[1], glyph.Digit))
}

func firstWord(s string) string {
	if i := strings.IndexFunc(s, notInWord); i >= 0 {
		return s[:i]
	}
	return s
}

func lastWord(s string) string {
	s = strings.TrimRight(s, ".")
	if i := strings.LastIndexFunc(s, notInWord); i >= 0 {
		_, size := utf8.DecodeRuneInString(s[i:])
		return s[i+size:]
	}
	return s
}

func notInWord(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) }
