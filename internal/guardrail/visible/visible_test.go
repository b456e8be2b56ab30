package visible_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/guardrail/visible"
)

// Holds docs/spec/04-agent.md, "Guardrails, in this order, on the final reply": the checks
// see what a contact sees.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"240 EUR\n8 evenings": "240 EUR\n8 evenings",
		"２４０ ＥＵＲ":             "240 EUR",
		"2️⃣4️⃣0️⃣ €":         "240 €",
		"2̶4̶0̶ €":            "240 €",
		"❷❹⓿ €":               "240 €",
		"➁➃ €":                "24 €",
		"②④ €":                "24 €",
		"240‑euro":            "240-euro",
		"240‐euro":            "240-euro",
		"se\u200bcr\u00adet":  "secret",
		"se\u3164cr\u115fet":  "secret",
		"se\uffa0cr\u0000et":  "secret",
		"a\u2800b":            "a b",
		"café":                "café",
		"cafe\u0301":          "café",
		"नमस्ते":              "नमस्ते",
		"\U000e0041x":         "x",
	} {
		if got := visible.Text(text); got != want {
			t.Errorf("Text(%+q) = %+q, want %+q", text, got, want)
		}
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": a message is not empty.
func TestAny(t *testing.T) {
	for text, want := range map[string]bool{
		"yes": true, "🙂": true, "?": true, "٣": true, "👍🏽": true, "€": true,
		"": false, " \n": false, "\u2800": false, "\u3164": false, "\u200e": false, "\u202e\u200d": false,
		"\ufe0f": false, "\u0301": false, "\U000e0041": false, "\x00\x01": false,
	} {
		if got := visible.Any(text); got != want {
			t.Errorf("Any(%+q) = %t, want %t", text, got, want)
		}
	}
}
