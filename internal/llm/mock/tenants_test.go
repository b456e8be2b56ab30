package mock_test

import (
	"testing"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
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
func repairs() *tenant.Tenant {
	brl := func(amount int64) tenant.Money { return tenant.Money{Amount: amount, Currency: "BRL"} }
	return &tenant.Tenant{
		ID:     "repairs",
		Prompt: "Você é o balcão da Oficina Vagalume, que conserta celulares.\nResponda em português.\nTermine com a pergunta \"Quer deixar o aparelho hoje?\"",
		Catalog: tenant.Catalog{
			BusinessName: "Oficina Vagalume",
			Currency:     "BRL",
			Offerings: []tenant.Offering{
				{ID: "tela", Name: "Troca de tela", Price: brl(35000), Schedule: "De segunda a sexta, das 9h às 18h.", Description: "Vidro e display novos, com garantia de 90 dias."},
				{ID: "bateria", Name: "Troca de bateria", Price: brl(18950), Schedule: "Fica pronta em uma hora.", Description: "Bateria nova, com garantia de 90 dias.", URL: "https://vagalume.example/bateria"},
			},
			FAQ: []tenant.Question{
				{Question: "Onde fica a oficina?", Answer: "Rua dos Pirilampos, 12, ao lado da padaria."},
				{Question: "Vocês buscam o aparelho em casa?", Answer: "Não, o aparelho precisa ser trazido à oficina."},
			},
			PaymentOptions: []tenant.PaymentOption{
				{ID: "pix", Description: "Pix na retirada."},
				{ID: "cartao", Description: "Cartão de crédito em até 3 parcelas."},
			},
		},
		Rules: tenant.Rules{
			Messages:            tenant.Messages{Acknowledgement: "Só um momento.", Escalation: "Vou chamar um colega."},
			ConfidenceThreshold: 0.6,
			PriceGuard:          tenant.PriceGuardEscalate,
			Timezone:            "America/Sao_Paulo",
		},
	}
}

// cleaners is a business in a third script: Greek, where a question ends in ";".
func cleaners() *tenant.Tenant {
	t := repairs()
	t.ID = "cleaners"
	t.Prompt = "Είσαι η υποδοχή του καθαριστηρίου. Απάντα στα ελληνικά.\nΚλείσε με: Να περάσουμε να το πάρουμε;"
	t.Catalog = tenant.Catalog{
		BusinessName: "Καθαριστήριο Αφρός",
		Currency:     "EUR",
		Offerings: []tenant.Offering{
			{ID: "coat", Name: "Καθαρισμός παλτού", Price: tenant.Money{Amount: 1250, Currency: "EUR"}, Schedule: "Έτοιμο σε δύο ημέρες.", Description: "Στεγνό καθάρισμα και σιδέρωμα."},
			{ID: "carpet", Name: "Πλύσιμο χαλιού", Price: tenant.Money{Amount: 3000, Currency: "EUR"}, Schedule: "Έτοιμο σε μία εβδομάδα.", Description: "Με παραλαβή από το σπίτι."},
		},
		FAQ: []tenant.Question{{Question: "Πού βρίσκεστε;", Answer: "Οδός Κυμάτων 5, δίπλα στο φαρμακείο."}},
	}
	t.Rules.Timezone = "Europe/Athens"
	return t
}
