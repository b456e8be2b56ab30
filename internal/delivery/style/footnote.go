package style

import (
	"strings"
	"unicode"
)

// loneFootnote reports whether the only line that begins with an asterisk and a space
// explains a word before it that ends in one.
func loneFootnote(s string) bool {
	at, n, pos := 0, 0, 0
	for text := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimLeft(text, " \t"), "* ") {
			at, n = pos, n+1
		}
		pos += len(text)
	}
	return n == 1 && footnoteMark(s[:at])
}

// footnoteMark reports whether a word of the text ends in an asterisk that is the only one
// on its line.
func footnoteMark(s string) bool {
	for text := range strings.Lines(s) {
		word, rest, ok := strings.Cut(text, "*")
		if !ok || strings.Contains(rest, "*") || word != strings.TrimRightFunc(word, unicode.IsSpace) || word == "" {
			continue
		}
		if rest == "" || strings.ContainsRune(" \t\r\n.,;:!?)", first(rest)) {
			return true
		}
	}
	return false
}
