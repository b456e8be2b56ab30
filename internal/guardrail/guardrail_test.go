package guardrail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const handedOff = "A colleague will write to you."

// school is a tenant with one of everything that the checks read.
func school() *tenant.Tenant {
	return &tenant.Tenant{
		ID:     "school",
		Prompt: "You are the front desk. Our map: https://school.example/map.",
		Catalog: tenant.Catalog{
			BusinessName: "School", Currency: "EUR",
			Offerings: []tenant.Offering{
				{ID: "wheel", Name: "Wheel course", Description: "Eight evenings, 240 taler. Clay for 9,50 € extra.",
					Price: tenant.Money{Amount: 24000, Currency: "EUR"}, URL: "https://school.example/wheel"},
				{ID: "masters", Name: "Masters", Description: "A year. 1200 taler.", Price: tenant.Money{Amount: 120000, Currency: "EUR"}},
			},
			FAQ:            []tenant.Question{{Question: "Where?", Answer: "Lane 3, see www.school.example/find. Parking is 2.50 EUR."}},
			PaymentOptions: []tenant.PaymentOption{{ID: "parts", Description: "In two parts of 120 EUR."}},
		},
		Rules: tenant.Rules{
			Messages:            tenant.Messages{Escalation: handedOff},
			ConfidenceThreshold: 0.6,
			PriceGuard:          tenant.PriceGuardEscalate,
		},
	}
}

func guard() *guardrail.Guard {
	return guardrail.New(guardrail.Config{
		Markers: []string{"<<<FENCE>>>", "<<<THE_FENCE>>>", "## CATALOG"},
		Secrets: []string{"", "240 EUR", "not-a-real-secret"},
	})
}

func says(messages ...string) reply.Reply { return reply.Reply{Messages: messages, Confidence: 0.9} }

func asking(closing string, messages ...string) reply.Reply {
	r := says(messages...)
	r.ClosingQuestion = closing
	return r
}

func answered(messages ...string) guardrail.Verdict {
	return guardrail.Verdict{Messages: messages, Outcome: conversation.Answered}
}

func mended(by string, messages ...string) guardrail.Verdict {
	v := answered(messages...)
	v.Interventions = []string{by}
	return v
}

func failed(by string) guardrail.Verdict {
	return guardrail.Verdict{Messages: []string{handedOff}, Outcome: conversation.EscalatedError,
		Reason: conversation.ByError, Interventions: []string{by}}
}

type guardCase struct {
	name  string
	reply reply.Reply
	want  guardrail.Verdict
}

func check(t *testing.T, tests []guardCase) {
	t.Helper()
	g, tn := guard(), school()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Helper()
			got := g.Apply(guardrail.Input{Tenant: tn, Reply: tt.reply})
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}
