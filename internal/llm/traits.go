package llm

import "strings"

// Traits are what is known of a model before it is asked.
type Traits struct {
	Price Price
	Known bool // the price is the model's own; false: it is a pessimistic one

	Images bool // reads pictures
	Audio  bool // reads sound

	// Temperature: takes a temperature, as long as it is not asked to reason.
	Temperature bool
	// Effort: can be asked how hard to reason, by a word or by a number of tokens.
	Effort bool
	// ToolsWithSchema: a request may hold tools and a schema for the answer.
	ToolsWithSchema bool
	// Reasons: spends reasoning tokens when no effort is asked for either, so that a bound
	// meant for the answer alone cuts it off.
	Reasons bool

	Context   int // tokens that prompt and answer may take together; 0: unknown
	MaxOutput int // tokens that one answer may take, reasoning among them; 0: unknown
}

// TraitsOf is what is known of a model by its configured name, "provider:model". A name
// that ends in a date, a build or a channel ("-20250929", "@20250929", "-latest") is the
// model of the name before it; any other ending is another model. Models of mock and
// ollama cost nothing.
//
// A model that nobody listed counts as one that takes what most do: a provider that
// refuses a part of it says so. Pictures and sound are not among that.
func TraitsOf(name string) Traits {
	unknown := Traits{Price: unknownPrice(), Temperature: true, Effort: true, ToolsWithSchema: true}
	provider, model, err := ParseName(name)
	if err != nil {
		return unknown
	}
	switch provider {
	case "mock":
		return Traits{Known: true, Images: true, Temperature: true, ToolsWithSchema: true}
	case "ollama":
		unknown.Price, unknown.Known = Price{}, true
		return unknown
	}
	for end := len(model); end >= 0; end = strings.LastIndexAny(model[:end], "-@:") {
		if t, ok := listed(provider, model[:end]); ok {
			if !isVersion(model[end:]) {
				break
			}
			return t
		}
	}
	return unknown
}

// listed finds a model by its exact name.
func listed(provider, model string) (Traits, bool) {
	for _, f := range families {
		if f.provider != provider {
			continue
		}
		if price, ok := f.prices[model]; ok {
			return f.of(price), true
		}
	}
	return Traits{}, false
}

// isVersion reports whether the end of a model's name may be one: words of a channel,
// and numbers of two digits and more that make at least three together. A short number
// belongs to the name, as the 5 of claude-sonnet-4-5 does.
func isVersion(ending string) bool {
	digits := 0
	for word := range strings.FieldsFuncSeq(ending, func(r rune) bool { return strings.ContainsRune("-@:", r) }) {
		switch word {
		case "latest", "preview", "exp", "experimental":
			continue
		}
		if len(word) < 2 || strings.Trim(word, "0123456789") != "" {
			return false
		}
		digits += len(word)
	}
	return digits == 0 || digits > 2
}
