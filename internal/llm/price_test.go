package llm_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

func perMillion(input, cached, output int64) llm.Price {
	return llm.Price{Input: input, Cached: cached, Output: output}
}

// Holds docs/spec/06-contact.md, "Caps": ollama and mock cost 0, an unknown model counts
// $15 in and $75 out per million; and docs/spec/04-agent.md, "Models": unknown models
// work with pessimistic prices.
func TestPriceOf(t *testing.T) {
	var (
		free    = llm.Price{}
		unknown = perMillion(15_000_000, 15_000_000, 75_000_000)
		sonnet  = perMillion(3_000_000, 300_000, 15_000_000)
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
		{"anthropic:claude-sonnet-5-5", perMillion(2_000_000, 100_000, 10_000_000), true},
		{"anthropic:claude-sonnet-5", perMillion(2_000_000, 200_000, 10_000_000), true},
		{"anthropic:claude-opus-4-20250514", perMillion(15_000_000, 1_500_000, 75_000_000), true},
		{"anthropic:claude-opus-4-5-20251101", perMillion(5_000_000, 500_000, 25_000_000), true},
		{"anthropic:claude-3-haiku-20240307", perMillion(250_000, 30_000, 1_250_000), true},
		{"openai:gpt-4o", gpt4o, true},
		{"openai:gpt-4o-2024-08-06", gpt4o, true},
		{"openai:gpt-4o-mini", mini, true},
		{"openai:gpt-4o-mini-2024-07-18", mini, true},
		{"openai:gpt-5-nano", perMillion(50_000, 5_000, 400_000), true},
		{"google:gemini-2.5-flash", flash, true},
		{"google:gemini-2.5-flash-001", flash, true},
		{"google:gemini-2.5-flash-preview-09-2025", flash, true},
		{"google:gemini-2.5-flash-preview-05-20", flash, true},
		{"google:gemini-2.5-flash-lite", perMillion(100_000, 10_000, 400_000), true},
		{"google:gemini-3-pro-preview", perMillion(2_000_000, 200_000, 12_000_000), true},

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
		{"rounded up", perMillion(100_000, 0, 0), llm.Usage{Input: 11}, 2},
		{"rounded up once", perMillion(100_000, 100_000, 100_000), llm.Usage{Input: 6, Cached: 3, Output: 4}, 1},
		{"never zero for something", perMillion(1, 0, 0), llm.Usage{Input: 1}, 1},
		{"negative counts", price, llm.Usage{Input: -5, Cached: -5, Output: -5}, 0},
		{"too much to count", perMillion(math.MaxInt64, 0, math.MaxInt64), llm.Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
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
