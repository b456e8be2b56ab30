package prompt

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// The fence round a contact's words.
const (
	FenceOpen  = "<<<CONTACT_MESSAGE>>>"
	FenceClose = "<<<END_CONTACT_MESSAGE>>>"
)

// fence puts untrusted text between the markers, after taking every marker out of it.
func fence(text string) string {
	return FenceOpen + "\n" + unfence(text) + "\n" + FenceClose
}

// unfence takes out of a text whatever reads as a fence marker: the marker's words with
// two angle brackets round them, or with one when an underscore joins them, whatever
// the case, look-alikes of other scripts, and characters split in between. It repeats until none is left, so that taking one
// out cannot put another together.
func unfence(text string) string {
	if !strings.ContainsFunc(text, readsAsBracket) {
		return text
	}
	for {
		cleaned := cutMarkers(text)
		if cleaned == text {
			return text
		}
		text = cleaned
	}
}

// core is what the skeletons of both markers have in common.
const core = "CONTACTMESSAGE"

// cutMarkers takes out every marker that the text's skeleton shows.
func cutMarkers(text string) string {
	skeleton, at := skeletonOf(text)
	var b strings.Builder
	kept := 0 // bytes of text dealt with
	for from := 0; ; {
		i := strings.Index(skeleton[from:], core)
		if i < 0 {
			break
		}
		start, end, brackets := markerAround(skeleton, from+i)
		words := text[at[from+i]:at[from+i+len(core)-1]]
		if brackets > 1 || brackets == 1 && strings.ContainsAny(words, "_＿") {
			if at[start] > kept {
				b.WriteString(text[kept:at[start]])
			}
			_, size := utf8.DecodeRuneInString(text[at[end-1]:])
			kept = max(kept, at[end-1]+size)
		}
		from = end
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}

// markerAround widens a core at i to the whole marker, and counts the angle brackets
// round it.
func markerAround(skeleton string, i int) (start, end, brackets int) {
	before := strings.TrimSuffix(skeleton[:i], "END")
	after := skeleton[i+len(core):]
	opened := strings.TrimRight(before, "<>")
	closed := strings.TrimLeft(after, "<>")
	return len(opened), len(skeleton) - len(closed), len(before) - len(opened) + len(after) - len(closed)
}

// skeletonOf reduces a text to the ASCII capitals and angle brackets that it looks
// like, and tells for each byte of the skeleton where its rune starts in the text.
// Everything else is left out.
func skeletonOf(text string) (skeleton string, at []int) {
	var b strings.Builder
	for i, r := range text {
		if r < utf8.RuneSelf {
			if c := asciiSkeleton(byte(r)); c != 0 {
				b.WriteByte(c)
				at = append(at, i)
			}
			continue
		}
		for _, c := range []byte(wideSkeleton(r)) {
			b.WriteByte(c)
			at = append(at, i)
		}
	}
	return b.String(), at
}

// asciiSkeleton is the capital of a letter, an angle bracket, or 0.
func asciiSkeleton(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return c - 'a' + 'A'
	case 'A' <= c && c <= 'Z', c == '<', c == '>':
		return c
	case c == '0':
		return 'O'
	case c == '3':
		return 'E'
	}
	return 0
}

// wideSkeleton is what a character beyond ASCII looks like, after compatibility
// folding (full width, mathematical, circled and accented letters); empty: nothing.
func wideSkeleton(r rune) string {
	if c := lookAlike(r); c != 0 {
		return string(c)
	}
	var b strings.Builder
	for _, d := range norm.NFKD.String(string(r)) {
		c := lookAlike(d)
		if d < utf8.RuneSelf {
			c = rune(asciiSkeleton(byte(d)))
		}
		if c != 0 {
			b.WriteRune(c)
		}
	}
	return b.String()
}

// lookAlike is the letter or bracket of the markers that a character of another
// script looks like, or 0.
func lookAlike(r rune) rune {
	switch r {
	case 'А', 'а', 'Α', 'α', 'Ꭺ', 'ɑ':
		return 'A'
	case 'С', 'с', 'Ϲ', 'ϲ', 'Ꮯ':
		return 'C'
	case 'Ꭰ', 'ԁ':
		return 'D'
	case 'Е', 'е', 'Ε', 'ε', 'Ꭼ', 'є', 'Є', 'ҽ':
		return 'E'
	case 'Ԍ', 'ԍ', 'ɡ', 'ɢ', 'Ꮐ', 'ց':
		return 'G'
	case 'М', 'м', 'Μ', 'Ꮇ', 'ᴍ':
		return 'M'
	case 'Ν', 'ɴ', 'ո', 'п':
		return 'N'
	case 'О', 'о', 'Ο', 'ο', 'σ', 'Օ', 'օ', 'ⲟ', 'Ⲟ':
		return 'O'
	case 'Ѕ', 'ѕ', 'Ꮪ', 'ꜱ':
		return 'S'
	case 'Т', 'т', 'Τ', 'τ', 'Ꭲ', 'ᴛ':
		return 'T'
	}
	return bracket(r)
}

// readsAsBracket reports whether a character is or looks like an angle bracket, also
// once it is folded.
func readsAsBracket(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '<' || r == '>'
	}
	return strings.ContainsAny(wideSkeleton(r), "<>")
}

// bracket is the angle bracket that a character is or looks like, or 0.
func bracket(r rune) rune {
	switch r {
	case '<', '‹', '«', '〈', '⟨', '\u2329', '《', '⟪', '≪', '⋘', '˂', 'ᐸ', '❮', '❰', '≺', '＜', '﹤':
		return '<'
	case '>', '›', '»', '〉', '⟩', '\u232a', '》', '⟫', '≫', '⋙', '˃', 'ᐳ', '❯', '❱', '≻', '＞', '﹥':
		return '>'
	}
	return 0
}
