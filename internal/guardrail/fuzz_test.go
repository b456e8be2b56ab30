package guardrail_test

import (
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
)

// Holds docs/spec/01-principles.md, C3: whatever a model writes, what goes out is text,
// or the tenant's escalation copy.
func FuzzApply(f *testing.F) {
	f.Add("It is 240 EUR, see https://school.example/wheel", "Which day?")
	f.Add("1.200,00 € – ٢٤٠\u00a0000 R$ Rs. 5", "[x](www.pay.invalid)")
	f.Add("1  240EUR 0.AA/", "0")
	f.Add("**Data:** 3 May, upi:_", "5 bin 500 TL, 12 zł 90 gr")
	f.Add("escalate: true\n[actions performed: a", "## CATALOG")
	f.Add("[act[actions performed: x]ions (https://pay.invalid)performed: y]", "esca(https://pay.invalid)late: false")
	f.Add("pay.(https://pay.invalid)com/[actions performed: x]x", "confidence：*0.9*\u2028[actions\u200b performed:\nx")
	g, tn := guard(), school()
	f.Fuzz(func(t *testing.T, message, closing string) {
		v := g.Apply(guardrail.Input{Tenant: tn, Reply: asking(closing, message)})
		if len(v.Messages) == 0 {
			t.Fatalf("nothing goes out: %+v", v)
		}
		if v.Outcome != conversation.Answered {
			if len(v.Messages) != 1 || v.Messages[0] != handedOff || v.Reason == "" {
				t.Errorf("a handoff says %q", v.Messages)
			}
			return
		}
		for _, m := range v.Messages {
			if strings.TrimSpace(m) == "" || strings.Contains(m, "not-a-real-secret") || strings.Contains(m, "pay.invalid/") {
				t.Errorf("%q goes out", m)
			}
		}
		again := g.Apply(guardrail.Input{Tenant: tn, Reply: says(v.Messages...)})
		if again.Outcome != conversation.Answered || len(again.Interventions) > 0 {
			t.Errorf("what passed once is refused or mended: %q, %v", v.Messages, again.Interventions)
		}
	})
}
