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
	rest := s.text[at:]
	space := rest[:len(rest)-len(strings.TrimLeftFunc(rest, unicode.IsSpace))]
	switch n := strings.Count(space, "\n"); {
	case unicode.IsSpace(prev):
		return breaks // the cut is at the beginning of the space
	case n > 1:
		return paragraphEnd
	case n == 1:
		return lineEnd
	case isMarker(s.text[:at]):
		return breaks
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
// go on: after a full stop, the word is no number and no abbreviation, and no small letter
// or figure follows.
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
	return !strings.Contains(word, ".") && utf8.RuneCountInString(word) > maxAbbreviation && strings.Trim(word, "0123456789") != ""
}

// maxAbbreviation is the length of the abbreviations that are told from words by their
// length: Dr., Sr., No., z. B.
const maxAbbreviation = 2

// maxWord bounds how far back the beginning of a word is looked for, in bytes; a longer one
// is neither an abbreviation nor a number.
const maxWord = 32

func lastWord(text string) string {
	text = text[max(0, len(text)-maxWord):]
	return text[strings.LastIndexFunc(text, func(r rune) bool { return unicode.IsSpace(r) || r == '(' })+1:]
}

// isMarker reports whether a text ends in the bullet or the number of a list, which is not
// parted from what it stands before.
func isMarker(text string) bool {
	text = text[max(0, len(text)-maxWord):]
	mark := strings.TrimLeft(text[strings.LastIndexByte(text, '\n')+1:], " \t")
	switch mark {
	case "-", "*", "+", "•", ">", "☐", "☑":
		return true
	}
	number := strings.TrimRight(mark, ".)")
	return number != "" && len(mark) == len(number)+1 && strings.Trim(number, "0123456789") == ""
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
