package tool

import (
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
)

// SoFar says in words, for the model, what was staged, what went out, what was refused and what was
// read last, the flows that the server sent by itself among them; empty: nothing was called.
func (d *Desk) SoFar() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var lines []string
	for _, t := range d.trace {
		if line := sentence(t.answered()); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	for _, e := range d.entries {
		if e.record.Origin == "" || e.earlier {
			continue
		}
		sent := action.Call{Tool: e.record.Tool, ID: e.record.ID, Answer: e.answer.kind, Reason: e.answer.reason}
		if line := sentence(sent); !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if d.read != nil {
		lines = append(lines, "get_contact read: "+string(d.read))
	}
	return strings.Join(lines, "\n")
}

// sentence says what a call came to; empty of reads.
func sentence(c action.Call) string {
	what := strings.TrimSpace(strings.Join([]string{string(c.Tool), c.ID, c.Value}, " ")) + ": "
	switch c.Answer {
	case action.AnsweredStaged:
		return what + "staged, not done yet"
	case action.AnsweredSent:
		return what + "sent, the person sees it before your reply"
	case action.AnsweredNotStaged:
		return what + "not staged (" + c.Reason + ")"
	case action.AnsweredNotSent:
		return what + "not sent (" + c.Reason + ")"
	case action.AnsweredBad:
		return what + "not made (" + c.Reason + ")"
	case "":
		return what + "not known whether it was sent"
	}
	return ""
}
