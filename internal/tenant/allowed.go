package tenant

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Allowed says in one sentence for an operator what the agent may do besides answering, and
// how people are told of a handoff. It counts, and names nothing of the account.
func (t *Tenant) Allowed() string {
	return t.Tools.allowed() + "; " + t.Rules.Handoff.told() + "."
}

// allowed counts what the agent may send, write and read. The opening is the server's to send.
func (t *Tools) allowed() string {
	if t == nil {
		return "No " + ToolsFile + ": the agent only answers"
	}
	flows := len(slices.DeleteFunc(slices.Clone(t.Flows), func(f Flow) bool { return f.Role == RoleOpening }))
	delays := len(cmp.Or(t.Nudge, &Nudge{}).Delays)
	var parts []string
	for _, p := range []struct {
		n    int
		noun string
	}{
		{flows, "flow"}, {len(t.Tags), "tag"}, {len(t.Fields), "field"}, {len(t.Notes), "note"}, {delays, "nudge delay"},
	} {
		if p.n == 1 {
			parts = append(parts, "1 "+p.noun)
		} else if p.n > 1 {
			parts = append(parts, fmt.Sprintf("%d %ss", p.n, p.noun))
		}
	}
	if n := len(t.Readable.Tags) + len(t.Readable.Fields); n > 0 {
		parts = append(parts, fmt.Sprintf("%d to read only", n))
	}
	if len(parts) == 0 {
		return "Nothing for the agent in " + ToolsFile + ": it only answers"
	}
	return "Tools: " + strings.Join(parts, ", ")
}

// told names the parts of the notice of a handoff.
func (h *Handoff) told() string {
	var parts []string
	if h != nil {
		for _, p := range []struct{ set, part string }{{h.Tag, "tag"}, {h.FlowNs, "flow"}, {h.Webhook, "webhook"}} {
			if p.set != "" {
				parts = append(parts, p.part)
			}
		}
	}
	if len(parts) == 0 {
		return "handoff: nobody is told"
	}
	return "handoff: " + strings.Join(parts, ", ")
}
