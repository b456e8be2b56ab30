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

// questionMarks are those of every script, the opening ones and the emoji too.
const questionMarks = "?¿؟？\u037e՞፧⁇⁈⁉⸮‽❓❔﹖︖꘏꛷⳺⳻"

// endsInQuestion reports whether a text ends in a question mark of some script, emoji,
// white space, markup, quotes and brackets after it left aside. A semicolon is one after
// Greek.
func endsInQuestion(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return (decoration(r) || strings.ContainsRune("*_~`\"'”’»)]!", r)) && !strings.ContainsRune(questionMarks, r)
	})
	last, size := utf8.DecodeLastRuneInString(text)
	if last == ';' {
		text = strings.TrimRightFunc(text[:len(text)-size], func(r rune) bool { return !unicode.IsLetter(r) })
		letter, _ := utf8.DecodeLastRuneInString(text)
		return unicode.Is(unicode.Greek, letter)
	}
	return last != utf8.RuneError && strings.ContainsRune(questionMarks, last)
}

// decoration reports whether a rune at the end of a message is emoji, part of one, or
// white space.
func decoration(r rune) bool {
	switch {
	case unicode.IsSpace(r), unicode.Is(unicode.So, r), unicode.Is(unicode.Sk, r) && r != '`' && r != '^':
		return true
	case r == '\u200d', r == '\u20e3', unicode.Is(unicode.Variation_Selector, r), 0xe0020 <= r && r <= 0xe007f:
		return true
	}
	return false
}
