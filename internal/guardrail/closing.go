package guardrail

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// closingQuestion appends the closing question as a message of its own, unless the body
// ends in a question already. That is no intervention.
func closingQuestion(d *draft) finding {
	if d.closing != "" && !endsInQuestion(d.messages[len(d.messages)-1]) {
		d.messages = d.texts()
	}
	return finding{}
}

// endsInQuestion reports whether a text ends in a question mark of some script, emoji
// and white space after it left aside. A semicolon is one after Greek.
func endsInQuestion(text string) bool {
	text = strings.TrimRightFunc(text, decoration)
	switch last, _ := utf8.DecodeLastRuneInString(text); last {
	case '?', '؟', '？', '\u037e':
		return true
	case ';':
		text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		letter, _ := utf8.DecodeLastRuneInString(text)
		return unicode.Is(unicode.Greek, letter)
	}
	return false
}

// decoration reports whether a rune at the end of a message is emoji, part of one, or
// white space.
func decoration(r rune) bool {
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r):
		return true
	case r == '\u200d', unicode.Is(unicode.Variation_Selector, r), 0xe0020 <= r && r <= 0xe007f:
		return true
	}
	return false
}
