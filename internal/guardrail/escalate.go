package guardrail

import "github.com/manychat-agent/manychat-agent/internal/conversation"

// escalate hands off a reply in which the model says so itself. Its text is replaced
// whatever it holds, so no later check looks at it; the model's own decision is no
// intervention.
func escalate(d *draft) finding {
	if d.reply.Escalate {
		return finding{outcome: conversation.Escalated, reason: d.reply.EscalationReason}
	}
	return finding{}
}
