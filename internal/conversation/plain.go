package conversation

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Plain is a contact's text in the form that keywords are matched on and a model reads
// (docs/spec/02-inbound.md, "Request body"); what is stored stays as it was written.
//
// A line ends with a newline, however it was ended. Control characters but newline and
// tab go, and so does what no reader sees and a writer can hide words with: soft
// hyphens, zero-width spaces, word joiners, byte order marks, invisible operators, the
// characters that turn the direction of writing round, and the tag block. The flags of
// England, Scotland and Wales are spelled with tags, so they become a plain black flag:
// tags can spell whole sentences that only a model reads. The zero-width joiner and
// non-joiner, variation selectors and the marks of direction stay: emoji, Persian and
// Hebrew need them. The result is in NFC; bytes that are not UTF-8 become U+FFFD.
func Plain(text string) string {
	if isPlain(text) {
		return text
	}
	text = strings.ToValidUTF8(text, "\uFFFD")
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return norm.NFC.String(strings.Map(plainRune, text))
}

// isPlain recognises what most messages are.
func isPlain(text string) bool {
	for i := range len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// plainRune is what becomes of a character; -1: it goes.
func plainRune(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r == '\r':
		return '\n'
	case r < ' ', 0x7f <= r && r <= 0x9f: // controls
		return -1
	case r == 0x00ad, r == 0x200b, r == 0xfeff: // soft hyphen, zero-width space, byte order mark
		return -1
	case 0x202a <= r && r <= 0x202e: // embeddings and overrides of direction
		return -1
	case 0x2060 <= r && r <= 0x206f: // word joiner, invisible operators, isolates, what Unicode took back
		return -1
	case 0xfff9 <= r && r <= 0xfffb: // annotations
		return -1
	case 0xe0000 <= r && r <= 0xe007f: // tags
		return -1
	}
	return r
}
