package glyph

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Mark is where a byte of a folded text comes from: the bytes of one character.
type Mark struct{ From, To int }

// Fold writes a text in the letters that the shapes are made of: every script's digits
// become 0 to 9, spaces and dashes of any width the plain ones, compatibility characters
// what they stand for, accents go, and what nobody sees goes too.
func Fold(s string) (text string, marks []Mark) {
	b := make([]byte, 0, len(s))
	marks = make([]Mark, 0, len(s))
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if b = appendFolded(b, r); r >= utf8.RuneSelf {
			b = expanded(b, s[i:i+size])
		}
		if len(marks) == len(b) && len(b) > 0 && unicode.In(r, unicode.Mn, unicode.Me) {
			marks[len(marks)-1].To = i + size // an accent belongs to its letter
		}
		for len(marks) < len(b) {
			marks = append(marks, Mark{i, i + size})
		}
		i += size
	}
	return string(b), marks
}

// undecided stands for a character that has to be decomposed first.
const undecided = 0xff

// expanded replaces an undecided last byte by what the character decomposes to.
func expanded(b []byte, char string) []byte {
	if len(b) == 0 || b[len(b)-1] != undecided {
		return b
	}
	b = b[:len(b)-1]
	r, _ := utf8.DecodeRuneInString(char)
	parts := norm.NFKD.PropertiesString(char).Decomposition()
	if parts == nil || isWidePunctuation(r) {
		return append(b, class(r))
	}
	for _, part := range string(parts) {
		b = appendFolded(b, part)
		if last := len(b) - 1; last >= 0 && b[last] == undecided {
			b[last] = class(part)
		}
	}
	return b
}

// appendFolded appends the byte a character folds to, nothing for one that is not
// seen, or undecided.
func appendFolded(b []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		return append(b, byte(r))
	case unicode.IsDigit(r):
		return append(b, '0'+digitValue(r))
	case unicode.In(r, unicode.Cf, unicode.Mn, unicode.Me):
		return b
	case r == '\u0085' || r == '\u2028' || r == '\u2029':
		return append(b, '\n')
	case unicode.IsSpace(r):
		return append(b, ' ')
	case unicode.Is(unicode.Pd, r) || r == '−' || r == 'ー' && endsIn(b, Digit):
		return append(b, '-') // Japanese numbers are written with a long vowel mark too
	case r == '·' || r == '•' || r == '‧' || (r == '。' || r == '｡') && endsIn(b, Alnum):
		return append(b, '.')
	}
	if c, ok := signs[r]; ok {
		return append(b, c)
	}
	return append(b, undecided)
}

// signs are characters that decompose to nothing and stand for a plain one.
var signs = map[rune]byte{
	'’': '\'', '‘': '\'', '“': '"', '”': '"', '«': '"', '»': '"', '„': '"',
	'٫': ',', '٬': ',', '⁄': '/', '∕': '/',
}

func endsIn(b []byte, k Kind) bool { return len(b) > 0 && Is(b[len(b)-1], k) }

// digitValue is 0 to 9. The digits of a script stand in a row, and scripts that stand in
// a row too have ten each.
func digitValue(r rune) byte {
	first := r
	for unicode.IsDigit(first - 1) {
		first--
	}
	return byte((r - first) % 10)
}

// class is the byte for a character that stands for itself.
func class(r rune) byte {
	switch {
	case r == 'ー' || unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return Ideographic
	case unicode.IsLetter(r) || unicode.IsMark(r):
		return Alphabetic
	case unicode.Is(unicode.Sc, r):
		return Currency
	}
	return Other
}

// isWidePunctuation reports whether r ends a clause in scripts that put no space behind
// it: such a mark ends a link too.
func isWidePunctuation(r rune) bool {
	switch r {
	case '，', '！', '？', '；', '＂', '＇', '＜', '＞', '［', '］', '｛', '｝':
		return true
	}
	return false
}
