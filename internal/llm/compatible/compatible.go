// Package compatible speaks the chat completions protocol: of OpenAI, and of every server
// that took it over.
package compatible

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// The providers that a Config may name.
const (
	OpenAI     = "openai"
	Compatible = "openai-compatible"
)

// address is OpenAI's own.
const address = "https://api.openai.com/v1"

// Config says which model is asked, and where.
type Config struct {
	Provider  string            // OpenAI or Compatible
	Model     string            // the provider's own name
	Key       string            // empty: none is sent, which OpenAI does not allow
	BaseURL   string            // ends in /v1; empty: OpenAI's own address
	Transport http.RoundTripper // nil: the network
}

// Model is one model of a provider.
type Model struct {
	config Config
	url    string
	header http.Header
	wire   *wire.Client

	// What a server said that it takes otherwise, kept for every request from then on.
	otherBound     atomic.Bool // the bound on the answer by its other name
	toolsUnthought atomic.Bool // tools only with an effort of "none"
}

// New checks what can be checked without a request.
func New(c Config) (*Model, error) {
	key, base := "OPENAI_API_KEY", "the base URL of openai"
	switch {
	case c.Provider == Compatible:
		key, base = "OPENAI_COMPATIBLE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"
		if c.BaseURL == "" {
			return nil, errors.New(base + " is missing: set it to the address of the server, ending in /v1")
		}
	case c.Provider != OpenAI:
		return nil, fmt.Errorf("%q is no provider of the chat completions protocol", c.Provider)
	case c.Key == "":
		return nil, errors.New(key + " is missing")
	}
	if c.Model == "" {
		return nil, errors.New("the name of the model is missing: set " + c.Provider + ":model")
	}
	if strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errors.New(key + " holds a character that no key has: copy it again")
	}
	if c.BaseURL == "" {
		c.BaseURL = address
	}
	at, err := url.Parse(c.BaseURL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, errors.New(base + " is not an http or https address")
	}
	m := &Model{
		config: c,
		url:    strings.TrimRight(c.BaseURL, "/") + "/chat/completions",
		header: http.Header{},
		wire:   wire.New(c.Provider, c.Transport, c.Key),
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
		return llm.Response{}, &llm.Error{Provider: m.config.Provider, Kind: llm.KindRejected, Message: err.Error(), Err: err}
	}
	answer, err := m.wire.Post(ctx, m.url, m.header, body)
	if err != nil {
		return llm.Response{}, err
	}
	if !answer.OK() {
		return m.refused(answer, body)
	}
	return m.read(answer, body)
}
