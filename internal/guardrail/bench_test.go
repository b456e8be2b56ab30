package guardrail_test

import (
	"fmt"
	"strings"
	"testing"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/17-quality.md, "Performance": what the checks cost a reply once the
// tenant is read. The targets are 100 µs with the demo tenant and 700 µs with 500 offerings.
func BenchmarkApply(b *testing.B) {
	small, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo"})
	if err != nil {
		b.Fatal(err)
	}
	usual := asking("Do mornings or evenings suit you?",
		"The wheel course is 240 EUR each, for eight evenings, Tuesdays or Thursdays from 18:30 to 21:00.",
		"You can read more at https://kilnbrook.example/courses/wheel and pay in two equal parts.")
	big := *small
	big.Catalog = bigCatalog(500)
	listing := says(
		"Course 17 is 217.50 EUR and course 350 is 550.50 EUR, each for eight evenings.",
		"See https://school.example/courses/17 and https://school.example/courses/350, parking is 2.50 EUR.")
	for name, c := range map[string]struct {
		tenant *tenant.Tenant
		in     guardrail.Input
	}{
		"demo":          {small, guardrail.Input{Reply: usual}},
		"500 offerings": {&big, guardrail.Input{Reply: listing}},
	} {
		b.Run(name, func(b *testing.B) {
			g := guard()
			c.in.Tenant = c.tenant
			b.ReportAllocs()
			for b.Loop() {
				if v := g.Apply(c.in); v.Outcome != conversation.Answered || len(v.Interventions) > 0 {
					b.Fatalf("verdict = %+v", v)
				}
			}
		})
	}
}

// Holds docs/spec/17-quality.md, "Performance": texts of 8 KB that make careless checks look
// at the same stretch again and again. The target is 30 ms.
func BenchmarkHostile(b *testing.B) {
	const size = 8 << 10
	nest := func(before, inside, after string) string {
		n := (size - len(inside)) / (len(before) + len(after))
		return strings.Repeat(before, n) + inside + strings.Repeat(after, n)
	}
	for name, text := range map[string]string{
		"nested links":        nest("pay.<", "https://pay.invalid ", ">com"),
		"nested, with a sign": nest("pay.<", "½ https://pay.invalid ", ">com"),
		"nested notes":        nest("[act", "[actions performed: x]", "ions performed: x]"),
		"links in fields":     nest("esca(https://", "[actions performed: x]", ".com)late: false\n"),
		"notes":               nest("[actions performed:", "", ""),
		"open fields":         nest("confidence:\n", "", ""),
		"fields":              nest("escalate: false confidence ", "", ""),
		"objects":             nest(`{"escalate":`, "", ""),
		"parts of flows":      nest("xcontent20270101_0001", "", ""),
		"parts of hosts":      nest("co.nt", "", ""),
		"marks":               nest("*a", "", ""),
	} {
		b.Run(name, func(b *testing.B) {
			g, tn := keeper(), account()
			for b.Loop() {
				g.Apply(guardrail.Input{Tenant: tn, Reply: says("Yes.", text)})
			}
		})
	}
}

// Holds docs/spec/10-config.md, "Reload": what the first reply of a configuration costs.
func BenchmarkFirstReply(b *testing.B) {
	tenants := [2]tenant.Tenant{}
	for i := range tenants {
		tenants[i].Catalog = bigCatalog(500)
	}
	g := guard()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.Apply(guardrail.Input{Tenant: &tenants[i%2], Reply: says("Yes.")})
	}
}

func bigCatalog(n int) tenant.Catalog {
	c := tenant.Catalog{BusinessName: "School", Currency: "EUR"}
	for i := range n {
		c.Offerings = append(c.Offerings, tenant.Offering{
			ID: fmt.Sprintf("course_%d", i), Name: fmt.Sprintf("Course %d", i),
			Description: fmt.Sprintf("Eight evenings of course %d, clay for %d.20 EUR extra, for groups of at most 8.", i, i),
			Price:       tenant.Money{Amount: int64(20050 + 100*i), Currency: "EUR"},
			URL:         fmt.Sprintf("https://school.example/courses/%d", i),
		})
		c.FAQ = append(c.FAQ, tenant.Question{Question: "Where is it?", Answer: fmt.Sprintf("In room %d. Parking is 2.50 EUR.", i)})
	}
	return c
}
