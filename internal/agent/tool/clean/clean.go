// Package clean cleans what a model writes for people to read: a note.
package clean

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// readFactor is how many times as many code points are read of a text as are kept, so that
// a text of any length costs little; what is longer is cut before it is looked at.
const readFactor = 8

// Text is a note's text as it is kept and written: one line of at most so many code
// points, in which [redact.Mark] stands for what must not be kept. Empty: nothing to read
// was left. A cleaned text stays as it is.
func Text(text string, most int) string {
	text = first(text, readFactor*most)
	// What is cut off, or ends a line no more, may bring out a shape that was none before.
	// Each round takes out more than it puts in.
	for {
		next := redact.Removed(withoutVariables(conversation.Plain(strings.Map(shown, text))))
		next = Cut(inert(strings.Join(strings.Fields(next), " ")), most)
		if next == text {
			break
		}
		text = next
	}
	if strings.IndexFunc(text, legible) < 0 {
		return ""
	}
	return text
}

// first is the beginning of a text, of at most so many code points.
func first(text string, most int) string {
	for i := range text {
		if most--; most < 0 {
			return text[:i]
		}
	}
	return text
}

// variable is what ManyChat fills in where a text is shown: {{cuf_1}}, {{first_name}}.
var variable = regexp.MustCompile(`\{\{+[^{}]*\}\}+`)

// withoutVariables puts [redact.Mark] in the place of ManyChat's variables, and leaves
// nothing that could become one.
func withoutVariables(text string) string {
	if !strings.Contains(text, "{{") && !strings.Contains(text, "}}") {
		return text
	}
	return braces.ReplaceAllString(variable.ReplaceAllString(text, redact.Mark), "$1$2")
}

var braces = regexp.MustCompile(`(\{)\{+|(\})\}+`)

// inert is a line that no spreadsheet runs, into which people export what their account
// holds: it begins with no sign of a formula. A negative number keeps its sign as the
// minus of mathematics.
func inert(line string) string {
	for line != "" {
		r, size := utf8.DecodeRuneInString(line)
		switch {
		case (r == '-' || r == '－') && size < len(line) && unicode.IsDigit(rune(line[size])):
			return "−" + line[size:]
		case strings.ContainsRune("=+-@＝＋－＠﹢﹣﹦﹫ ", r):
			line = line[size:]
		default:
			return line
		}
	}
	return line
}

// shown drops what no one sees beyond what [conversation.Plain] drops: marks of direction,
// fillers, joiners and controls without a shape. The joiners of emoji and of several
// scripts stay. What looks like a space is one.
func shown(r rune) rune {
	switch {
	case r == 0x2800: // a Braille cell without dots
		return ' '
	case r == 0x061c, r == 0x180e, r == 0x200e, r == 0x200f, r == 0x1d159: // the last is a note's head that is not drawn
		return -1
	case r == 0x200c, r == 0x200d:
		return r
	case unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return -1
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r):
		return -1
	}
	return r
}

// legible reports whether a character alone says something.
func legible(r rune) bool {
	return unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S)
}

// Cut shortens a text to so many code points, where a line may break: between words, and
// between characters in scripts without spaces. A word that is longer is cut hard.
func Cut(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	end, used, state := 0, 0, -1
	for rest := text; rest != ""; {
		var part string
		part, rest, _, state = uniseg.FirstLineSegmentInString(rest, state)
		used += utf8.RuneCountInString(part)
		if used-(len(part)-len(strings.TrimRight(part, " "))) > most {
			break
		}
		end += len(part)
	}
	if end == 0 {
		end = hardCut(text, most)
	}
	return strings.TrimRight(text[:end], " ")
}

// hardCut is where a word is cut: between two characters as people see them, and not
// within a mark.
func hardCut(text string, most int) int {
	end, used, state := 0, 0, -1
	for rest := text; rest != ""; {
		var part string
		part, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if used += utf8.RuneCountInString(part); used > most {
			break
		}
		end += len(part)
	}
	if end == 0 { // of one character that is longer itself
		for range most {
			_, size := utf8.DecodeRuneInString(text[end:])
			end += size
		}
	}
	from := max(0, end-len(redact.Mark)+1)
	if i := strings.Index(text[from:], redact.Mark); i >= 0 && from+i < end {
		return from + i
	}
	return end
}
