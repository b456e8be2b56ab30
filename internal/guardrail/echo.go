package guardrail

import (
	"regexp"
	"strings"
)

// A line that writes a field of the reply, quoted or not, also as an item of a list. The names that are also
// words of a language count only before a value that no sentence has there.
var echoedField = regexp.MustCompile(`(?i)^[\s>#•]*(?:\d+[.)])?[\s{,*_\x60"'-]*(?:` +
	`(?:escalation_reason|closing_question)["'*_\x60]*\s*[:=]` +
	`|messages["'*_\x60]*\s*[:=]\s*\[` +
	`|escalate["'*_\x60]*\s*[:=]\s*(?:true|false)` +
	`|confidence["'*_\x60]*\s*[:=]\s*[01]?\.?\d)`)

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
	for line := range strings.SplitSeq(text, "\n") {
		without := copiedNote.ReplaceAllString(line, "")
		emptied := without != line && strings.TrimSpace(without) == ""
		if !emptied && !echoedField.MatchString(without) {
			kept = append(kept, without)
		}
	}
	joined := strings.Join(kept, "\n")
	if joined == text {
		return text
	}
	return strings.TrimSpace(joined)
}
