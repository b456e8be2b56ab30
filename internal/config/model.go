package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/manychat-agent/manychat-agent/internal/tenant/document"
)

// Model names a model of a provider. The zero value is no model.
type Model struct {
	Provider string // one of the accepted providers
	Name     string // as the provider calls it
}

// The providers whose names are accepted; docs/spec/10-config.md, "Variables".
const (
	Anthropic        = "anthropic"
	OpenAI           = "openai"
	Google           = "google"
	Ollama           = "ollama"
	OpenAICompatible = "openai-compatible"
	Mock             = "mock"
)

// Providers lists the accepted names.
func Providers() []string {
	return []string{Anthropic, OpenAI, Google, Ollama, OpenAICompatible, Mock}
}

// mockModel is the only model of the provider mock.
var mockModel = Model{Provider: Mock, Name: "demo"}

// String is provider:name, or nothing for no model.
func (m Model) String() string {
	if m == (Model{}) {
		return ""
	}
	return m.Provider + ":" + m.Name
}

func (m *Model) parse(text string) error {
	provider, name, _ := strings.Cut(text, ":")
	if provider == "" || name == "" {
		return fmt.Errorf("is %q: set it to provider:model, such as mock:demo", text)
	}
	if strings.ContainsFunc(text, unicode.IsSpace) {
		return fmt.Errorf("is %q: set it to provider:model without white space, such as mock:demo", text)
	}
	if !slices.Contains(Providers(), provider) {
		sentence := fmt.Sprintf("names the provider %q: set it to one of %s", provider, strings.Join(Providers(), ", "))
		if near, similar := document.Nearest(provider, Providers()); similar {
			sentence += " (did you mean " + near + "?)"
		}
		return errors.New(sentence)
	}
	*m = Model{Provider: provider, Name: name}
	return nil
}
