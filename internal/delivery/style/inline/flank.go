package inline

import (
	"strings"
	"unicode"
)

// sides looks at what stands around a run of marks, to tell marks from multiplication,
// file names, footnotes and smileys.
type sides struct {
	src        string
	char       byte
	start, end int
	lo, hi     int // what is looked at
}

func (s sides) prev() rune { return before(s.src, s.start, s.lo) }
func (s sides) next() rune { return after(s.src, s.end, s.hi) }

// second is the character behind the next.
func (s sides) second() rune {
	if s.end >= s.hi {
		return none
	}
	return after(s.src, s.end+len(string(s.next())), s.hi)
}

// maxNested is how many marks may touch.
const maxNested = 8

// inner returns the character at the side of a run towards what it marks, behind other
// marks: forwards for one that opens, backwards for one that closes.
func (s sides) inner(forwards bool) rune {
	for range maxNested {
		if forwards {
			if r := s.next(); !delimiter(r) {
				return r
			}
			s.end++
			continue
		}
		if r := s.prev(); !delimiter(r) {
			return r
		}
		s.start--
	}
	return none
}

// opens reports whether a run of so many marks may begin a pair.
func (s sides) opens(n int) bool {
	next := s.next()
	switch {
	case space(s.inner(true)):
		return false
	case n == 1:
		return s.beforeWord() && s.behindGap()
	case s.char == '_':
		return !word(s.prev()) && !in("/\\.@-#=&", s.prev())
	}
	return !cased(s.prev()) && !unicode.Is(unicode.Pe, next) && !in(",;", next)
}

// closes reports whether a run of so many marks may end a pair.
func (s sides) closes(n int) bool {
	prev, next := s.prev(), s.next()
	switch {
	case n == 2 && s.char == '*' && strings.HasSuffix(s.src[s.lo:s.start], ": "):
		return true // **Note: **text, which is a mistake and clear
	case space(s.inner(false)) || unicode.Is(unicode.Ps, prev):
		return false
	case n == 1 && !endsWord(prev):
		return false
	case s.char == '_':
		return !word(next) && !unicode.Is(unicode.Ps, next) && !s.inName()
	case n == 1:
		return !cased(next)
	}
	return true
}

// beforeWord reports whether what follows may be the beginning of marked text.
func (s sides) beforeWord() bool {
	next := s.next()
	if in("+-−<≈", next) {
		return unicode.IsDigit(s.second())
	}
	return word(next) || sign(next) || delimiter(next) || opening(next) || in("¿¡#@`", next)
}

// behindGap reports whether what stands before a single mark ends no word: space, an
// opening bracket, another mark, and for asterisks punctuation, an emoji or a letter of a
// script without capitals.
func (s sides) behindGap() bool {
	prev, next := s.prev(), s.next()
	switch {
	case space(prev), delimiter(prev), unicode.In(prev, unicode.Ps, unicode.Pi, unicode.Pf):
		return true
	case unicode.IsPunct(next) && !delimiter(next):
		return false
	case quote(prev), in("–—¿¡|", prev):
		return true
	}
	return s.char == '*' && (in(",.:;!?…。、，：；！？", prev) || unicode.Is(unicode.So, prev) || unicode.IsLetter(prev) && !cased(prev) || unicode.IsMark(prev))
}

// inName reports whether the mark is part of a file name, an address or the like.
func (s sides) inName() bool { return in(".@-/\\=#&:+", s.next()) && word(s.second()) }

// endsWord reports whether a character may end marked text.
func endsWord(r rune) bool {
	return word(r) || sign(r) || delimiter(r) || closing(r) || in(".!?…:,%+`。！？", r)
}
