package guardrail_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// priceCatalogs are the catalogs of testdata/prices.tsv: prices in the minor units of the
// currency, and what the FAQ and the payment options say.
var priceCatalogs = map[string]struct {
	currency tenant.Currency
	prices   []int64
	said     string // of the first offering
	faq, pay string
}{
	"pottery":   {"EUR", []int64{24000, 120000, 18000}, "Eight evenings. Clay for 9,50 € extra.", "Parking is 2.50 EUR.", "In two parts of 120 EUR."},
	"massage":   {"EUR", []int64{6000, 9000}, "60 minutes for the back, 90 minutes for all of you.", "60 minutes is the shortest. Come early.", "By card."},
	"ceramica":  {"BRL", []int64{123456, 8990}, "Dez aulas.", "A taxa é de R$ 15.", "Em 3x de R$ 411,52."},
	"tours":     {"USD", []int64{4999, 129900}, "A walk through the harbor.", "Lockers are 99¢.", "A deposit of $100 holds your seat."},
	"mexico":    {"MXN", []int64{150000}, "Taller de un día.", "Sí.", "En efectivo."},
	"dojo":      {"JPY", []int64{12000, 3500}, "初心者コース。", "見学は500円です。", "現金のみ。"},
	"clinic":    {"KWD", []int64{4900, 12500}, "جلسة واحدة.", "رسوم الحجز 0.750 د.ك", "نقدا."},
	"riyadh":    {"SAR", []int64{20000, 150000}, "دورة.", "نعم.", "نقدا."},
	"yoga":      {"INR", []int64{12000000, 499900}, "A year of yoga.", "The trial class is ₹500.", "By UPI."},
	"alpen":     {"CHF", []int64{125000, 8550}, "Zehn Wochen.", "Die Jahreskarte kostet Fr. 490.–.", "In drei Raten zu CHF 416.65."},
	"szkola":    {"PLN", []int64{34900, 120000}, "Osiem wieczorów.", "Materiały 49,90 zł.", "Przelewem."},
	"kurs":      {"TRY", []int64{150000, 75000}, "Sekiz ders.", "Kayıt ücreti 250 TL.", "Kartla."},
	"shkola":    {"RUB", []int64{540000, 1290000}, "Восемь занятий.", "Пробное занятие 500 руб.", "Картой."},
	"lima":      {"PEN", []int64{35000, 8000}, "Ocho clases.", "La matrícula cuesta 50 soles.", "Con tarjeta."},
	"bucuresti": {"RON", []int64{45000}, "Opt seri.", "Da.", "Cu cardul."},
	"bangkok":   {"THB", []int64{120000, 50000}, "แปดครั้ง", "ได้ค่ะ", "เงินสด"},
	"seoul":     {"KRW", []int64{50000, 120000}, "여덟 번.", "네.", "카드."},
	"beijing":   {"CNY", []int64{39900, 128000}, "八节课。", "可以。", "刷卡。"},
	"stockholm": {"SEK", []int64{69500}, "Åtta kvällar.", "Ja.", "Med kort."},
	"london":    {"GBP", []int64{4500, 12000}, "One class.", "Yes.", "By card."},
	"tehran":    {"IRR", []int64{500000000}, "هشت جلسه.", "بله.", "نقد."},
	"telaviv":   {"ILS", []int64{35000}, "שמונה מפגשים.", "כן.", "בכרטיס."},
	"jakarta":   {"IDR", []int64{15000000}, "Delapan kali.", "Ya.", "Tunai."},
	"hanoi":     {"VND", []int64{500000}, "Tám buổi.", "Có.", "Tiền mặt."},
	"lagos":     {"NGN", []int64{1500000}, "One class.", "Yes.", "By card."},
}

func priceTenant(t *testing.T, name string) *tenant.Tenant {
	c, ok := priceCatalogs[name]
	if !ok {
		t.Fatalf("no catalog %q", name)
	}
	tn := &tenant.Tenant{ID: name, Rules: tenant.Rules{Messages: tenant.Messages{Escalation: handedOff}, PriceGuard: tenant.PriceGuardEscalate}}
	tn.Catalog = tenant.Catalog{
		BusinessName: "School", Currency: c.currency,
		FAQ:            []tenant.Question{{Question: "?", Answer: c.faq}},
		PaymentOptions: []tenant.PaymentOption{{ID: "pay", Description: c.pay}},
	}
	for _, price := range c.prices {
		tn.Catalog.Offerings = append(tn.Catalog.Offerings, tenant.Offering{ID: "a", Name: "A", Description: c.said, Price: tenant.Money{Amount: price, Currency: c.currency}})
	}
	return tn
}

// tally counts the replies of one language that should and should not be caught.
type tally struct{ caught, missed, passed, refused int }

// Holds docs/spec/04-agent.md, "Guardrails", 5: its corpus of replies in several
// languages, right and wrong, with its precision and recall.
func TestPriceCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/prices.tsv")
	if err != nil {
		t.Fatal(err)
	}
	g, tenants, languages, all := guard(), map[string]*tenant.Tenant{}, map[string]*tally{}, tally{}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(field) != 4 || field[2] != "right" && field[2] != "wrong" {
			t.Fatalf("not a case: %q", line)
		}
		if tenants[field[0]] == nil {
			tenants[field[0]] = priceTenant(t, field[0])
		}
		count := languages[field[1]]
		if count == nil {
			count = &tally{}
			languages[field[1]] = count
		}
		messages := strings.Split(strings.ReplaceAll(field[3], "⏎", "\n"), " ‖ ")
		v := g.Apply(guardrail.Input{Tenant: tenants[field[0]], Reply: says(messages...)})
		caught := v.Outcome != conversation.Answered
		for _, c := range []*tally{count, &all} {
			c.add(caught, field[2] == "wrong")
		}
		if caught != (field[2] == "wrong") {
			t.Errorf("%s %s is labelled %s, caught: %t: %s", field[0], field[1], field[2], caught, field[3])
		}
	}
	for _, language := range slices.Sorted(maps.Keys(languages)) {
		t.Logf("%s: %+v", language, *languages[language])
	}
	precision, recall := all.rates()
	t.Logf("all: %+v, precision %.3f, recall %.3f", all, precision, recall)
	if n := all.caught + all.missed + all.passed + all.refused; n < 240 || len(languages) < 8 || precision < 1 || recall < 1 {
		t.Errorf("%d cases in %d languages, precision %.3f, recall %.3f", n, len(languages), precision, recall)
	}
}

func (c *tally) add(caught, wrong bool) {
	switch {
	case caught && wrong:
		c.caught++
	case caught:
		c.refused++
	case wrong:
		c.missed++
	default:
		c.passed++
	}
}

func (c *tally) rates() (precision, recall float64) {
	return float64(c.caught) / float64(c.caught+c.refused), float64(c.caught) / float64(c.caught+c.missed)
}
