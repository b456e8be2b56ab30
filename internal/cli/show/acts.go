package show

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// steps prints the model's steps, each with its calls and what they were told.
func steps(b *strings.Builder, t conversation.Turn) {
	last := len(t.Timings.Steps)
	for _, c := range t.Calls {
		last = max(last, c.Step)
	}
	var lines []string
	for step := 1; step <= last; step++ {
		line := fmt.Sprint(step)
		if step <= len(t.Timings.Steps) {
			line += ", " + Took(t.Timings.Steps[step-1])
		}
		lines = append(lines, line)
		for _, c := range t.Calls {
			if c.Step == step {
				lines = append(lines, "   "+call(c))
			}
		}
	}
	section(b, "the model's steps", lines)
}

// call is one call in a line: what was called, and what it was told.
func call(c action.Call) string {
	said := cmp.Or(string(c.Tool), "a tool that does not exist") + what(c.ID, c.Value, c.Length)
	if c.ContactAsked {
		said += ", the contact asked for it"
	}
	said += " -> " + string(c.Answer)
	if c.Reason != "" {
		said += ": " + c.Reason
	}
	return said
}

// what is the object of a call or an action.
func what(id, value string, length int) string {
	said := ""
	if id != "" {
		said = " " + id
	}
	if value != "" {
		said += " = " + value
	}
	if length > 0 {
		said += fmt.Sprintf(" (%d characters)", length)
	}
	return said
}

// actions prints what became of what the agent did besides replying.
func actions(b *strings.Builder, t conversation.Turn) {
	if t.Actions == nil {
		return
	}
	if len(t.Actions) == 0 {
		section(b, "actions", []string{"none was chosen"})
		return
	}
	var lines strings.Builder
	table := columns(&lines)
	fmt.Fprintln(table, "STATUS\tWHAT\tWHEN\tWHY")
	for _, r := range t.Actions {
		when := "-"
		if !r.At.IsZero() {
			when = fmt.Sprintf("%s, after %s", Local(r.At), Took(conversation.Since(t.ReceivedAt, r.At)))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", r.Status, string(r.Tool)+what(r.ID, r.Value, r.Length), when, reasons(r))
	}
	_ = table.Flush()
	section(b, "actions", linesOf(lines.String()))
}

// reasons are why an action stands in the record, and why it failed.
func reasons(r action.Record) string {
	var all []string
	if r.Error != "" {
		all = append(all, r.Error)
	}
	if r.Origin != "" {
		all = append(all, "sent by the rule of the "+string(r.Origin))
	}
	if r.ContactAsked {
		all = append(all, "the contact asked for it")
	}
	return strings.Join(all, "; ")
}
