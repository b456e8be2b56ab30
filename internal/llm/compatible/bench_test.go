package compatible_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
)

// BenchmarkGenerate is a usual turn without the network: a prompt of 8 KB, a reply of 500
// bytes.
func BenchmarkGenerate(b *testing.B) {
	server := chatapi.New(nil, key)
	m := newModel(b, server.Transport())
	answer := answered(http.StatusOK, one(`"content":"`+strings.Repeat("a", 500)+`"`, `"stop"`))
	req := llm.Request{
		System: strings.Repeat("Answer only from the catalog. ", 200), Tools: threeTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(b), MaxOutputTokens: 1000,
		Messages: []llm.Message{says(llm.User, strings.Repeat("What does it cost? ", 100))},
	}
	b.ReportAllocs()
	for b.Loop() {
		server.Break(answer)
		if _, err := m.Generate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
