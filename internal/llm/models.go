package llm

// family is a group of models of one provider that differ in nothing but their price.
type family struct {
	provider string
	traits   Traits
	// written is the price of tokens written into the cache for the provider's shortest
	// time, in percent of Input; 0: as Input.
	written int64
	// A call whose prompt is longer than above tokens costs longInput percent for what it
	// reads and longOutput percent for what it writes; above 0: no more than others.
	above, longInput, longOutput int64
	prices                       map[string]Price
}

// of is what is known of a model of the family at a price.
func (f family) of(p Price) Traits {
	if p.Write == 0 {
		p.Write = p.Input * f.written / 100
	}
	if f.above > 0 {
		p.Above = f.above
		p.Long = Rates{
			Input:  p.Input * f.longInput / 100,
			Cached: p.Cached * f.longInput / 100,
			Write:  p.Write * f.longInput / 100,
			Output: p.Output * f.longOutput / 100,
		}
	}
	t := f.traits
	t.Price, t.Known = p, true
	return t
}

// dollars is a price as the providers publish it: US dollars per million tokens read,
// read from the cache, and written.
func dollars(input, cached, output float64) Price {
	micros := func(usd float64) int64 { return int64(usd*million + 0.5) }
	return Price{Input: micros(input), Cached: micros(cached), Output: micros(output)}
}

