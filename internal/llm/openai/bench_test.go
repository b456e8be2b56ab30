package openai_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/openai"
)

// replies answers every request with the same body, without a server.
type replies string

func (r replies) RoundTrip(req *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, req.Body); err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(string(r)))}, nil
}

// A usual turn: a prompt of 8 KB, ten messages of history, a reply of 500 bytes.
func BenchmarkGenerate(b *testing.B) {
	answer := `{"status":"completed","error":null,"output":[` + thought + `,` + said(strings.Repeat("reply ", 83)) +
		`],"usage":{"input_tokens":2030,"input_tokens_details":{"cached_tokens":2000,"cache_write_tokens":0},"output_tokens":120}}`
	m, err := openai.New(openai.Config{Model: newest, Key: key, Transport: replies(answer)})
	if err != nil {
		b.Fatal(err)
	}
	req := llm.Request{System: strings.Repeat("A rule. ", 1024), Tools: twoTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(b), MaxOutputTokens: 800}
	for range 5 {
		req.Messages = append(req.Messages, says(llm.User, "How much is the course?"), says(llm.Assistant, "It is 120 euros."))
	}
	req.Messages = append(req.Messages, says(llm.User, "And when does it start?"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Generate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
