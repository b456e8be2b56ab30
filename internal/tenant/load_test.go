package tenant_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const (
	prompt  = "You are the front desk."
	catalog = `{"businessName":"B","currency":"EUR","offerings":[{"id":"a","name":"A","description":"D","price":{"amount":100,"currency":"EUR"}}]}`
	rules   = `{"messages":{"acknowledgement":"ack","escalation":"esc"}}`
)

// folder is a valid tenant with some files replaced; an empty text leaves a file out.
func folder(files map[string]string) fstest.MapFS {
	all := map[string]string{"prompt.md": prompt, "catalog.json": catalog, "rules.json": rules}
	for name, text := range files {
		all[name] = text
	}
	m := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			m[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return m
}

// problems loads a folder that has some and returns them, one a line.
func problems(t *testing.T, folder fs.FS, o tenant.Options) []string {
	t.Helper()
	got, err := tenant.Load(folder, o)
	if err == nil {
		return nil
	}
	if got != nil {
		t.Error("Load returned a tenant together with problems")
	}
	var list tenant.Problems
	if !errors.As(err, &list) {
		t.Fatalf("Load returned a %T, want Problems", err)
	}
	return strings.Split(list.Error(), "\n")
}

// Holds docs/spec/10-config.md, first section: the committed demo tenant loads.
func TestLoadDemo(t *testing.T) {
	got, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo", ReplyField: "ai_message", TokenField: "ai_token", MaxTextUnits: 1000})
	if err != nil {
		t.Fatal(err)
	}
	if got.ID != "demo" || len(got.Catalog.Offerings) < 3 || len(got.Catalog.FAQ) < 6 || got.Tools == nil || len(got.Hash) != 64 {
		t.Errorf("the demo tenant is incomplete: %+v", got)
	}
	if got.Tools.IntentField() == nil || got.Tools.FunnelField() == nil || got.Tools.OfferingField() == nil {
		t.Error("the demo tenant does not mark its fields")
	}
	if k, ok := got.Keywords.Escalation.Find("I want a REFUND!"); !ok || k != "refund" {
		t.Errorf("escalation keyword = %q, %v", k, ok)
	}
	if got.Zone.String() != "Europe/Lisbon" {
		t.Errorf("zone = %v", got.Zone)
	}
}

// Holds docs/spec/10-config.md, "rules.json": the defaults.
func TestLoadDefaults(t *testing.T) {
	got, err := tenant.Load(folder(nil), tenant.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := tenant.Rules{
		Messages:                tenant.Messages{Acknowledgement: "ack", Escalation: "esc"},
		ConfidenceThreshold:     0.6,
		MaxTurnsPerConversation: 25,
		IdleResetHours:          24,
		HistoryDays:             30,
		Budget:                  tenant.Budget{DailyTokenCap: 1_000_000, DailyCostCapUSD: 5, WarnAt: 0.8},
		RateLimit:               tenant.RateLimit{TurnsPerSubscriberPerHour: 60},
		PriceGuard:              tenant.PriceGuardEscalate,
		Timezone:                "UTC",
		Audience:                tenant.Audience{Mode: tenant.AudienceAll},
	}
	if diff := cmp.Diff(want, got.Rules); diff != "" {
		t.Errorf("rules (-want +got):\n%s", diff)
	}
	if got.Tools != nil {
		t.Error("a tenant without a tools.json has tools")
	}
}

// Holds docs/spec/10-config.md, first section: every problem of every file at once.
func TestLoadReportsEveryFile(t *testing.T) {
	got := problems(t, folder(map[string]string{
		"prompt.md":    " \n",
		"catalog.json": "{\n  \"businessName\": \"\",\n  \"currency\": \"EURO\",\n  \"offerings\": []\n}",
		"rules.json":   "{\"messages\": {}}",
		"tools.json":   "{\"flows\": [,]}",
	}), tenant.Options{})
	want := []string{
		`catalog.json:2:19 /businessName: found "", expected a text that is not empty`,
		`catalog.json:3:15 /currency: found "EURO", expected an ISO 4217 code such as EUR`,
		`catalog.json:4:16 /offerings: found an empty list, expected a list of at least 1 object`,
		`prompt.md: found an empty file, expected the persona: who the agent is, its tone and its language`,
		`rules.json:1:14 /messages/acknowledgement: found nothing, expected a text that is not empty (the key is required)`,
		`rules.json:1:14 /messages/escalation: found nothing, expected a text that is not empty (the key is required)`,
		`tools.json:1:12: found invalid character ',' at start of value, expected valid JSON (comments and trailing commas are allowed)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// A JSON file that holds nothing says so.
func TestLoadEmptyFiles(t *testing.T) {
	got := problems(t, folder(map[string]string{"catalog.json": "\n", "rules.json": "// nothing yet\n"}), tenant.Options{})
	want := []string{
		`catalog.json:2:1: found the end of the file, expected valid JSON (comments and trailing commas are allowed)`,
		`rules.json:2:1: found the end of the file, expected valid JSON (comments and trailing commas are allowed)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestLoadMissingFiles(t *testing.T) {
	got := problems(t, fstest.MapFS{}, tenant.Options{})
	want := []string{
		`catalog.json: found no file, expected one of this name in the configuration folder (copy catalog.json.example and edit it, or set CONFIG_DIR)`,
		`prompt.md: found no file, expected one of this name in the configuration folder (copy prompt.md.example and edit it, or set CONFIG_DIR)`,
		`rules.json: found no file, expected one of this name in the configuration folder (copy rules.json.example and edit it, or set CONFIG_DIR)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// What is loaded is named by its content.
func TestLoadHash(t *testing.T) {
	hash := func(files map[string]string) string {
		got, err := tenant.Load(folder(files), tenant.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return got.Hash
	}
	plain := hash(nil)
	if hash(nil) != plain {
		t.Error("the same files have two hashes")
	}
	if hash(map[string]string{"prompt.md": prompt + "!"}) == plain || hash(map[string]string{"tools.json": "{}"}) == plain {
		t.Error("other files have the same hash")
	}
}

// FuzzLoad holds that no text of any file makes the reader panic, and that every
// problem lies inside its file.
func FuzzLoad(f *testing.F) {
	for _, name := range []string{"catalog.json", "rules.json", "tools.json"} {
		text, err := fs.ReadFile(demo.FS(), name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add(`{"offerings":[{"id":"\ud800"}],"a/b~":1,"a/b~":2}`)
	f.Add("{\"budget\":{\"prices\":{\"x/y\":{}}}} /* ü */")
	f.Add(strings.Repeat("[", 70))
	f.Fuzz(func(t *testing.T, text string) {
		files := map[string]string{"prompt.md": text, "catalog.json": text, "rules.json": text, "tools.json": text}
		_, err := tenant.Load(folder(files), tenant.Options{ReplyField: "f", TokenField: "t", ReplyFlowNs: "n", MaxTextUnits: 5})
		var list tenant.Problems
		if !errors.As(err, &list) {
			return
		}
		lines := strings.Split(text, "\n")
		for _, p := range list {
			if p.Line == 0 && p.Column == 0 {
				continue
			}
			if p.Line < 1 || p.Line > len(lines) || p.Column < 1 || p.Column > len(lines[p.Line-1])+1 {
				t.Errorf("%d:%d is outside of the file: %s", p.Line, p.Column, p)
			}
		}
	})
}

func BenchmarkLoadDemo(b *testing.B) {
	for b.Loop() {
		if _, err := tenant.Load(demo.FS(), tenant.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad500Offerings(b *testing.B) {
	var text strings.Builder
	text.WriteString(`{"businessName":"B","currency":"EUR","offerings":[`)
	for i := range 500 {
		fmt.Fprintf(&text, "{\"id\":\"o%d\",\"name\":\"Offering %d\",\"description\":%q,\"price\":{\"amount\":%d,\"currency\":\"EUR\"},\"schedule\":\"Mondays\",\"url\":\"https://kilnbrook.example/o/%d\"},\n", i, i, strings.Repeat("text ", 40), i, i)
	}
	text.WriteString("]}")
	large := folder(map[string]string{"catalog.json": text.String()})
	for b.Loop() {
		if _, err := tenant.Load(large, tenant.Options{}); err != nil {
			b.Fatal(err)
		}
	}
}
