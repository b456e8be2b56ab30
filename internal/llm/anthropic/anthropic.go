// Package anthropic asks Claude: the Messages API of Anthropic behind [llm.Model].
package anthropic

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// name is the provider's, as in AGENT_MODEL.
const name = "anthropic"

// publicURL is where Anthropic serves its API.
const publicURL = "https://api.anthropic.com"

// apiVersion is the version of the API that the shapes of this package are of
// (https://platform.claude.com/docs/en/api/versioning).
const apiVersion = "2023-06-01"

// Config is what a [Model] needs.
type Config struct {
	Model     string            // Anthropic's own name, such as claude-sonnet-5-5
	Key       string            // may be empty at an address of one's own
	BaseURL   string            // with or without /v1; empty: Anthropic's
	Transport http.RoundTripper // nil: the network
}

// Model is one model of Anthropic. It is safe for concurrent use.
type Model struct {
	name       string
	url        string
	header     http.Header
	client     *wire.Client
	fit        wire.Fit // of the answer's schema
	parameters wire.Fit // of a tool's
}

// New checks the configuration. Its errors name the variable, and quote no credential.
func New(c Config) (*Model, error) {
	base := c.BaseURL
	if base == "" {
		base = publicURL
	}
	u := wire.Address(base)
	key := strings.TrimSpace(c.Key)
	switch {
	case c.Model == "":
		return nil, errors.New("AGENT_MODEL names no model")
	case key == "" && c.BaseURL == "":
		return nil, errors.New("ANTHROPIC_API_KEY is missing")
	case !wire.IsKey(key):
		return nil, errors.New("ANTHROPIC_API_KEY holds a character that no key has")
	case u == nil || u.User != nil:
		return nil, errors.New("the address of Anthropic's API is not http or https with a host and a path alone")
	}
	header := http.Header{"Anthropic-Version": {apiVersion}}
	if key != "" {
		header.Set("X-Api-Key", key)
	}
	return &Model{
		name:       c.Model,
		url:        strings.TrimSuffix(strings.TrimRight(base, "/"), "/v1") + "/v1/messages",
		header:     header,
		client:     wire.New(name, c.Transport, key),
		fit:        wire.Once(fit),
		parameters: wire.Once(wire.Parameters),
	}, nil
}

// Generate asks once.
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	body, err := m.request(req)
	if err != nil {
		return llm.Response{}, &llm.Error{Provider: name, Kind: llm.KindRejected, Message: "the schema of the request is not valid JSON", Err: err}
	}
	a, err := m.client.Post(ctx, m.url, m.header, body)
	if err != nil {
		return llm.Response{}, err
	}
	if !a.OK() {
		return llm.Response{}, m.failed(a, wire.ComplaintIn(a.Body), body)
	}
	return m.answer(a, body)
}
