package prompt_test

import (
	"testing"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/tenant/tenanttest"
)

// academy is the demo tenant, in English.
func academy(t testing.TB) *tenant.Tenant {
	t.Helper()
	loaded, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	return loaded
}

// repairs is a business of another trade in another language, Portuguese.
func repairs() *tenant.Tenant { return tenanttest.Repairs() }

// equipped is the same business with tools.
func equipped() *tenant.Tenant { return tenanttest.Equipped() }

func promptOf(t testing.TB, of *tenant.Tenant) *prompt.Prompt {
	t.Helper()
	p, err := prompt.New(of)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Holds docs/spec/04-agent.md, "Prompt": all of what a model reads, for both fixture
// tenants: the order, the notices, the fences.
func TestGoldenTenants(t *testing.T) {
	visit := entries("contact: Hi! Do you teach beginners?", "agent: Hello! Yes, nobody needs talent.", "contact: And how much is the wheel course?", "agent: It is 240 EUR.")
	visit[3].Actions = []action.Record{{Tool: action.SetField, ID: "course", Value: "wheel_course", Status: action.Performed}}
	conserto := entries("contact: Oi, quanto custa trocar a tela?", "agent: A troca de tela custa 350 BRL.", "contact: Obrigado")
	mara := contact.Sale{Intent: contact.Prospect, Stage: contact.Qualifying, Offering: "wheel_course"}
	tests := []struct {
		name string
		of   *tenant.Tenant
		turn prompt.Turn
	}{
		{"academy", academy(t), prompt.Turn{History: visit, Text: "How long is it?\nAnd is there parking?", FirstName: "Mara", Offering: "wheel_course", Sale: mara, Now: noon}},
		{"academy-closed", academy(t), prompt.Turn{Text: "Can I come by now?", Now: noon.Add(9 * time.Hour)}},
		{"repairs", repairs(), prompt.Turn{History: conserto, Text: "Obrigado", Offering: "tela", Now: noon}},
		{"repairs-equipped", equipped(), prompt.Turn{History: conserto, Text: "Obrigado", Earlier: cutShort(), Now: noon}},
	}
	for _, tt := range tests {
		p := promptOf(t, tt.of)
		golden(t, tt.name, file("system", p.System)+archive(p.Messages(tt.turn)))
	}
}
