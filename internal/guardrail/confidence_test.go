package guardrail_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
)

// Holds docs/spec/04-agent.md, "Guardrails", 4.
func TestConfidence(t *testing.T) {
	low := says("Perhaps.")
	low.Confidence = 0.59
	enough := says("Yes.")
	enough.Confidence = 0.6
	none, just := says("Perhaps."), says("Perhaps.")
	none.Confidence, just.Confidence = 0, 0.5999
	priced, certain := says("It is 250 EUR."), says("Yes.")
	priced.Confidence, certain.Confidence = 0.1, 1
	unsure := guardrail.Verdict{Messages: []string{handedOff}, Outcome: conversation.Escalated,
		Reason: conversation.LowConfidence, Interventions: []string{"confidence"}}
	check(t, []guardCase{
		{"none at all", none, unsure},
		{"just below", just, unsure},
		{"certain", certain, answered("Yes.")},
		{"before the price is looked at", priced, unsure},
		{"below", low, unsure},
		{"at the threshold", enough, answered("Yes.")},
	})
}

// Holds docs/spec/10-config.md, "rules.json": the threshold is the tenant's.
func TestConfidenceThreshold(t *testing.T) {
	r := says("Perhaps.")
	r.Confidence = 0.4
	for threshold, want := range map[float64]conversation.Outcome{0: conversation.Answered, 0.4: conversation.Answered, 0.41: conversation.Escalated, 1: conversation.Escalated} {
		tn := school()
		tn.Rules.ConfidenceThreshold = threshold
		if got := guard().Apply(guardrail.Input{Tenant: tn, Reply: r}); got.Outcome != want {
			t.Errorf("at a threshold of %v the outcome is %s, want %s", threshold, got.Outcome, want)
		}
	}
}
