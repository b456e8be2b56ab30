package guardrail

import "github.com/manychat-agent/manychat-agent/internal/conversation"

// contract hands off a reply that breaks the reply contract, or of which nothing would go
// out.
func contract(d *draft) finding {
	if d.reply.Validate() != nil || !d.reply.Escalate && len(d.messages) == 0 {
		return broken()
	}
	return finding{}
}

// escalate hands off a reply in which the model says so itself. Its text is replaced
// whatever it holds, so no later check looks at it; the model's own decision is no
// intervention.
func escalate(d *draft) finding {
	if d.reply.Escalate {
		return finding{outcome: conversation.Escalated, reason: d.reply.EscalationReason}
	}
	return finding{}
}

// confidence hands off a reply that the model is less sure of than the tenant asks.
func confidence(d *draft) finding {
	if d.reply.Confidence < d.tenant.Rules.ConfidenceThreshold {
		return finding{noted: true, outcome: conversation.Escalated, reason: conversation.LowConfidence}
	}
	return finding{}
}