// families are well-known models as of 30 November 2026. Prices are the standard list
// prices; of a promotion with an end, the price that follows. Where no cached price is
// published, cached tokens cost as much as others. What no provider's page says a model
// takes, it is not sent.
var families = []family{
	// Prices: https://platform.claude.com/docs/en/about-claude/pricing
	// Traits: https://platform.claude.com/docs/en/about-claude/models/overview and the
	// pages on thinking, effort and structured outputs beside it.
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_000_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"claude-fable-5-2":  dollars(8, 0.20, 40),
			"claude-fable-5-1":  dollars(10, 0.25, 50),
			"claude-fable-5":    dollars(10, 1, 50),
			"claude-mythos-5-2": dollars(8, 0.20, 40),
			"claude-mythos-5-1": dollars(10, 0.25, 50),
			"claude-mythos-5":   dollars(10, 1, 50),
			"claude-opus-5-5":   dollars(4, 0.20, 20),
			"claude-opus-5":     dollars(5, 0.50, 25),
			"claude-sonnet-5-5": dollars(2, 0.10, 10),
			"claude-sonnet-5":   dollars(2, 0.20, 10),
		},
	},
	{
		provider: "anthropic", written: 125, above: 100_000, longInput: 500, longOutput: 500,
		traits: Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_000_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"claude-haiku-5-5": dollars(0.10, 0.01, 0.50),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Effort: true, ToolsWithSchema: true, Context: 1_000_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"claude-opus-4-8": dollars(5, 0.50, 25),
			"claude-opus-4-7": dollars(5, 0.50, 25),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Temperature: true, Effort: true, ToolsWithSchema: true, Context: 1_000_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"claude-opus-4-6":   dollars(5, 0.50, 25),
			"claude-sonnet-4-6": dollars(3, 0.30, 15),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Temperature: true, Effort: true, ToolsWithSchema: true, Context: 200_000, MaxOutput: 64_000},
		prices: map[string]Price{
			"claude-opus-4-5":   dollars(5, 0.50, 25),
			"claude-sonnet-4-5": dollars(3, 0.30, 15),
			"claude-haiku-4-5":  dollars(1, 0.10, 5),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Temperature: true, Effort: true, Context: 200_000, MaxOutput: 32_000},
		prices: map[string]Price{
			"claude-opus-4-1": dollars(15, 1.50, 75),
			"claude-opus-4-0": dollars(15, 1.50, 75),
			"claude-opus-4":   dollars(15, 1.50, 75),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Temperature: true, Effort: true, Context: 200_000, MaxOutput: 64_000},
		prices: map[string]Price{
			"claude-sonnet-4-0": dollars(3, 0.30, 15),
			"claude-sonnet-4":   dollars(3, 0.30, 15),
			"claude-3-7-sonnet": dollars(3, 0.30, 15),
		},
	},
	{
		provider: "anthropic", written: 125,
		traits: Traits{Images: true, Temperature: true, Context: 200_000, MaxOutput: 8_192},
		prices: map[string]Price{
			"claude-3-5-haiku": dollars(0.80, 0.08, 4),
		},
	},
	{
		provider: "anthropic",
		traits:   Traits{Images: true, Temperature: true, Context: 200_000, MaxOutput: 4_096},
		prices: map[string]Price{
			"claude-3-haiku": {Input: 250_000, Cached: 30_000, Write: 300_000, Output: 1_250_000}, // writing is published as less than 125 %
		},
	},

	// Prices: https://developers.openai.com/api/docs/pricing
	// Traits: https://developers.openai.com/api/docs/models and the guides on reasoning
	// and on the latest model beside it.
	{
		provider: "openai", written: 125, above: 272_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_050_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-6.2-astra": dollars(8, 0.40, 40),
			"gpt-6.2-sol":   dollars(2, 0.10, 10),
			"gpt-6.1-sol":   dollars(2, 0.10, 10),
			"gpt-6.1-terra": dollars(1, 0.05, 5),
			"gpt-6-astra":   dollars(10, 1, 50),
			"gpt-6-sol":     dollars(2, 0.20, 10),
			"gpt-6-luna":    dollars(0.10, 0.01, 0.50),
			"gpt-5.6":       dollars(5, 0.50, 30), // the provider's other name of gpt-5.6-sol
			"gpt-5.6-sol":   dollars(5, 0.50, 30), // the promotion was promised until 21 November 2026
			"gpt-5.6-terra": dollars(2, 0.20, 12),
			"gpt-5.6-luna":  dollars(0.20, 0.02, 1.20),
		},
	},
	{
		provider: "openai", above: 272_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_050_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5.5": dollars(5, 0.50, 30),
		},
	},
	{
		provider: "openai", above: 272_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Temperature: true, Effort: true, ToolsWithSchema: true, Context: 1_050_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5.4": dollars(2.50, 0.25, 15),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Temperature: true, Effort: true, ToolsWithSchema: true, Context: 400_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5.4-mini": dollars(0.75, 0.075, 4.50),
			"gpt-5.4-nano": dollars(0.20, 0.02, 1.25),
			"gpt-5.2":      dollars(1.75, 0.175, 14),
			"gpt-5.1":      dollars(1.25, 0.125, 10),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 400_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5":      dollars(1.25, 0.125, 10),
			"gpt-5-mini": dollars(0.25, 0.025, 2),
			"gpt-5-nano": dollars(0.05, 0.005, 0.40),
		},
	},
	{
		provider: "openai", above: 272_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Effort: true, Reasons: true, Context: 1_050_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5.5-pro": dollars(30, 30, 180),
			"gpt-5.4-pro": dollars(30, 30, 180),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Effort: true, Reasons: true, Context: 400_000, MaxOutput: 128_000},
		prices: map[string]Price{
			"gpt-5.2-pro": dollars(21, 21, 168),
		},
	},
	{
		provider: "openai", // it reasons at one effort
		traits:   Traits{Images: true, Reasons: true, Context: 400_000, MaxOutput: 272_000},
		prices: map[string]Price{
			"gpt-5-pro": dollars(15, 15, 120),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Temperature: true, ToolsWithSchema: true, Context: 1_047_576, MaxOutput: 32_768},
		prices: map[string]Price{
			"gpt-4.1":      dollars(2, 0.50, 8),
			"gpt-4.1-mini": dollars(0.40, 0.10, 1.60),
			"gpt-4.1-nano": dollars(0.10, 0.025, 0.40),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Temperature: true, ToolsWithSchema: true, Context: 128_000, MaxOutput: 16_384},
		prices: map[string]Price{
			"gpt-4o":      dollars(2.50, 1.25, 10),
			"gpt-4o-mini": dollars(0.15, 0.075, 0.60),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 200_000, MaxOutput: 100_000},
		prices: map[string]Price{
			"o4-mini": dollars(1.10, 0.275, 4.40),
			"o3":      dollars(2, 0.50, 8),
			"o1":      dollars(15, 7.50, 60),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Effort: true, ToolsWithSchema: true, Reasons: true, Context: 200_000, MaxOutput: 100_000},
		prices: map[string]Price{
			"o3-mini": dollars(1.10, 0.55, 4.40),
		},
	},
	{
		provider: "openai",
		traits:   Traits{Images: true, Effort: true, Reasons: true, Context: 200_000, MaxOutput: 100_000},
		prices: map[string]Price{
			"o3-pro": dollars(20, 20, 80),
			"o1-pro": dollars(150, 150, 600),
		},
	},

	// Prices: https://ai.google.dev/gemini-api/docs/pricing, paid tier; sound is dearer
	// with some models, and counted as text here.
	// Traits: https://ai.google.dev/gemini-api/docs/models and the pages on thinking and
	// structured output beside it. Gemini 4 and 3.5 Flash-Lite ignore a temperature;
	// with all of Gemini 3 the provider advises against one.
	{
		provider: "google", // MaxOutput is twice this for answers that are streamed
		traits:   Traits{Images: true, Audio: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_048_576, MaxOutput: 32_768},
		prices: map[string]Price{
			"gemini-4-neon":     dollars(3, 0.15, 15),
			"gemini-4-hydrogen": dollars(1.50, 0.075, 7.50),
			"gemini-4-carbon":   dollars(4, 0.20, 20), // half of it until 30 November 2026
			"gemini-4-argon":    dollars(4, 0.20, 20), // half of it until 30 November 2026
		},
	},
	{
		provider: "google",
		traits:   Traits{Images: true, Audio: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_048_576, MaxOutput: 65_536},
		prices: map[string]Price{
			"gemini-3.8-flash":      dollars(1.50, 0.15, 7.50), // half of it until 31 December 2026, as the next two
			"gemini-3.7-flash":      dollars(1.50, 0.15, 7.50),
			"gemini-3.6-flash":      dollars(1.50, 0.15, 7.50),
			"gemini-3.5-flash":      dollars(1.50, 0.15, 9),
			"gemini-3.5-flash-lite": dollars(0.30, 0.03, 2.50),
			"gemini-3.1-flash-lite": dollars(0.25, 0.025, 1.50),
			"gemini-3-flash":        dollars(0.50, 0.05, 3),
		},
	},
	{
		provider: "google", above: 200_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Audio: true, Effort: true, ToolsWithSchema: true, Reasons: true, Context: 1_048_576, MaxOutput: 65_536},
		prices: map[string]Price{
			"gemini-3.1-pro": dollars(2, 0.20, 12),
			"gemini-3-pro":   dollars(2, 0.20, 12),
		},
	},
	{
		provider: "google", above: 200_000, longInput: 200, longOutput: 150,
		traits: Traits{Images: true, Audio: true, Temperature: true, Effort: true, Reasons: true, Context: 1_048_576, MaxOutput: 65_536},
		prices: map[string]Price{
			"gemini-2.5-pro": dollars(1.25, 0.125, 10),
		},
	},
	{
		provider: "google",
		traits:   Traits{Images: true, Audio: true, Temperature: true, Effort: true, Reasons: true, Context: 1_048_576, MaxOutput: 65_536},
		prices: map[string]Price{
			"gemini-2.5-flash":      dollars(0.30, 0.03, 2.50),
			"gemini-2.5-flash-lite": dollars(0.10, 0.01, 0.40),
		},
	},
}
