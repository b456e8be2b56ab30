package delivery

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// breakKind is what ends where a text can be cut, best first.
type breakKind int

const (
	paragraphEnd breakKind = iota
	lineEnd
	sentenceEnd
	clauseEnd
	wordEnd
	breaks
)

// The signs that end a sentence and a clause: those that space follows, and those of
// scripts that have no spaces.
const (
	sentenceSigns     = ".!?…؟۔।॥"
	clauseSigns       = ",;:،؛–—"
	wideSentenceSigns = "。！？｡"
	wideClauseSigns   = "，、；："
)

// breakAt returns what ends at an offset, or breaks where a text is not to be cut.
func (s splitter) breakAt(at int) breakKind {
	if !utf8.RuneStart(s.text[at]) {
		return breaks
	}
	prev, size := utf8.DecodeLastRuneInString(s.text[:at])
	kind := breaks
	if next, _ := utf8.DecodeRuneInString(s.text[at:]); breakable(next) {
		kind = s.spaceAt(at, prev)
	} else if !closes(next) && !isOf(wideSentenceSigns+wideClauseSigns, next) {
		kind = wideBreak(s.text[:at])
	}
	if kind == breaks {
		return breaks
	}
	if _, ok := s.around(at); ok || !endsGrapheme(s.text, at-size, at) {
		return breaks
	}
	return kind
}

// spaceAt returns what ends before the white space at an offset.
func (s splitter) spaceAt(at int, prev rune) breakKind {
	if unicode.IsSpace(prev) {
		return breaks // the cut is where the space begins
	}
	rest := s.text[at:]
	space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
	switch n := strings.Count(space, "\n"); {
	case n > 1:
		return paragraphEnd
	case n == 1:
		return lineEnd
	case endsSentence(s.text[:at], rest[len(space):]):
		return sentenceEnd
	case isOf(clauseSigns, prev):
		return clauseEnd
	}
	return wordEnd
}

// wideBreak returns what ends at the end of a text in a script that has no spaces.
func wideBreak(text string) breakKind {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, closes))
	switch {
	case isOf(wideSentenceSigns, r):
		return sentenceEnd
	case isOf(wideClauseSigns, r):
		return clauseEnd
	}
	return breaks
}

// endsSentence reports whether a text ends a sentence and what comes behind it does not
// go on: after a full stop, the word is no abbreviation, and no small letter or figure
// follows.
func endsSentence(text, behind string) bool {
	text = strings.TrimRightFunc(text, closes)
	r, size := utf8.DecodeLastRuneInString(text)
	if r != '.' {
		return isOf(sentenceSigns+wideSentenceSigns, r)
	}
	if next, _ := utf8.DecodeRuneInString(behind); unicode.IsLower(next) || unicode.IsDigit(next) {
		return false
	}
	word := lastWord(text[:len(text)-size])
	return !strings.Contains(word, ".") && utf8.RuneCountInString(word) > maxAbbreviation
}

// maxAbbreviation is the length of the abbreviations that are told from words by their
// length: Dr., Sr., No., z. B., and the number of a list.
const maxAbbreviation = 2

// maxWord bounds how far back the beginning of a word is looked for, in bytes; a longer one
// is no abbreviation.
const maxWord = 32

func lastWord(text string) string {
	text = text[max(0, len(text)-maxWord):]
	return text[strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
}

// breakable is white space that may be replaced by a cut.
func breakable(r rune) bool {
	return unicode.IsSpace(r) && r != '\u00A0' && r != '\u2007' && r != '\u202F'
}

// closes reports whether a character closes what a sentence stands in.
func closes(r rune) bool {
	return r == '"' || r == '\'' || r == '*' || r == '_' || r == '~' || unicode.In(r, unicode.Pe, unicode.Pf)
}

func isOf(set string, r rune) bool { return strings.ContainsRune(set, r) }
