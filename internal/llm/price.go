package llm

import (
	"math"
	"math/bits"
	"strings"
)

// Price is what a model costs, in micro-dollars per million tokens: $3 is 3_000_000.
type Price struct {
	Input  int64 // tokens read that no cache held
	Cached int64 // tokens read from the provider's cache
	Output int64 // tokens written, reasoning among them
}

// million is how many tokens a [Price] is for.
const million = 1_000_000

// Cost is what a usage costs in micro-dollars, rounded up. A cost that no int64 holds
// is the largest one.
func (p Price) Cost(u Usage) int64 {
	input := max(u.Input, 0)
	cached := min(max(u.Cached, 0), input)
	var hi, lo, carry uint64
	for _, part := range [...]struct{ tokens, price int64 }{
		{input - cached, p.Input}, {cached, p.Cached}, {max(u.Output, 0), p.Output},
	} {
		h, l := bits.Mul64(uint64(part.tokens), uint64(max(part.price, 0)))
		lo, carry = bits.Add64(lo, l, 0)
		hi += h + carry
	}
	lo, carry = bits.Add64(lo, million-1, 0)
	if hi += carry; hi >= million {
		return math.MaxInt64
	}
	micros, _ := bits.Div64(hi, lo, million)
	return int64(min(micros, math.MaxInt64))
}

// unknownPrice is what a model counts whose price nobody named
// (docs/spec/06-contact.md, "Caps, all before the model runs, all escalating"); what a
// cache saves is not known either.
func unknownPrice() Price { return Price{Input: 15_000_000, Cached: 15_000_000, Output: 75_000_000} }

// PriceOf is the list price of a model by its configured name, "provider:model". A name
// that ends in a date, a build or a channel ("-20250929", "@20250929", "-latest") has
// the price of the name before it; any other ending is another model. Models of mock
// and ollama cost nothing. known is false for a model of unknown price, which counts
// $15 a million tokens read and $75 a million written.
func PriceOf(name string) (price Price, known bool) {
	provider, model, err := ParseName(name)
	if err != nil {
		return unknownPrice(), false
	}
	if provider == "mock" || provider == "ollama" {
		return Price{}, true
	}
	for end := len(model); end >= 0; end = strings.LastIndexAny(model[:end], "-@:") {
		if p, ok := listPrices[provider+":"+model[:end]]; ok {
			if !isVersion(model[end:]) {
				break
			}
			return p, true
		}
	}
	return unknownPrice(), false
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
