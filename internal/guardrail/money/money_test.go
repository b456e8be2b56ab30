package money_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/money"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/04-agent.md, "Guardrails", 5: an amount is a numeral in any script and
// any locale's separators. Whatever the price, each of its spellings is held, and the
// same spelling of one minor unit more is not.
func TestEverySpellingOfAPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		code := rapid.SampledFrom([]tenant.Currency{"EUR", "USD", "JPY", "KWD", "INR", "BRL", "CHF", "GBP"}).Draw(t, "currency")
		price := tenant.Money{Amount: rapid.Int64Range(2, 500_000_000).Draw(t, "amount"), Currency: code}
		more := price
		more.Amount++
		facts := money.Read(&tenant.Catalog{Currency: code, Offerings: []tenant.Offering{{Price: price}}}, nil)
		spell := spelling(t)
		if text := spell(price); !facts.HoldsAll(text) {
			t.Fatalf("%s is not found in %q", price, text)
		}
		if text := spell(more); facts.HoldsAll(text) {
			t.Fatalf("%q passes for %s", text, price)
		}
		if text := spell(tenant.Money{Amount: price.Amount, Currency: "SEK"}); facts.HoldsAll(text) {
			t.Fatalf("%q passes for %s", text, price)
		}
	})
}

// spelling draws a way to write an amount in a sentence.
func spelling(t *rapid.T) func(tenant.Money) string {
	marks := rapid.SampledFrom([][2]string{{",", "."}, {".", ","}, {" ", ","}, {"\u202f", ","}, {"'", "."}, {"’", "."}, {"", "."}, {"", ","}, {"٬", "٫"}}).Draw(t, "separators")
	zero := rapid.SampledFrom([]rune{'0', '٠', '۰', '०', '๐', '０', '𝟎'}).Draw(t, "digits")
	frame := rapid.SampledFrom([]string{
		"It is %[1]s %[2]s.", "It is %[2]s %[1]s.", "%[2]s%[1]s", "%[1]s%[2]s", "**%[1]s** %[2]s", "(%[2]s) %[1]s", "%[1]s\u2011%[2]s", "a %[1]s–%[2]s course", "%[2]s\u2011%[1]s", "%[1]s\u2800%[2]s", "%[2]s: %[1]s", "On 1.2.2027 at 18:30, %[1]s %[2]s",
	}).Draw(t, "sentence")
	return func(m tenant.Money) string {
		whole, fraction, _ := strings.Cut(m.Decimal(), ".")
		for i := len(whole) - 3; i > 0; i -= 3 {
			whole = whole[:i] + marks[0] + whole[i:]
		}
		if fraction != "" {
			whole += marks[1] + fraction
		}
		digits := strings.Map(func(r rune) rune {
			if '0' <= r && r <= '9' {
				return zero + r - '0'
			}
			return r
		}, whole)
		return fmt.Sprintf(frame, digits, m.Currency)
	}
}

// Holds docs/spec/04-agent.md, "Guardrails", 5: a magnitude multiplies the number before
// it. With one, no price from a thousand on is held, however its thousands are marked.
func TestMagnitudeOfAPrice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := rapid.Int64Range(1000, 999_999).Draw(t, "price")
		facts := money.Read(&tenant.Catalog{Currency: "EUR", Offerings: []tenant.Offering{{Price: tenant.Money{Amount: 100 * whole, Currency: "EUR"}}}}, nil)
		mark := rapid.SampledFrom([]string{"", ",", ".", "'", "\u202f"}).Draw(t, "mark")
		magnitude := rapid.SampledFrom([]string{
			"k", " k", " K", " thousand", " Tsd.", "-thousand", " mil", " тыс.", " M", " mn", " million", " T", "bn", " bn", " bln", " billion", " Mrd.", " 万",
		}).Draw(t, "magnitude")
		frame := rapid.SampledFrom([]string{"%[1]s EUR", "%[1]s €", "€%[1]s", "EUR %[1]s", "%[1]s euros"}).Draw(t, "sentence")
		amount := fmt.Sprintf("%d%s%03d", whole/1000, mark, whole%1000)
		if !facts.HoldsAll(fmt.Sprintf(frame, amount)) {
			t.Fatalf("%d EUR is not found in %q", whole, amount)
		}
		if text := fmt.Sprintf(frame, amount+magnitude); facts.HoldsAll(text) {
			t.Fatalf("%q passes for %d EUR", text, whole)
		}
	})
}

// Holds docs/spec/04-agent.md, "Guardrails", 5: any text can be asked about, and a text
// without a figure, a number word or a sign holds no amount.
func FuzzHoldsAll(f *testing.F) {
	facts := money.Read(&tenant.Catalog{Currency: "EUR", Offerings: []tenant.Offering{{Price: tenant.Money{Amount: 24000, Currency: "EUR"}}}},
		[]string{"240 taler, 9,50 €"})
	for _, text := range []string{"240 EUR", "1) €2€50 (R$ 3", "5 ر.س", "二百元", "zweihundertvierzig €", "100, 200 or 300 EUR", "S/. 5 /-", "99¢", "1万2,800円", "12 ديناراً و750 فلساً", "Fr 8.30–12.00", "€–2 k", "EUR: two lakh – €", "5 TEUR 2k円", "Rs. two-hundred=₹", "2️⃣ bn·€"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		facts.HoldsAll(text)
		if !facts.HoldsAll("It is 240 EUR.\n\n" + strings.Map(onlyLatin, text)) {
			t.Errorf("a text without figures holds an amount: %q", text)
		}
	})
}

func onlyLatin(r rune) rune {
	if 'u' <= r && r <= 'z' || r == ' ' {
		return r
	}
	return -1
}
