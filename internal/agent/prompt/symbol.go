package prompt

import (
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt/escape"
)

// A symbol is what a reader sees of a text when they look for a marker. Its kind is an
// ASCII capital for a letter that is or looks like one, or one of those below.
type symbol struct {
	kind       byte
	start, end int // bytes of the text
}

// The kinds besides letters.
const (
	unseen  = 0    // spaces, marks on letters, what does not show: never a symbol
	angle   = '<'  // a bracket other than a round one, on either side
	round   = '('  // a round bracket
	joint   = '_'  // an underscore
	newline = '\n' // the end of a line
	rule    = '-'  // any other punctuation or sign
	solid   = '.'  // a digit or a letter that looks like none of the markers'
)

func (s symbol) isLetter() bool { return 'A' <= s.kind && s.kind <= 'Z' }

// isMark holds for what may stand between a marker's words and what encloses them.
func (s symbol) isMark() bool { return !s.isLetter() && s.kind != solid }

// escaping is how a text's escapes of HTML, URLs and source code are read.
type escaping int

const (
	asWritten escaping = iota // as the characters they are written with
	decoded                   // as what they stand for
	sparing                   // decoded, but for those whose last letter begins the core: %3Contact
)

// symbols reads a text. One character may give several symbols.
func symbols(text string, as escaping) iter.Seq[symbol] {
	return func(yield func(symbol) bool) {
		var room [16]byte
		for i := 0; i < len(text); {
			size := 1
			if c := text[i]; c < utf8.RuneSelf && (as == asWritten || !escape.Begins(c)) {
				if k := ascii(c); k != unseen && !yield(symbol{k, i, i + 1}) {
					return
				}
			} else {
				var kinds []byte
				kinds, size = read(room[:0], text[i:], as)
				for _, k := range kinds {
					if !yield(symbol{k, i, i + size}) {
						return
					}
				}
			}
			i += size
		}
	}
}

// read appends the kinds of the escape or character that a text begins with, and tells
// its length in bytes.
func read(kinds []byte, text string, as escaping) (_ []byte, size int) {
	if text[0] >= utf8.RuneSelf {
		r, size := utf8.DecodeRuneInString(text)
		return wide(kinds, r, text), size
	}
	meant, size := escape.Read(text)
	if size == 0 || as == sparing && swallows(text[:size], text[size:]) {
		return append(kinds, ascii(text[0])), 1
	}
	for i, r := range meant {
		if r < utf8.RuneSelf {
			kinds = addKind(kinds, ascii(byte(r)))
			continue
		}
		kinds = wide(kinds, r, meant[i:])
	}
	return kinds, size
}

// swallows reports whether the last letter of what may be an escape begins the core: the
// c of %3contact.
func swallows(escape, rest string) bool {
	if ascii(escape[len(escape)-1]) != core[0] {
		return false
	}
	for s := range symbols(rest, asWritten) {
		if s.isLetter() {
			return s.kind == core[1]
		}
	}
	return false
}

// ascii is the kind of an ASCII character. A digit or sign that people write for a
// letter counts as that letter.
func ascii(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return c - 'a' + 'A'
	case 'A' <= c && c <= 'Z':
		return c
	case c == '\n', c == '\r', c == '\v', c == '\f':
		return newline
	case c <= ' ', c == 0x7F:
		return unseen
	}
	switch c {
	case '0':
		return 'O'
	case '3':
		return 'E'
	case '4', '@':
		return 'A'
	case '5', '$':
		return 'S'
	case '7':
		return 'T'
	case '1', '2', '6', '8', '9':
		return solid
	case '<', '>', '[', ']', '{', '}':
		return angle
	case '(', ')':
		return round
	case '_':
		return joint
	}
	return rule
}

// Tag characters are an invisible copy of ASCII. They have one use: behind a black flag
// they name one of three countries.
const (
	firstTag = 0xE0000
	lastTag  = 0xE007F
	flag     = "\U0001F3F4"
)

// withoutTags takes out every tag character but those of the three flags.
func withoutTags(text string) string {
	if !strings.Contains(text, "\xf3\xa0\x80") && !strings.Contains(text, "\xf3\xa0\x81") {
		return text // no tag character begins otherwise
	}
	var b strings.Builder
	for i, r := range text {
		if r < firstTag || r > lastTag {
			b.WriteRune(r)
			if tags := flagTags(text[i:]); tags != "" {
				b.WriteString(tags)
			}
		}
	}
	return b.String()
}

// flagTags are the tags of the flag that a text begins with, or none.
func flagTags(text string) string {
	rest, isFlag := strings.CutPrefix(text, flag)
	if !isFlag {
		return ""
	}
	for _, country := range []string{"gbeng", "gbsct", "gbwls"} {
		tags := strings.Map(func(r rune) rune { return firstTag + r }, country) + string(rune(lastTag))
		if strings.HasPrefix(rest, tags) {
			return tags
		}
	}
	return ""
}
