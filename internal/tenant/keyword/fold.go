// Package keyword matches the keywords of a tenant's rules in what contacts write,
// whatever the case, the accents and the width of the letters, in any script.
package keyword

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// unspaced are the scripts that put no spaces between words.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo, unicode.Yi,
	unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan,
}

// plainLetters are letters with a stroke or a missing dot: people type the plain
// letter, and Unicode does not decompose them.
var plainLetters = strings.NewReplacer("ı", "i", "ł", "l", "ø", "o", "đ", "d", "ħ", "h", "ŧ", "t")

// Fold reduces a text to what two spellings of it share: folded case, no accents,
// no width variants, words of letters and digits joined by single spaces. Between two
// letters of a script without spaces white space goes entirely. A text without a
// letter or a digit folds to nothing.
func Fold(text string) string {
	text = norm.NFKC.String(strings.ToValidUTF8(text, "\ufffd"))
	text = norm.NFKD.String(cases.Fold().String(text))
	var b strings.Builder
	var last rune // the last rune written, 0 before the first
	gap := none
	for _, r := range text {
		switch {
		case isAccent(r) || unicode.Is(unicode.Cf, r) || r == tatweel:
		case unicode.IsSpace(r):
			gap = max(gap, space)
		case !isWord(r):
			gap = punctuation
		default:
			if last != 0 && (gap == punctuation || gap == space && !(isUnspaced(last) && isUnspaced(r))) {
				b.WriteByte(' ')
			}
			b.WriteRune(r)
			last, gap = r, none
		}
	}
	return plainLetters.Replace(norm.NFC.String(b.String()))
}

// What lies between two runs of letters; the stronger of several wins.
const (
	none = iota
	space
	punctuation
)

// tatweel stretches an Arabic word and means nothing.
const tatweel = 'ـ'

// isAccent reports whether a combining mark only decorates the letter before it. Marks
// that belong to one script, such as the vowel signs of Devanagari and Thai, spell the
// word; of those that scripts share the Japanese voicing marks do too. Hebrew's points
// are left out in ordinary writing.
func isAccent(r rune) bool {
	if !unicode.Is(unicode.Mn, r) || r == '\u3099' || r == '\u309a' {
		return false
	}
	return unicode.Is(unicode.Inherited, r) || unicode.Is(unicode.Hebrew, r) || unicode.Is(unicode.Arabic, r)
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unspaced...) || r == 'ー'
}
