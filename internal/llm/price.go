package llm

import (
	"math"
	"math/bits"
)

// Price is what a model costs, in micro-dollars per million tokens: $3 is 3_000_000.
type Price struct {
	Input  int64 // tokens read that no cache held
	Cached int64 // tokens read from the provider's cache
	Write  int64 // tokens read and written into the provider's cache; 0: as Input
	Output int64 // tokens written, reasoning among them

	// Above is the longest prompt, in tokens, that costs this; a call with a longer one
	// costs Long, all of it. 0: prompts of any length cost the same.
	Above int64
	Long  Rates
}

// Rates are the prices of a [Price] without its limit.
type Rates struct {
	Input, Cached, Write, Output int64
}

// million is how many tokens a [Price] is for.
const million = 1_000_000

// Cost is what a usage costs in micro-dollars, rounded up. A cost that no int64 holds
// is the largest one.
func (p Price) Cost(u Usage) int64 {
	input := max(u.Input, 0)
	cached := min(max(u.Cached, 0), input)
	written := min(max(u.Written, 0), input-cached)
	r := p.rates(input)
	var hi, lo, carry uint64
	for _, part := range [...]struct{ tokens, price int64 }{
		{input - cached - written, r.Input}, {cached, r.Cached}, {written, r.Write}, {max(u.Output, 0), r.Output},
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

// rates are the prices of a call whose prompt is so many tokens.
func (p Price) rates(input int64) Rates {
	r := Rates{p.Input, p.Cached, p.Write, p.Output}
	if p.Above > 0 && input > p.Above {
		r = p.Long
	}
	if r.Write == 0 {
		r.Write = r.Input
	}
	return r
}

// unknownPrice is what a model counts whose price nobody named
// (docs/spec/06-contact.md, "Caps, all before the model runs, all escalating"); what a
// cache saves is not known either.
func unknownPrice() Price { return Price{Input: 15_000_000, Cached: 15_000_000, Output: 75_000_000} }

// PriceOf is the price among a model's [TraitsOf]; known is false for a model of unknown
// price, which counts $15 a million tokens read and $75 a million written.
func PriceOf(name string) (price Price, known bool) {
	t := TraitsOf(name)
	return t.Price, t.Known
}
