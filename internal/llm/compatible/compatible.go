// Package compatible speaks the chat completions protocol of OpenAI, with the servers that
// took it over: vLLM, llama.cpp, LM Studio, OpenRouter, Groq, LiteLLM, Azure and others,
// some of them in front of OpenAI's own models.
package compatible

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// provider is the name in errors, and what a state begins with.
const provider = "openai-compatible"

// Config says which model is asked, and where.
type Config struct {
	Model     string            // the server's own name
	Key       string            // empty: none is sent
	BaseURL   string            // ends in /v1
	Transport http.RoundTripper // nil: the network
}

// Model is one model of a server. It is safe for concurrent use.
type Model struct {
	name       string
	url        string
	header     http.Header
	wire       *wire.Client
	strict     wire.Fit // of the answer's schema
	parameters wire.Fit // of a tool's

	// What a server said that it takes otherwise, kept for every request from then on.
	newBound       atomic.Bool // the bound on the answer as max_completion_tokens
	toolsUnthought atomic.Bool // tools only with an effort of "none"
}

// New checks what can be checked without a request.
func New(c Config) (*Model, error) {
	switch {
	case c.BaseURL == "":
		return nil, errors.New("OPENAI_COMPATIBLE_BASE_URL is missing: set it to the address of the server, ending in /v1")
	case wire.Address(c.BaseURL) == nil:
		return nil, errors.New("OPENAI_COMPATIBLE_BASE_URL is not an http or https address without a query")
	case c.Model == "":
		return nil, errors.New("the name of the model is missing: set openai-compatible:model")
	case !wire.IsKey(c.Key):
		return nil, errors.New("OPENAI_COMPATIBLE_API_KEY holds a character that no key has: copy it again")
	}
	m := &Model{
		name:       c.Model,
		url:        strings.TrimRight(c.BaseURL, "/") + "/chat/completions",
		header:     http.Header{},
		wire:       wire.New(provider, c.Transport, c.Key),
		strict:     wire.Once(wire.Strict(false)), // not every server keeps bounds, or takes them
		parameters: wire.Once(wire.Parameters),
	}
	if c.Key != "" {
		m.header.Set("Authorization", "Bearer "+c.Key)
	}
	return m, nil
}

// Generate makes one request. It keeps the contract of [llm.Model].
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	body, err := m.request(req)
	if err != nil {
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindRejected, Message: err.Error(), Err: err}
	}
	answer, err := m.wire.Post(ctx, m.url, m.header, body)
	if err != nil {
		return llm.Response{}, err
	}
	if !answer.OK() {
		return m.refused(answer, wire.ComplaintIn(answer.Body), body)
	}
	return m.read(answer, body)
}
