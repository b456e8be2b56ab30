// Package ollama speaks the chat protocol of Ollama itself, /api/chat: unlike the one that
// it took over from OpenAI, it can say how much context a request needs.
package ollama

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// provider is the name in AGENT_MODEL, and before a state.
const provider = "ollama"

// address is where Ollama listens if nobody tells it otherwise.
const address = "http://127.0.0.1:11434"

// Config says which model is asked, and where.
type Config struct {
	Model     string            // the name in Ollama, with its tag
	Key       string            // for a server behind a proxy, or Ollama's cloud; empty: none is sent
	BaseURL   string            // without a path; empty: this machine
	Transport http.RoundTripper // nil: the network
}

// Model is one model of one server.
type Model struct {
	config Config
	url    string
	header http.Header
	wire   *wire.Client

	parameters wire.Fit     // of a tool's schema
	context    atomic.Int64 // the largest context that was asked for, in tokens
}

// New checks what can be checked without a request.
func New(c Config) (*Model, error) {
	if c.Model == "" {
		return nil, errors.New("the name of the model is missing: set ollama:model")
	}
	if !wire.IsKey(c.Key) {
		return nil, errors.New("the key of ollama holds a character that no key has: copy it again")
	}
	if c.BaseURL == "" {
		c.BaseURL = address
	}
	if wire.Address(c.BaseURL) == nil {
		return nil, errors.New("OLLAMA_BASE_URL is not an http or https address")
	}
	base := strings.TrimRight(c.BaseURL, "/")
	if strings.HasSuffix(base, "/v1") || strings.HasSuffix(base, "/api") {
		return nil, errors.New("OLLAMA_BASE_URL has a path: set it to the address of the server alone, such as " + address)
	}
	m := &Model{config: c, url: base + "/api/chat", header: http.Header{}, wire: wire.New(provider, c.Transport, c.Key), parameters: wire.Once(wire.Parameters)}
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
		return llm.Response{}, m.refused(answer, body)
	}
	return m.read(answer, body)
}
