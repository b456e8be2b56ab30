package google_test

import (
	"context"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

// BenchmarkGenerate is the adapter's part in a usual turn: a prompt of 8 KB and a reply of
// 500 bytes, with a schema and four tools.
func BenchmarkGenerate(b *testing.B) {
	schema, err := reply.Schema()
	if err != nil {
		b.Fatal(err)
	}
	answer := `{"candidates":[{"content":{"role":"model","parts":[{"text":"` + strings.Repeat("Glazing costs. ", 33) + `"}]},"finishReason":"STOP"}],"usageMetadata":{"promptTokenCount":2000,"candidatesTokenCount":120}}`
	m := at(b, "gemini-3.8-flash", canned{200, []byte(answer)})
	req := llm.Request{
		System: strings.Repeat("Answer from the catalog only. ", 270), Messages: []llm.Message{say("How much is glazing?")},
		Tools: []llm.Tool{lookup, lookup, lookup, lookup}, Schema: schema, MaxOutputTokens: 800,
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Generate(context.Background(), req); err != nil {
			b.Fatal(err)
		}
	}
}
