package guardrail

import (
	"regexp"
	"slices"
	"strings"
)

// A line that writes a field of the reply, quoted or not, also as an item of a list. The names that are also
// words of a language count only before a value that no sentence has there.
var echoedField = regexp.MustCompile(`(?i)^[\s>#•]*(?:\d+[.)])?[\s{,*_\x60"'-]*(?:` +
	`(?:escalation_reason|closing_question)["'*_\x60]*\s*[:=]` +
	`|messages["'*_\x60]*\s*[:=]\s*\[` +
	`|escalate["'*_\x60]*\s*[:=][\s"'*_\x60]*(?:true|false|null|none|yes|no)` + valueEnd +
	`|confidence["'*_\x60]*\s*[:=][\s"'*_\x60]*(?:[01]?\.\d+|[01]|\d{1,3}\s*%|low|medium|high)` + valueEnd + `)`)

// valueEnd is what may follow a value that the whole line is about.
const valueEnd = `["'*_\x60]*\s*(?:[,;}\]]|\.?\s*$)`

// An object with a field of the reply inside a line.
var echoedObject = regexp.MustCompile(`\{[^{}]*"(?:messages|escalate|escalation_reason|confidence|closing_question)"\s*:[^{}]*\}?`)

// What is left of an object when its fields are gone.
var bareFrame = regexp.MustCompile(`^[\s{}\[\],]*$|^\s*\x60{3}(?:json)?\s*$`)

// The server's note of performed actions, which a model may copy from the history.
var copiedNote = regexp.MustCompile(`(?i)\[\s*actions performed\s*:[^\]]*(?:\]|$)`)

// fieldEcho takes out lines that write a field of the reply or copy the action note;
// a reply of nothing else hands off.
func fieldEcho(d *draft) finding {
	if !d.rewrite(withoutEchoes) {
		return finding{}
	}
	if len(d.messages) == 0 {
		return broken()
	}
	return finding{noted: true}
}

func withoutEchoes(text string) string {
	var kept []string
	echoed := false
	for line := range strings.SplitSeq(text, "\n") {
		without := copiedNote.ReplaceAllString(line, "")
		without = echoedObject.ReplaceAllString(without, "")
		emptied := without != line && strings.TrimSpace(without) == ""
		field := echoedField.MatchString(without)
		echoed = echoed || without != line || field
		if !emptied && !field {
			kept = append(kept, without)
		}
	}
	if !echoed {
		return text
	}
	kept = slices.DeleteFunc(kept, func(line string) bool { return line != "" && bareFrame.MatchString(line) })
	return strings.TrimSpace(strings.Join(kept, "\n"))
}
