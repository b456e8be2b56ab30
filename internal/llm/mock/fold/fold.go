// Package fold cuts texts into words that can be compared: no case, no accents, and alike
// but for their endings.
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Words folds a text (no case, accents or width) and cuts it into words; scripts
// without spaces between words are cut into overlapping pairs of characters.
func Words(text string) []string {
	folded := strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Mn, r):
			return -1
		case r == 'ς':
			return 'σ'
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return ' '
	}, norm.NFKD.String(text))
	var out []string
	for _, w := range strings.Fields(folded) {
		out = append(out, pairs(w)...)
	}
	return out
}

func pairs(word string) []string {
	runes := []rune(word)
	if len(runes) < 3 || !isUnspaced(runes[0]) {
		return []string{word}
	}
	var out []string
	for i := range len(runes) - 1 {
		out = append(out, string(runes[i:i+2]))
	}
	return out
}

func isUnspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// Pad joins words with one space round each, for cue search.
func Pad(words []string) string { return " " + strings.Join(words, " ") + " " }

// Weight says how much a word tells: short words are mostly grammar, in any language
// that writes spaces.
func Weight(word string) float64 {
	first, _ := utf8.DecodeRuneInString(word)
	switch n := utf8.RuneCountInString(word); {
	case n >= 5, isUnspaced(first):
		return 1
	case n == 4:
		return 0.6
	case n == 3:
		return 0.25
	default:
		return 0.1
	}
}

// Alike reports whether two folded words are the same but for their ending: they
// share all but the last two letters of the longer, and at least four.
func Alike(a, b string) bool {
	if a == b {
		return true
	}
	if a[0] != b[0] {
		return false
	}
	shared := 0
	for i, r := range a {
		other, size := utf8.DecodeRuneInString(b[min(i, len(b)):])
		if size == 0 || other != r {
			break
		}
		shared++
	}
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return shared >= 4 && shared >= longer-2
}

// Akin reports whether two folded words have the same consonants, three at least, as one
// word has in related languages: service, servicio, serviço.
func Akin(a, b string) bool {
	a, b = consonants(a), consonants(b)
	return len(a) >= 3 && (a == b || a == b+"s" || a+"s" == b)
}

// consonants is the skeleton of a word in the Latin script: its consonants, those that
// sound alike as one, doubled ones once.
func consonants(word string) string {
	var out []byte
	for _, r := range word {
		c := byte(0)
		switch {
		case r == 'k', r == 'q':
			c = 'c'
		case r == 'z':
			c = 's'
		case 'a' <= r && r <= 'z' && !strings.ContainsRune("aeiouyh", r):
			c = byte(r)
		}
		if c != 0 && (len(out) == 0 || out[len(out)-1] != c) {
			out = append(out, c)
		}
	}
	return string(out)
}

// Holds reports whether a list has a word, or one alike.
func Holds(list []string, word string) bool {
	for _, w := range list {
		if Alike(w, word) {
			return true
		}
	}
	return false
}

// Cover is the share of a message's weight that entry has, and the weight itself.
func Cover(message, entry []string) (share, matched float64) {
	var total float64
	for _, w := range message {
		total += Weight(w)
		if Holds(entry, w) {
			matched += Weight(w)
		}
	}
	if total == 0 {
		return 0, 0
	}
	return matched / total, matched
}

// Count is how many words are so.
func Count(words []string, is func(string) bool) (n int) {
	for _, w := range words {
		if is(w) {
			n++
		}
	}
	return n
}
