package show

import (
	"cmp"
	"fmt"
	"slices"
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
		section(b, "actions", []string{none(t.Calls)})
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
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", status(r.Status), string(r.Tool)+what(r.ID, r.Value, r.Length), when, reasons(r))
	}
	_ = table.Flush()
	section(b, "actions", append(linesOf(lines.String()), hints(t.Actions)...))
}

// none says why there is no action: the model asked for none, or for none that there is.
func none(calls []action.Call) string {
	failed := 0
	for _, c := range calls {
		if c.Answer != action.AnsweredRead && c.Answer != action.AnsweredUnread {
			failed++
		}
	}
	switch failed {
	case 0:
		return "none was chosen"
	case 1:
		return "none: the model tried once, and its call above says why nothing came of it"
	}
	return fmt.Sprintf("none: the model tried %d times, and its calls above say why nothing came of them", failed)
}

// status is what became of an action, in words.
func status(s action.Status) string {
	if s == action.DeadLettered {
		return "dead-lettered"
	}
	return strings.ReplaceAll(string(s), "_", " ")
}

// hints say of each action that ManyChat refused where to look, and of the contact when it
// took none. They name nothing of the account.
func hints(record []action.Record) (lines []string) {
	taken := false
	for _, r := range record {
		ask := hint(r)
		taken = taken || r.Status == action.Performed
		if !strings.HasPrefix(r.Error, "rejected") || ask == "" {
			continue
		}
		if line := string(r.Tool) + what(r.ID, "", 0) + " was refused: " + ask; !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	if len(lines) > 0 && !taken {
		lines = append(lines, "nothing was performed: does ManyChat know the contact?")
	}
	return lines
}

// hint is what to ask about an action that was refused.
func hint(r action.Record) string {
	const named = " exist in the ManyChat account under the name that tools.json gives for this id?"
	switch r.Tool {
	case action.AddTag, action.RemoveTag:
		return "does the tag" + named
	case action.SetField:
		return "does the field" + named
	case action.WriteNote:
		return "does the field of the note" + named
	case action.SendFlow:
		return "is the flowNs that tools.json gives for this id that of a published flow in the ManyChat account?"
	case action.NotifyHandoff:
		return noticeHint(r.ID)
	}
	return ""
}

func noticeHint(part string) string {
	switch part {
	case action.NoticeTag:
		return "does the tag of rules.handoff.tag exist in the ManyChat account?"
	case action.NoticeFlow:
		return "is rules.handoff.flowNs that of a published flow in the ManyChat account?"
	}
	return "does the receiver at rules.handoff.webhook take notices, and know HANDOFF_WEBHOOK_SECRET?"
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
