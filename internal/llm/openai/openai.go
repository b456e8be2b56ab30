// Package openai speaks OpenAI's Responses API, without anything kept at the provider:
// the newer models reason and call tools only here.
package openai

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
	name       string
	traits     traits
	url        string
	header     http.Header
	wire       *wire.Client
	strict     wire.Fit // of the answer's schema
	parameters wire.Fit // of a tool's

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
	case !wire.IsKey(c.Key):
		return nil, errors.New("OPENAI_API_KEY holds a character that no key has: copy it again")
	case c.Model == "":
		return nil, errors.New("the name of the model is missing: set openai:model")
	}
	own := c.BaseURL == ""
	if own {
		c.BaseURL = address
	}
	if wire.Address(c.BaseURL) == nil {
		return nil, errors.New("the base URL of openai is not an http or https address without a query")
	}
	traits := traitsOf(c.Model)
	bounds := traits.bounds && own // Azure, which others may stand for, refuses them
	return &Model{
		name:       c.Model,
		traits:     traits,
		url:        strings.TrimRight(c.BaseURL, "/") + "/responses",
		header:     http.Header{"Authorization": {"Bearer " + c.Key}},
		wire:       wire.New(provider, c.Transport, c.Key),
		strict:     wire.Once(wire.Strict(bounds)),
		parameters: wire.Once(wire.Parameters),
	}, nil
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
