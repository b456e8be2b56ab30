package llm_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

func perMillion(input, cached, output int64) llm.Price {
	return llm.Price{Input: input, Cached: cached, Output: output}
}

// writing is a price at which writing the provider's cache has a price of its own.
func writing(p llm.Price, write int64) llm.Price {
	p.Write = write
	return p
}

// long is a price that is another for prompts of more than above tokens.
func long(p llm.Price, above int64, rates llm.Rates) llm.Price {
	p.Above, p.Long = above, rates
	return p
}

// Holds docs/spec/06-contact.md, "Caps": ollama and mock cost 0, an unknown model counts
// $15 in and $75 out per million; and docs/spec/04-agent.md, "Models": unknown models
// work with pessimistic prices.
func TestPriceOf(t *testing.T) {
	var (
		free    = llm.Price{}
		unknown = perMillion(15_000_000, 15_000_000, 75_000_000)
		sonnet  = writing(perMillion(3_000_000, 300_000, 15_000_000), 3_750_000)
		gpt4o   = perMillion(2_500_000, 1_250_000, 10_000_000)
		mini    = perMillion(150_000, 75_000, 600_000)
		flash   = perMillion(300_000, 30_000, 2_500_000)
	)
	tests := []struct {
		name  string
		want  llm.Price
		known bool
	}{
		{"mock:demo", free, true},
		{"mock:anything-at-all", free, true},
		{"ollama:llama3.1:8b", free, true},

		{"anthropic:claude-sonnet-4-5", sonnet, true},
		{"anthropic:claude-sonnet-4-5-20250929", sonnet, true},
		{"anthropic:claude-sonnet-4-5@20250929", sonnet, true},
		{"anthropic:claude-sonnet-5-5", writing(perMillion(2_000_000, 100_000, 10_000_000), 2_500_000), true},
		{"anthropic:claude-sonnet-5", writing(perMillion(2_000_000, 200_000, 10_000_000), 2_500_000), true},
		{"anthropic:claude-opus-4-20250514", writing(perMillion(15_000_000, 1_500_000, 75_000_000), 18_750_000), true},
		{"anthropic:claude-opus-4-5-20251101", writing(perMillion(5_000_000, 500_000, 25_000_000), 6_250_000), true},
		{"anthropic:claude-3-haiku-20240307", writing(perMillion(250_000, 30_000, 1_250_000), 300_000), true},
		{"anthropic:claude-haiku-5-5", long(writing(perMillion(100_000, 10_000, 500_000), 125_000), 100_000,
			llm.Rates{Input: 500_000, Cached: 50_000, Write: 625_000, Output: 2_500_000}), true},
		{"openai:gpt-4o", gpt4o, true},
		{"openai:gpt-4o-2024-08-06", gpt4o, true},
		{"openai:gpt-4o-mini", mini, true},
		{"openai:gpt-4o-mini-2024-07-18", mini, true},
		{"openai:gpt-6.2-sol", long(writing(perMillion(2_000_000, 100_000, 10_000_000), 2_500_000), 272_000,
			llm.Rates{Input: 4_000_000, Cached: 200_000, Write: 5_000_000, Output: 15_000_000}), true},
		{"openai:gpt-5.4", long(perMillion(2_500_000, 250_000, 15_000_000), 272_000,
			llm.Rates{Input: 5_000_000, Cached: 500_000, Output: 22_500_000}), true},
		{"openai:gpt-5-nano", perMillion(50_000, 5_000, 400_000), true},
		{"google:gemini-2.5-flash", flash, true},
		{"google:gemini-2.5-flash-001", flash, true},
		{"google:gemini-2.5-flash-preview-09-2025", flash, true},
		{"google:gemini-2.5-flash-preview-05-20", flash, true},
		{"google:gemini-2.5-flash-lite", perMillion(100_000, 10_000, 400_000), true},
		{"google:gemini-3-pro-preview", long(perMillion(2_000_000, 200_000, 12_000_000), 200_000,
			llm.Rates{Input: 4_000_000, Cached: 400_000, Output: 18_000_000}), true},

		{"openai:gpt-4o-audio-preview", unknown, false},
		{"openai:gpt-4omni", unknown, false},
		{"openai:gpt-5-nano-ultra", unknown, false},
		{"anthropic:claude-opus-4-99", unknown, false},
		{"anthropic:claude-opus-4-9", unknown, false},
		{"anthropic:claude-sonnet", unknown, false},
		{"anthropic:gpt-4o", unknown, false},
		{"openai-compatible:gpt-4o", unknown, false},
		{"openai-compatible:local", unknown, false},
		{"no colon", unknown, false},
		{"", unknown, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, known := llm.PriceOf(tt.name)
			if d := cmp.Diff(tt.want, got); d != "" || known != tt.known {
				t.Errorf("known = %t, want %t; price differs:\n%s", known, tt.known, d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": price per million tokens in, out, cached.
func TestCost(t *testing.T) {
	price := perMillion(3_000_000, 300_000, 15_000_000)
	writes := writing(price, 3_750_000)
	tiered := long(writes, 200_000, llm.Rates{Input: 6_000_000, Cached: 600_000, Write: 7_500_000, Output: 22_500_000})
	tests := []struct {
		name  string
		price llm.Price
		usage llm.Usage
		want  int64
	}{
		{"nothing", price, llm.Usage{}, 0},
		{"free", llm.Price{}, llm.Usage{Input: 1_000_000, Output: 1_000_000}, 0},
		{"whole", price, llm.Usage{Input: 1_000_000, Output: 1_000_000}, 18_000_000},
		{"cached are among the input", price, llm.Usage{Input: 1_000_000, Cached: 400_000}, 1_920_000},
		{"more cached than read", price, llm.Usage{Input: 1_000_000, Cached: 2_000_000}, 300_000},

		{"written are among the input", writes, llm.Usage{Input: 1_000_000, Written: 400_000}, 3_300_000},
		{"written beside cached", writes, llm.Usage{Input: 1_000_000, Cached: 500_000, Written: 400_000}, 1_950_000},
		{"more written than is left", writes, llm.Usage{Input: 1_000_000, Cached: 600_000, Written: 1_000_000}, 1_680_000},
		{"writing without a price costs as reading", price, llm.Usage{Input: 1_000_000, Written: 400_000}, 3_000_000},
		{"writing for nothing to be read", writes, llm.Usage{Written: 1_000_000}, 0},

		{"longest prompt at the short price", tiered, llm.Usage{Input: 200_000, Cached: 100_000, Output: 1_000}, 345_000},
		{"longer by one, and all of it dearer", tiered, llm.Usage{Input: 200_001, Cached: 100_001, Output: 1_000}, 682_501},
		{"long and written", tiered, llm.Usage{Input: 1_000_000, Written: 1_000_000}, 7_500_000},
		{"a long answer is no long prompt", tiered, llm.Usage{Output: 1_000_000}, 15_000_000},
		{"long without a price of writing", long(price, 10, llm.Rates{Input: 6_000_000}), llm.Usage{Input: 1_000_000, Written: 1_000_000}, 6_000_000},

		{"rounded up", perMillion(100_000, 0, 0), llm.Usage{Input: 11}, 2},
		{"rounded up once", writing(perMillion(100_000, 100_000, 100_000), 100_000), llm.Usage{Input: 6, Cached: 3, Written: 2, Output: 4}, 1},
		{"never zero for something", perMillion(1, 0, 0), llm.Usage{Input: 1}, 1},
		{"negative counts", writes, llm.Usage{Input: -5, Cached: -5, Written: -5, Output: -5}, 0},
		{"too much to count", perMillion(math.MaxInt64, 0, math.MaxInt64), llm.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
		{"too much to divide", perMillion(math.MaxInt64, 0, 0), llm.Usage{Input: 2_000_001}, math.MaxInt64},
		{"a little too much to count", perMillion(math.MaxInt64, 0, 0), llm.Usage{Input: 1_000_001}, math.MaxInt64},
		{"just not too much", perMillion(math.MaxInt64, 0, 0), llm.Usage{Input: 1_000_000}, math.MaxInt64},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.price.Cost(tt.usage); got != tt.want {
				t.Errorf("cost = %d, want %d", got, tt.want)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": whatever a provider reports, at whatever price,
// costs something that can be added to a day's use, and more costs no less.
func TestCostIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		price := rapid.OneOf(anyPrice(), listedPrice()).Draw(t, "price")
		less := anyUsage().Draw(t, "usage")
		more := less
		n := rapid.Int64Range(0, math.MaxInt64/2).Draw(t, "n")
		switch rapid.SampledFrom([]string{"input", "cached", "written", "output"}).Draw(t, "more") {
		case "input":
			more.Input += n
		case "cached":
			more.Input, more.Cached = more.Input+n, more.Cached+n
		case "written":
			more.Input, more.Written = more.Input+n, more.Written+n
		case "output":
			more.Output += n
		}
		a, b := price.Cost(less), price.Cost(more)
		if a < 0 || b < a {
			t.Errorf("%+v costs %d, %+v costs %d", less, a, more, b)
		}
	})
}

// anyPrice is a price whose long prompts are not cheaper than its short ones.
func anyPrice() *rapid.Generator[llm.Price] {
	micros := rapid.OneOf(rapid.Int64Range(0, 200_000_000), rapid.Int64Range(0, math.MaxInt64))
	return rapid.Custom(func(t *rapid.T) llm.Price {
		p := llm.Price{
			Input: micros.Draw(t, "input"), Cached: micros.Draw(t, "cached"),
			Write: micros.Draw(t, "write"), Output: micros.Draw(t, "output"),
			Above: rapid.OneOf(rapid.Int64Range(0, 1_000_000), rapid.Int64()).Draw(t, "above"),
		}
		p.Long = llm.Rates{
			Input: max(p.Input, p.Cached, p.Write), Cached: max(p.Input, p.Cached, p.Write),
			Write: max(p.Input, p.Cached, p.Write), Output: max(p.Output, micros.Draw(t, "long")),
		}
		return p
	})
}

func listedPrice() *rapid.Generator[llm.Price] {
	return rapid.Map(rapid.SampledFrom(llm.Listed()), func(name string) llm.Price {
		price, _ := llm.PriceOf(name)
		return price
	})
}

// anyUsage leaves room for as much again.
func anyUsage() *rapid.Generator[llm.Usage] {
	tokens := rapid.OneOf(rapid.Int64Range(0, 1_000_000), rapid.Int64Range(math.MinInt64, math.MaxInt64/2))
	return rapid.Custom(func(t *rapid.T) llm.Usage {
		return llm.Usage{
			Input: tokens.Draw(t, "input"), Cached: tokens.Draw(t, "cached"),
			Written: tokens.Draw(t, "written"), Output: tokens.Draw(t, "output"),
		}
	})
}
