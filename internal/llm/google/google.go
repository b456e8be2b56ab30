// Package google speaks to Google's Gemini Developer API: one generateContent request
// and its whole answer a call.
package google

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// provider is the name in AGENT_MODEL.
const provider = "google"

// publicURL is where Google serves the API.
const publicURL = "https://generativelanguage.googleapis.com"

// Config is what a model needs.
type Config struct {
	Model     string // as Google names it, with or without "models/" before it
	Key       string
	BaseURL   string            // empty: Google's own
	Transport http.RoundTripper // nil: the network
}

// Model is one model of Google's. It is safe for concurrent use.
type Model struct {
	name       string
	version    float64 // of the Gemini family; see versionOf
	url        string
	header     http.Header
	client     *wire.Client
	fit        wire.Fit // of the answer's schema
	parameters wire.Fit // of a function's
}

// New makes a model. Its error says which variable is missing or wrong.
func New(c Config) (*Model, error) {
	name := strings.TrimPrefix(c.Model, "models/")
	if name == "" || strings.Trim(name, nameRunes) != "" {
		return nil, fmt.Errorf("AGENT_MODEL or AGENT_FALLBACK_MODEL: %q is no name of a model of Google's, such as gemini-3.8-flash", c.Model)
	}
	switch {
	case c.Key == "":
		return nil, errors.New("GOOGLE_GENERATIVE_AI_API_KEY is required for a model of Google's")
	case !wire.IsKey(c.Key):
		return nil, errors.New("GOOGLE_GENERATIVE_AI_API_KEY holds a character that no key has, such as a space")
	}
	base := c.BaseURL
	if base == "" {
		base = publicURL
	}
	u := wire.Address(base)
	if u == nil || u.User != nil {
		return nil, errors.New("the address of Google's API is not an http or https address alone")
	}
	return &Model{
		name:       name,
		version:    versionOf(name),
		url:        strings.TrimSuffix(u.String(), "/") + "/v1beta/models/" + name + ":generateContent",
		header:     http.Header{"X-Goog-Api-Key": {c.Key}},
		client:     wire.New(provider, c.Transport, c.Key),
		fit:        wire.Once(fit),
		parameters: wire.Once(fitParameters),
	}, nil
}

// nameRunes are what names of models are made of; none of them needs escaping in a path.
const nameRunes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// newest is the version of a model whose name tells none, such as gemini-flash-latest:
// such names move on to newer models.
const newest = 1000

// versionOf is the number in the name of a Gemini model: 2.5 for gemini-2.5-flash.
func versionOf(name string) float64 {
	rest, found := strings.CutPrefix(name, "gemini-")
	number, _, _ := strings.Cut(rest, "-")
	version, err := strconv.ParseFloat(number, 64)
	if !found || err != nil {
		return newest
	}
	return version
}

// signs reports whether the model wants its signature back with every call it made. From
// Gemini 3 on it does: https://ai.google.dev/gemini-api/docs/thought-signatures.
func (m *Model) signs() bool { return m.version >= 3 }

// Generate asks once; see [llm.Model].
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	body, err := m.request(req)
	if err != nil {
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindRejected, Message: err.Error(), Err: err}
	}
	a, err := m.client.Post(ctx, m.url, m.header, body)
	if err != nil {
		return llm.Response{}, err
	}
	if !a.OK() {
		return llm.Response{}, m.refused(a, req)
	}
	return m.read(a, req)
}
