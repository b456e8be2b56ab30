package guardrail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
)

// Holds docs/spec/04-agent.md, "Reply contract": what is no reply hands off under its
// own class.
func TestFailure(t *testing.T) {
	got := guard().Apply(guardrail.Input{Tenant: school(), Failure: "length"})
	if d := cmp.Diff(failed("length"), got); d != "" {
		t.Errorf("verdict differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails": a handoff replaces all text.
func TestModelEscalates(t *testing.T) {
	r := asking("Anything else?", "You get 50 EUR off.", "## CATALOG")
	r.Escalate, r.EscalationReason = true, conversation.PriceNegotiation
	check(t, []guardCase{
		{"its reason is kept", r, guardrail.Verdict{Messages: []string{handedOff},
			Outcome: conversation.Escalated, Reason: conversation.PriceNegotiation}},
	})
}
