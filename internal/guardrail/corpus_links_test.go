package guardrail_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/04-agent.md, "Guardrails", 6: only URLs that the catalog or persona
// holds, whatever their spelling hides; others are removed.
func TestLinkCorpus(t *testing.T) {
	text, err := os.ReadFile("testdata/links.tsv")
	if err != nil {
		t.Fatal(err)
	}
	tn := school()
	tn.Prompt += " Write to https://wa.me/15550100 or mailto:desk@school.example."
	tn.Catalog.Offerings[1].URL = "https://schule-demo.de"
	tn.Catalog.FAQ = append(tn.Catalog.FAQ, tenant.Question{Question: "A plan?", Answer: "https://school.example/Files/Plan.pdf"})
	tn.Rules.PriceGuard = tenant.PriceGuardOff
	g, cases := guard(), 0
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		cases++
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		message := field[1]
		want := answered(message)
		switch {
		case field[0] == "removed" && len(field) == 3 && field[2] == "":
			want = failed("links")
		case field[0] == "removed" && len(field) == 3:
			want = mended("links", field[2])
		case field[0] != "kept" || len(field) != 2:
			t.Fatalf("not a case: %q", line)
		}
		got := g.Apply(guardrail.Input{Tenant: tn, Reply: says(message)})
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%q: verdict differs (-want +got):\n%s", message, d)
		}
	}
	if cases < 80 {
		t.Errorf("%d cases, want 80 at least", cases)
	}
}
