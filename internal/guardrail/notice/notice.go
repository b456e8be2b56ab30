// Package notice finds in a reply what only the server says to a model: the notices of a
// turn and the note of performed actions, which a model may copy.
package notice

import (
	"regexp"
	"strings"
)

// note is the note of performed actions in a text of [folded], with whatever a model puts
// before it in the brackets. OpenNote is one that does not end: it takes its line, or the
// next where its own is empty.
const (
	label    = `\[(?:[^\[\]\n]{0,40}[\s:])??\s*acti[o0]ns?[\s_]+perf[o0]rmed\s*[:=-]`
	note     = label + `[^\[\]]*\]`
	openNote = label + `\s*[^\]\n]*\]?`
)

// A line that begins as a notice does. ACTIONS and SERVER in capitals are no words that a
// business begins a line with; what else begins a notice (DATE, HOURS, OFFERING, REPEAT, SALE)
// may be, and counts before the notice's own words alone, wherever it stands.
const (
	lineNotice = `(?m:^[\s>#•"'*\[(-]*(?:ACTIONS|SERVER)[ \t]*:[^\n]*$)`
	saidNotice = `(?i:(?:\b[a-z]+\s*:\s*)?(?:an earlier try of this reply was cut short|no more tools can be called in this turn|the message equals the one before it)[^\n]*|\bsale\s*:\s*intent (?:unknown|prospect|not_prospect)\b[^\n]*)`
)

var (
	notes     = regexp.MustCompile(`(?i)` + note)
	openNotes = regexp.MustCompile(`(?i)` + openNote)
	notices   = regexp.MustCompile(lineNotice + `|` + saidNotice)
)

// Replaced is a text with mark in the place of every notice and note. One that does not
// end is looked for when there is no other.
func Replaced(text, mark string) string {
	if !MayHold(text) {
		return text
	}
	if replaced := replace(text, mark, notes); replaced != text {
		return replace(replaced, mark, notices)
	}
	return replace(replace(text, mark, openNotes), mark, notices)
}

// words are those of which every notice and note holds one, as [folded] writes it, in small
// letters.
var words = []string{"acti", "server", "an earlier try", "no more tools", "the message equals", "sale"}

// MayHold is a glance at a text: false says that nothing is in it.
func MayHold(text string) bool {
	text, _ = folded(text)
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// replace puts mark in the place of what is found in the text as it looks.
func replace(text, mark string, what *regexp.Regexp) string {
	looks, from := folded(text)
	var b strings.Builder
	kept := 0
	for _, at := range what.FindAllStringIndex(looks, -1) {
		b.WriteString(text[kept:from.at(at[0])])
		b.WriteString(mark)
		kept = from.at(at[1])
	}
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}
