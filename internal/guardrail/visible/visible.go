// Package visible says what a text shows, so that no check is passed by a character that
// only a program sees.
package visible

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// Text is a text as a reader sees it: compatibility forms folded (full width, circled and
// dingbat digits), hyphens of every kind as ASCII ones, and characters and loose marks that
// do not show left out. Line breaks stay.
func Text(text string) string {
	if isPlain(text) {
		return text
	}
	return strings.Map(shown, norm.NFKC.String(strings.Map(digit, text)))
}

// isPlain reports whether a text is ASCII without control characters but line breaks.
func isPlain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}

// digit is the digit that a dingbat shows; compatibility forms do not fold it.
func digit(r rune) rune {
	switch {
	case '\u2776' <= r && r <= '\u277e': // ❶ to ❾
		return '1' + r - '\u2776'
	case '\u2780' <= r && r <= '\u2788', '\u278a' <= r && r <= '\u2792': // ➀ to ➈, ➊ to ➒
		return '1' + (r-'\u2780')%10
	case r == '\u24ff', r == '\U0001f10b', r == '\U0001f10c':
		return '0'
	}
	return r
}

// shown is what of a folded text shows, or -1.
func shown(r rune) rune {
	switch {
	case r == '\n', r == '\t', r == '\r':
		return r
	case r == '\u2800': // a braille cell without dots
		return ' '
	case r == '\u2010', r == '\u2011':
		return '-'
	case unicode.IsControl(r), r == '\u034f', r == '\u1160', '\u0300' <= r && r <= '\u036f':
		return -1
	case r >= 0x80 && unicode.In(r, unicode.Cf, unicode.Me, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point):
		return -1
	}
	return r
}

// Any reports whether a text shows anything: a letter, a digit, a sign or an emoji.
func Any(text string) bool {
	return strings.ContainsFunc(Text(text), func(r rune) bool {
		return !unicode.IsSpace(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
	})
}
