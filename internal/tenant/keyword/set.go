package keyword

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// A Set is a list of keywords, folded once. The zero value matches nothing. It is
// immutable and safe for concurrent use.
type Set struct {
	words  []string // as configured
	folded []string // same order
}

// NewSet folds the keywords; those that fold to nothing never match.
func NewSet(keywords []string) Set {
	var s Set
	for _, k := range keywords {
		if f := Fold(k); f != "" {
			s.words = append(s.words, k)
			s.folded = append(s.folded, f)
		}
	}
	return s
}

// Find returns the first keyword, as configured, that the text holds as a whole word
// or phrase; in scripts without spaces a part of the text is enough.
func (s Set) Find(text string) (keyword string, ok bool) {
	if len(s.folded) == 0 {
		return "", false
	}
	folded := Fold(text)
	for i, k := range s.folded {
		if holds(folded, k) {
			return s.words[i], true
		}
	}
	return "", false
}

// Equals reports whether the whole text is one of the keywords; punctuation and
// symbols around it do not count.
func (s Set) Equals(text string) bool {
	return len(s.folded) > 0 && slices.Contains(s.folded, Fold(text))
}

func holds(text, k string) bool {
	for from := 0; ; {
		at := strings.Index(text[from:], k)
		if at < 0 {
			return false
		}
		start, end := from+at, from+at+len(k)
		if starts(text, start) && ends(text, end) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

// starts reports whether a word may start at an offset, judged by the letters on
// both sides of it.
func starts(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return at == 0 || before == ' ' || isUnspaced(before) || isUnspaced(after)
}

// ends is starts for the end of a word.
func ends(text string, at int) bool {
	return at == len(text) || text[at] == ' ' || starts(text, at)
}
