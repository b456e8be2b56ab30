package app

import (
	"fmt"
	"net/http"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/anthropic"
	"github.com/manychat-agent/manychat-agent/internal/llm/compatible"
	"github.com/manychat-agent/manychat-agent/internal/llm/google"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/llm/ollama"
	"github.com/manychat-agent/manychat-agent/internal/llm/openai"
)

// Models opens the models that answer, in the order in which they are asked: that of
// AGENT_MODEL, and that of AGENT_FALLBACK_MODEL when it is set. transport nil is the
// network.
func Models(c config.Config, transport http.RoundTripper) ([]attempt.Model, error) {
	return modelsBeside(mock.New(), c, transport)
}

// modelsBeside opens them with this mock where one of them is the mock.
func modelsBeside(desk *mock.Model, c config.Config, transport http.RoundTripper) ([]attempt.Model, error) {
	var opened []attempt.Model
	for _, name := range []config.Model{c.Agent.Model, c.Agent.FallbackModel} {
		if name == (config.Model{}) {
			continue
		}
		model, err := open(desk, c.Keys, name, transport)
		if err != nil {
			return nil, fmt.Errorf("the model %s cannot be used: %w", name, err)
		}
		opened = append(opened, attempt.Model{Name: name.String(), Model: model})
	}
	return opened, nil
}

func open(desk *mock.Model, keys config.ProviderKeys, name config.Model, transport http.RoundTripper) (llm.Model, error) {
	switch name.Provider {
	case config.Anthropic:
		return anthropic.New(anthropic.Config{Model: name.Name, Key: keys.Anthropic.Reveal(), Transport: transport})
	case config.OpenAI:
		return openai.New(openai.Config{Model: name.Name, Key: keys.OpenAI.Reveal(), Transport: transport})
	case config.OpenAICompatible:
		return compatible.New(compatible.Config{
			Model: name.Name, Key: keys.OpenAICompatible.Reveal(),
			BaseURL: keys.OpenAICompatibleBaseURL.Reveal(), Transport: transport,
		})
	case config.Google:
		return google.New(google.Config{Model: name.Name, Key: keys.Google.Reveal(), Transport: transport})
	case config.Ollama:
		return ollama.New(ollama.Config{Model: name.Name, BaseURL: keys.OllamaBaseURL.Reveal(), Transport: transport})
	case config.Mock:
		return desk, nil
	}
	return nil, fmt.Errorf("its provider is not built into this program")
}
