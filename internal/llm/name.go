package llm

import (
	"fmt"
	"strings"
)

// ParseName splits a configured model name, "provider:model", at its first colon:
// a model's own name may hold more of them. The provider is lower-case letters,
// digits and dashes; whether it exists is for the caller to say.
func ParseName(name string) (provider, model string, err error) {
	provider, model, found := strings.Cut(name, ":")
	if !found || provider == "" || model == "" || strings.ContainsAny(name, " \t\r\n") {
		return "", "", fmt.Errorf("model name %q is not provider:model, for example mock:demo", name)
	}
	for _, r := range provider {
		if (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' {
			return "", "", fmt.Errorf("model name %q: the provider is lower-case letters, digits and dashes", name)
		}
	}
	return provider, model, nil
}
