package llm_test

import (
	"errors"
	"io"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Holds docs/spec/04-agent.md, "Models".
func TestParseName(t *testing.T) {
	tests := []struct{ name, provider, model string }{
		{"mock:demo", "mock", "demo"},
		{"openai-compatible:llama3.1:8b", "openai-compatible", "llama3.1:8b"},
		{"ollama:library/qwen", "ollama", "library/qwen"},
		{"", "", ""},
		{"mock", "", ""},
		{"mock:", "", ""},
		{":demo", "", ""},
		{"Mock:demo", "", ""},
		{"mock: demo", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			provider, model, err := llm.ParseName(tt.name)
			if provider != tt.provider || model != tt.model || (err == nil) != (tt.provider != "") {
				t.Errorf("ParseName = %q, %q, %v; want %q, %q", provider, model, err, tt.provider, tt.model)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": retries on 429, 5xx, overload and network errors.
func TestErrorRetryable(t *testing.T) {
	want := map[llm.ErrorKind]bool{
		llm.KindNetwork: true, llm.KindRateLimited: true, llm.KindOverloaded: true, llm.KindServer: true,
		llm.KindUnauthorized: false, llm.KindRejected: false, llm.KindProtocol: false,
	}
	for kind, retryable := range want {
		err := &llm.Error{Provider: "mock", Kind: kind, Message: "told to fail", Err: io.ErrUnexpectedEOF}
		if err.Retryable() != retryable {
			t.Errorf("%v: retryable = %t, want %t", err, err.Retryable(), retryable)
		}
		if !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%v hides its cause", err)
		}
	}
}
