package guardrail_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/04-agent.md, "Guardrails", 5: every amount is one that the catalog holds.
func TestPriceGuardPasses(t *testing.T) {
	for _, text := range []string{
		"It is 240 EUR.", "It is 240.00 €", "€240", "EUR 240,00", "240,- €", "240 eur", "240 euros", "240 Euro",
		"1200 EUR", "1.200 €", "1,200.00 EUR", "1 200 €", "1 200,00 EUR", "1'200 EUR", "1’200.- EUR",
		"٢٤٠ EUR", "２４０ €", "२४० EUR",
		"Between 120-240 EUR", "120 – 240 €", "from 120 to 240 EUR",
		"Clay is 9.50 EUR extra.", "Parking is €2,5", "Two parts of 120 EUR.",
		"1200 taler", "240 taler",
		"Eight evenings, 18:30 to 21:00", "At 18:30 - 240 EUR", "Level 2 - 240 EUR", "In 2027 for 8 people", "50% of 300 people",
		"12 European cities, 300 reasons", "ALL 8 wheels, TOP 3", "300 soldiers", "5 pounds of clay", "The fee in EUR. 300 people came.",
		"Call 555 0100", "240 EUR, 20 h, Tuesdays 18:30",
		"**240** EUR", "240 (EUR)", "EUR: 240", "240 EUR (20 h)", "*240 EUR* *20 h*", "Option 2: €240", "Part 2 (€120)", "Level 2 (EUR 240)", "240 EUR/20 h", "**240** EUR (20 h)",
		"2\u200b40 €", "²⁴⁰ €", "50 m² 240 EUR", "In 2026 240 EUR", "Between 120 and 240 EUR", "entre 120 y 240 EUR", "120…240 EUR", "On 5 and 240 EUR",
		"240.0 EUR", "9.50 EUR (2.50 EUR more)", "Room 5, 240 EUR", "We take 2 thousand people", "1.2 thousand euros", "€1.2k",
	} {
		t.Run(text, func(t *testing.T) {
			got := guard().Apply(guardrail.Input{Tenant: school(), Reply: says(text)})
			if d := cmp.Diff(answered(text), got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

func TestPriceGuardEscalates(t *testing.T) {
	for _, text := range []string{
		"It is 250 EUR.", "€ 250", "250€", "24 EUR", "2400 EUR", "240.50 EUR", "EUR250", "250 eur",
		"250 euros", "250 ευρώ", "250 евро", "250 dólares", "$240.99", "US$ 250", "250 US$", "R$ 250", "250 USD", "USD 250", "250 pesos", "250円", "250 zł",
		"240 USD", "$240", "240 dólares", "£240 or 240 GBP", "240 pesos", "USD 9.50", "٢٥٠ EUR", "２５０ €", "1.300 €", "1 300 €", "¥250", "£99",
		"120-250 EUR", "120 – 250 €", "from 100 to 240 EUR", "€240-260", "1300 taler", "0 EUR", "12 dollars, or 240 EUR",
		"**250** EUR", "_250_ €", "250 (EUR)", "EUR: 250", "€ = 250", "prices in EUR: 250", "250 [EUR]", "250/EUR", "**250** EUR (20 h)", "(EUR) 250", "Level 2 (EUR 250)",
		"250\u200b€", "250 \u200bEUR", "2\u200b5\u200b0 €", "²⁵⁰ €", "②⑤⓪ €", "𝟐𝟓𝟎 €",
		"between 100 and 240 EUR", "100 or 240 EUR", "entre 100 y 240 EUR", "100 o 240 EUR", "entre 100 e 240 EUR", "100 ou 240 EUR",
		"zwischen 100 und 240 EUR", "100 oder 240 EUR", "100…240 EUR", "100...240 EUR", "100−240 EUR", "100 until 240 EUR",
		"2k EUR", "240k €", "€240k", "1.3 thousand euros", "240 thousand EUR", "240 mil EUR", "240 Tausend EUR", "240万円", "1k to 240 EUR",
		"240,000 EUR", "240.000 €", "EUR 120.000", "9.500 EUR", "1 240 EUR", "3 120 EUR", "300 120 EUR",
		"240 CHF", "240 francs", "240 yuan", "240 yen", "£240", "240 ₩", "240 rupees", "240 kr", "240 dinars", "240 zł",
		"240 forint", "240 Kč", "240 TL", "240 sterling", "240 pounds", "240 lei", "Rs. 240", "240 USDT", "250欧元",
	} {
		t.Run(text, func(t *testing.T) {
			got := guard().Apply(guardrail.Input{Tenant: school(), Reply: says("Yes.", text)})
			if d := cmp.Diff(failed("price_guard"), got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

// A separator before three digits is a decimal one only where a currency has three.
func TestPriceGuardOfThreeDecimals(t *testing.T) {
	tn := school()
	tn.Catalog = tenant.Catalog{BusinessName: "School", Currency: "KWD", Offerings: []tenant.Offering{
		{ID: "wheel", Name: "Wheel", Price: tenant.Money{Amount: 4900, Currency: "KWD"}}}}
	for text, want := range map[string]bool{"4.900 KWD": true, "4,900 dinars": true, "4.9 KWD": true, "4900 KWD": false, "4.900 EUR": false} {
		got := guard().Apply(guardrail.Input{Tenant: tn, Reply: says(text)})
		if passed := len(got.Interventions) == 0; passed != want {
			t.Errorf("%q passed: %t, want %t", text, passed, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 5: escalate, flag, off.
func TestPriceGuardModes(t *testing.T) {
	wrong := asking("Shall I book it for 250 EUR?", "Yes.")
	want := map[tenant.PriceGuard]guardrail.Verdict{
		tenant.PriceGuardEscalate: failed("price_guard"),
		tenant.PriceGuardFlag:     mended("price_guard", "Yes.", "Shall I book it for 250 EUR?"),
		tenant.PriceGuardOff:      answered("Yes.", "Shall I book it for 250 EUR?"),
	}
	for mode, verdict := range want {
		t.Run(string(mode), func(t *testing.T) {
			tn := school()
			tn.Rules.PriceGuard = mode
			got := guard().Apply(guardrail.Input{Tenant: tn, Reply: wrong})
			if d := cmp.Diff(verdict, got); d != "" {
				t.Errorf("verdict differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/10-config.md, "Reload": a turn is judged by the tenant it started with.
func TestPriceGuardFollowsTheTenant(t *testing.T) {
	g, before, after := guard(), school(), school()
	after.Catalog.Offerings[0].Price.Amount = 26000
	for range 2 {
		if got := g.Apply(guardrail.Input{Tenant: before, Reply: says("260 EUR")}); len(got.Interventions) == 0 {
			t.Error("a price of another tenant passed")
		}
		if got := g.Apply(guardrail.Input{Tenant: after, Reply: says("260 EUR")}); len(got.Interventions) != 0 {
			t.Errorf("the tenant's own price was refused: %v", got.Interventions)
		}
	}
}
