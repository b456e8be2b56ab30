package guardrail

import "github.com/manychat-agent/manychat-agent/internal/conversation"

// confidence hands off a reply that the model is less sure of than the tenant asks.
func confidence(d *draft) finding {
	if d.reply.Confidence < d.tenant.Rules.ConfidenceThreshold {
		return finding{noted: true, outcome: conversation.Escalated, reason: conversation.LowConfidence}
	}
	return finding{}
}
