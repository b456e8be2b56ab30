package mock_test

import (
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

// Holds docs/spec/04-agent.md, "The mock": whatever the prompt, an honest mock answers
// by the contract.
func FuzzAnswer(f *testing.F) {
	f.Add("## CATALOG\nBusiness: B\n\n### OFFERING a\nName: A\nPrice: 1 EUR\n", "how much is a?")
	f.Add("", "hi")
	f.Add("## PERSONA\nAsk: \"When?\"\n\n## CATALOG\n\n### FAQ 1\nQuestion: Where?\n", "where?")
	f.Add("\n## CATALOG\n### PAYMENT x\nDescription: \n### FAQ", "pay by card")
	m := mock.New()
	f.Fuzz(func(t *testing.T, system, text string) {
		resp, err := m.Generate(t.Context(), llm.Request{System: system, Messages: []llm.Message{{Role: llm.User, Text: text}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := reply.Decode(resp.Text); err != nil {
			t.Errorf("%v: %s", err, resp.Text)
		}
	})
}
