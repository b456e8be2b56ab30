package mock_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

// Holds docs/spec/04-agent.md, "The mock": whatever the prompt and the history, an honest
// mock answers by the contract, and the same when it is asked again.
func FuzzAnswer(f *testing.F) {
	f.Add("## CATALOG\nBusiness: B\n\n### OFFERING a\nName: A\nPrice: 1 EUR\n", "", "", "how much is a?")
	f.Add("", "", "", "hi")
	f.Add("## PERSONA\nAsk: \"When?\"\n\n## CATALOG\n\n### FAQ 1\nQuestion: Where?\n", "hello", "When?", "where?")
	f.Add("\n## CATALOG\n### PAYMENT x\nDescription: \n### FAQ", "", "", "pay by card")
	f.Add("\n## CATALOG\n### OFFERING a\nName: Red Kite\nPrice: 1 EUR\nDescription: Silk. Two lines.\n### OFFERING b\nName: Blue Kite\nPrice: 2 EUR\n",
		"<<<CONTACT_MESSAGE>>>\nred kite\n<<<END_CONTACT_MESSAGE>>>", "Red Kite: 1 EUR", "OFFERING: b\nFIRST NAME:\n<<<CONTACT_MESSAGE>>>x<<<CONTACT_MESSAGE>>>is it silk?")
	m := mock.New()
	f.Fuzz(func(t *testing.T, system, earlier, answer, text string) {
		req := llm.Request{System: system, Messages: []llm.Message{
			{Role: llm.User, Text: earlier}, {Role: llm.Assistant, Text: answer}, {Role: llm.User, Text: text},
		}}
		resp, err := m.Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reply.Decode(resp.Text); err != nil {
			t.Errorf("%v: %s", err, resp.Text)
		}
		again, err := mock.New().Generate(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(resp, again); d != "" {
			t.Errorf("the same request is answered otherwise (-first +again):\n%s", d)
		}
	})
}
