package guardrail_test

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Holds docs/spec/04-agent.md, "Guardrails", 5: a second corpus, whose author had not
// seen the guard. Its first run, before the guard was tuned to the kinds of replies that
// failed, came to 31 caught, 1 missed, 21 passed and 7 refused: precision 0.816, recall
// 0.969. What it asserts since is that these kinds stay mended.
func TestPriceFreshCorpus(t *testing.T) {
	var catalogs map[string]tenant.Catalog
	raw, err := os.ReadFile("testdata/fresh/catalogs.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &catalogs); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/fresh/replies.tsv")
	if err != nil {
		t.Fatal(err)
	}
	g, languages, all := guard(), map[string]*tally{}, tally{}
	for line := range strings.Lines(string(text)) {
		field := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		catalog, found := catalogs[field[1]]
		if len(field) != 6 || !found || field[3] != "right" && field[3] != "wrong" {
			t.Fatalf("not a case: %q", line)
		}
		tn := &tenant.Tenant{ID: field[1], Catalog: catalog,
			Rules: tenant.Rules{Messages: tenant.Messages{Escalation: handedOff}, PriceGuard: tenant.PriceGuardEscalate}}
		v := g.Apply(guardrail.Input{Tenant: tn, Reply: says(strings.ReplaceAll(field[4], `\n`, "\n"))})
		caught, wrong := v.Outcome != conversation.Answered, field[3] == "wrong"
		if languages[field[2]] == nil {
			languages[field[2]] = &tally{}
		}
		languages[field[2]].add(caught, wrong)
		all.add(caught, wrong)
		if caught != wrong {
			t.Errorf("%s is %s, caught: %t: %s (%s)", field[0], field[3], caught, field[4], field[5])
		}
	}
	for _, language := range slices.Sorted(maps.Keys(languages)) {
		t.Logf("%s: %+v", language, *languages[language])
	}
	precision, recall := all.rates()
	t.Logf("all: %+v, precision %.3f, recall %.3f", all, precision, recall)
	if all.caught+all.missed+all.passed+all.refused != 60 || precision < 1 || recall < 1 {
		t.Errorf("%+v, precision %.3f, recall %.3f", all, precision, recall)
	}
}
