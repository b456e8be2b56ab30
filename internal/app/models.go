package app

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

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
// network. Its error is a [config.Problems]: what is wrong is a variable.
func Models(c config.Config, transport http.RoundTripper) ([]attempt.Model, error) {
	return modelsBeside(mock.New(), c, transport)
}

// modelsBeside opens them with this mock where one of them is the mock.
func modelsBeside(desk *mock.Model, c config.Config, transport http.RoundTripper) ([]attempt.Model, error) {
	var opened []attempt.Model
	var problems config.Problems
	for _, m := range configured(c.Agent) {
		model, err := open(desk, c.Keys, m.name, transport)
		if err != nil {
			if p := problemOf(m, err); !slices.Contains(problems, p) {
				problems = append(problems, p)
			}
			continue
		}
		opened = append(opened, attempt.Model{Name: m.name.String(), Model: model})
	}
	if len(problems) > 0 {
		return nil, problems
	}
	return opened, nil
}

// variableModel is a model that answers, and the variable that names it.
type variableModel struct {
	variable string
	name     config.Model
}

// configured lists the models in the order in which they are asked.
func configured(a config.Agent) (all []variableModel) {
	for _, m := range []variableModel{{"AGENT_MODEL", a.Model}, {"AGENT_FALLBACK_MODEL", a.FallbackModel}} {
		if m.name != (config.Model{}) {
			all = append(all, m)
		}
	}
	return all
}

// problemOf says which variable keeps a model from being used: the one that the adapter's
// sentence begins with, or else the one that names the model.
func problemOf(m variableModel, err error) config.Problem {
	first, rest, _ := strings.Cut(err.Error(), " ")
	if first != "AGENT_MODEL" && slices.Contains(config.Names(), first) {
		return config.Problem{Variable: first, Sentence: rest}
	}
	why := strings.TrimPrefix(err.Error(), "AGENT_MODEL or AGENT_FALLBACK_MODEL: ")
	return config.Problem{Variable: m.variable, Sentence: fmt.Sprintf("is %q, which cannot be used: %s", m.name, why)}
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
