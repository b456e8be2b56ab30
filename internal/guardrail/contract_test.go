package guardrail_test

import (
	"math"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Holds docs/spec/04-agent.md, "Guardrails", 1: anything invalid hands off.
func TestContract(t *testing.T) {
	unsure := says("Yes.")
	unsure.Confidence = 2
	reasonless := says("Yes.")
	reasonless.Escalate = true
	notSure := says("Yes.")
	notSure.Confidence = math.NaN()
	negative := says("Yes.")
	negative.Confidence = -0.1
	needless := says("Yes.")
	needless.EscalationReason = conversation.Complaint
	foreign := reasonless
	foreign.EscalationReason = conversation.ByError
	certain, lost := says("Yes."), says("Yes.")
	certain.Confidence = 1
	lost.Confidence = math.Inf(1)
	check(t, []guardCase{
		{"valid", says("Yes."), answered("Yes.")},
		{"several messages", says("Yes.", "No."), answered("Yes.", "No.")},
		{"no message", says(), failed("contract")},
		{"blank message", says(" "), failed("contract")},
		{"blank closing question", asking(" ", "Yes."), failed("contract")},
		{"confidence out of range", unsure, failed("contract")},
		{"escalation without a reason", reasonless, failed("contract")},
		{"three messages", says("Yes.", "No.", "So."), answered("Yes.", "No.", "So.")},
		{"several lines", says("Yes.\n\nNo."), answered("Yes.\n\nNo.")},
		{"only an emoji", says("👍"), answered("👍")},
		{"a closing question", asking("When?", "Yes."), answered("Yes.", "When?")},
		{"full confidence", certain, answered("Yes.")},
		{"one of several is blank", says("Yes.", "\n\t"), failed("contract")},
		{"the word null", says("null"), failed("contract")},
		{"invisible characters only", says("\u200b\u2060"), failed("contract")},
		{"a closing question that is null", asking("null", "Yes."), failed("contract")},
		{"confidence below zero", negative, failed("contract")},
		{"confidence that is no number", notSure, failed("contract")},
		{"confidence without end", lost, failed("contract")},
		{"a reason without escalation", needless, failed("contract")},
		{"a reason that is not the model's", foreign, failed("contract")},
	})
}
