package llm

// dollars is a price as the providers publish it: US dollars per million tokens read,
// read from the cache, and written.
func dollars(input, cached, output float64) Price {
	micros := func(usd float64) int64 { return int64(usd*million + 0.5) }
	return Price{Input: micros(input), Cached: micros(cached), Output: micros(output)}
}

// listPrices are the standard list prices of well-known models, as of 30 November 2026.
// Where a provider publishes two prices by the prompt's length, it is the one of short
// prompts (up to 100 000 tokens for Claude Haiku 5.5, 200 000 for Gemini, 272 000 for
// GPT), which those of this program are. Where a price is a promotion with an end, it is
// the one that follows. Where no cached price is published, cached tokens cost as much as
// others. Writing a provider's cache is not told apart from reading the prompt, which
// makes the first turn in a while up to a quarter cheaper here than it is.
var listPrices = map[string]Price{
	// https://platform.claude.com/docs/en/about-claude/pricing
	"anthropic:claude-fable-5-1":  dollars(10, 0.25, 50),
	"anthropic:claude-fable-5":    dollars(10, 1, 50),
	"anthropic:claude-mythos-5-1": dollars(10, 0.25, 50),
	"anthropic:claude-mythos-5":   dollars(10, 1, 50),
	"anthropic:claude-opus-5-5":   dollars(4, 0.20, 20),
	"anthropic:claude-opus-5":     dollars(5, 0.50, 25),
	"anthropic:claude-opus-4-8":   dollars(5, 0.50, 25),
	"anthropic:claude-opus-4-7":   dollars(5, 0.50, 25),
	"anthropic:claude-opus-4-6":   dollars(5, 0.50, 25),
	"anthropic:claude-opus-4-5":   dollars(5, 0.50, 25),
	"anthropic:claude-opus-4-1":   dollars(15, 1.50, 75),
	"anthropic:claude-opus-4-0":   dollars(15, 1.50, 75),
	"anthropic:claude-opus-4":     dollars(15, 1.50, 75),
	"anthropic:claude-sonnet-5-5": dollars(2, 0.10, 10),
	"anthropic:claude-sonnet-5":   dollars(2, 0.20, 10),
	"anthropic:claude-sonnet-4-6": dollars(3, 0.30, 15),
	"anthropic:claude-sonnet-4-5": dollars(3, 0.30, 15),
	"anthropic:claude-sonnet-4-0": dollars(3, 0.30, 15),
	"anthropic:claude-sonnet-4":   dollars(3, 0.30, 15),
	"anthropic:claude-3-7-sonnet": dollars(3, 0.30, 15),
	"anthropic:claude-haiku-5-5":  dollars(0.10, 0.01, 0.50),
	"anthropic:claude-haiku-4-5":  dollars(1, 0.10, 5),
	"anthropic:claude-3-5-haiku":  dollars(0.80, 0.08, 4),
	"anthropic:claude-3-haiku":    dollars(0.25, 0.03, 1.25),

	// https://developers.openai.com/api/docs/pricing
	"openai:gpt-6.2-astra": dollars(8, 0.40, 40),
	"openai:gpt-6.2-sol":   dollars(2, 0.10, 10),
	"openai:gpt-6.1-sol":   dollars(2, 0.10, 10),
	"openai:gpt-6.1-terra": dollars(1, 0.05, 5),
	"openai:gpt-6-astra":   dollars(10, 1, 50),
	"openai:gpt-6-sol":     dollars(2, 0.20, 10),
	"openai:gpt-6-luna":    dollars(0.10, 0.01, 0.50),
	"openai:gpt-5.6":       dollars(5, 0.50, 30), // the provider's other name of gpt-5.6-sol
	"openai:gpt-5.6-sol":   dollars(5, 0.50, 30),
	"openai:gpt-5.6-terra": dollars(2, 0.20, 12),
	"openai:gpt-5.6-luna":  dollars(0.20, 0.02, 1.20),
	"openai:gpt-5.5":       dollars(5, 0.50, 30),
	"openai:gpt-5.5-pro":   dollars(30, 30, 180),
	"openai:gpt-5.4":       dollars(2.50, 0.25, 15),
	"openai:gpt-5.4-pro":   dollars(30, 30, 180),
	"openai:gpt-5.4-mini":  dollars(0.75, 0.075, 4.50),
	"openai:gpt-5.4-nano":  dollars(0.20, 0.02, 1.25),
	"openai:gpt-5.2":       dollars(1.75, 0.175, 14),
	"openai:gpt-5.2-pro":   dollars(21, 21, 168),
	"openai:gpt-5.1":       dollars(1.25, 0.125, 10),
	"openai:gpt-5":         dollars(1.25, 0.125, 10),
	"openai:gpt-5-pro":     dollars(15, 15, 120),
	"openai:gpt-5-mini":    dollars(0.25, 0.025, 2),
	"openai:gpt-5-nano":    dollars(0.05, 0.005, 0.40),
	"openai:gpt-4.1":       dollars(2, 0.50, 8),
	"openai:gpt-4.1-mini":  dollars(0.40, 0.10, 1.60),
	"openai:gpt-4.1-nano":  dollars(0.10, 0.025, 0.40),
	"openai:gpt-4o":        dollars(2.50, 1.25, 10),
	"openai:gpt-4o-mini":   dollars(0.15, 0.075, 0.60),
	"openai:o4-mini":       dollars(1.10, 0.275, 4.40),
	"openai:o3":            dollars(2, 0.50, 8),
	"openai:o3-mini":       dollars(1.10, 0.55, 4.40),
	"openai:o3-pro":        dollars(20, 20, 80),
	"openai:o1":            dollars(15, 7.50, 60),
	"openai:o1-pro":        dollars(150, 150, 600),

	// https://ai.google.dev/gemini-api/docs/pricing, paid tier
	"google:gemini-4-neon":         dollars(3, 0.15, 15),
	"google:gemini-4-hydrogen":     dollars(1.50, 0.075, 7.50),
	"google:gemini-4-carbon":       dollars(4, 0.20, 20),      // half of it until 30 November 2026
	"google:gemini-4-argon":        dollars(4, 0.20, 20),      // half of it until 30 November 2026
	"google:gemini-3.8-flash":      dollars(1.50, 0.15, 7.50), // half of it until 31 December 2026, as the next two
	"google:gemini-3.7-flash":      dollars(1.50, 0.15, 7.50),
	"google:gemini-3.6-flash":      dollars(1.50, 0.15, 7.50),
	"google:gemini-3.5-flash":      dollars(1.50, 0.15, 9),
	"google:gemini-3.5-flash-lite": dollars(0.30, 0.03, 2.50),
	"google:gemini-3.1-pro":        dollars(2, 0.20, 12),
	"google:gemini-3.1-flash-lite": dollars(0.25, 0.025, 1.50),
	"google:gemini-3-pro":          dollars(2, 0.20, 12),
	"google:gemini-3-flash":        dollars(0.50, 0.05, 3),
	"google:gemini-2.5-pro":        dollars(1.25, 0.125, 10),
	"google:gemini-2.5-flash":      dollars(0.30, 0.03, 2.50),
	"google:gemini-2.5-flash-lite": dollars(0.10, 0.01, 0.40),
}
