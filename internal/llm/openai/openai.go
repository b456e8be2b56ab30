// Package openai speaks OpenAI's Responses API, without anything kept at the provider:
// the newer models reason and call tools only here.
package openai

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// provider is the name in errors, and what a state begins with.
const provider = "openai"

// address is OpenAI's own.
const address = "https://api.openai.com/v1"

// Config says which model is asked, and where.
type Config struct {
	Model     string            // the provider's own name
	Key       string            // the credential
	BaseURL   string            // ends in /v1; empty: OpenAI's own address
	Transport http.RoundTripper // nil: the network
}

// Model is one model of OpenAI.
type Model struct {
	config Config
	traits traits
	url    string
	header http.Header
	wire   *wire.Client

	// What the provider said that the model does not take, kept for every request from
	// then on.
	unsealed atomic.Bool // no encrypted reasoning, neither asked for nor sent back
	unmarked atomic.Bool // no mark where the cached part of a prompt ends
}

// New checks what can be checked without a request.
func New(c Config) (*Model, error) {
	switch {
	case c.Key == "":
		return nil, errors.New("OPENAI_API_KEY is missing")
	case strings.ContainsFunc(c.Key, func(r rune) bool { return r <= ' ' || r > '~' }):
		return nil, errors.New("OPENAI_API_KEY holds a character that no key has: copy it again")
	case c.Model == "":
		return nil, errors.New("the name of the model is missing: set openai:model")
	}
	own := c.BaseURL == ""
	if own {
		c.BaseURL = address
	}
	at, err := url.Parse(c.BaseURL)
	if err != nil || at.Host == "" || at.Scheme != "http" && at.Scheme != "https" {
		return nil, errors.New("the base URL of openai is not an http or https address")
	}
	m := &Model{
		config: c,
		traits: traitsOf(c.Model),
		url:    strings.TrimRight(c.BaseURL, "/") + "/responses",
		header: http.Header{"Authorization": {"Bearer " + c.Key}},
		wire:   wire.New(provider, c.Transport, c.Key),
	}
	m.traits.bounds = m.traits.bounds && own // Azure, which others may stand for, refuses them
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
		return m.refused(answer, complaintIn(answer.Body), body)
	}
	return m.read(answer, body)
}
