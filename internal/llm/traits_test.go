package llm_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// told writes down what a model is known to take, by the words of the spec.
func told(t llm.Traits) string {
	var words []string
	for _, trait := range []struct {
		has  bool
		word string
	}{
		{t.Images, "images"}, {t.Audio, "audio"}, {t.Temperature, "temperature"},
		{t.Effort, "effort"}, {t.ToolsWithSchema, "schema"}, {t.Reasons, "reasons"},
	} {
		if trait.has {
			words = append(words, trait.word)
		}
	}
	return strings.Join(words, " ")
}

// Holds docs/spec/04-agent.md, "Models": whether a model takes images, audio,
// temperature, reasoning effort, tools together with a schema; context size; unknown
// models work.
func TestTraitsOf(t *testing.T) {
	tests := []struct {
		name               string
		takes              string
		context, maxOutput int
	}{
		// 5 and later think unasked; 4.7 and later refuse a temperature.
		{"anthropic:claude-fable-5-2", "images effort schema reasons", 1_000_000, 128_000},
		{"anthropic:claude-opus-5-5", "images effort schema reasons", 1_000_000, 128_000},
		{"anthropic:claude-haiku-5-5", "images effort schema reasons", 1_000_000, 128_000},
		{"anthropic:claude-opus-4-7", "images effort schema", 1_000_000, 128_000},
		{"anthropic:claude-sonnet-4-6", "images temperature effort schema", 1_000_000, 128_000},
		{"anthropic:claude-opus-4-5-20251101", "images temperature effort schema", 200_000, 64_000},
		{"anthropic:claude-haiku-4-5", "images temperature effort schema", 200_000, 64_000},
		{"anthropic:claude-opus-4-1", "images temperature effort", 200_000, 32_000},
		{"anthropic:claude-3-7-sonnet-latest", "images temperature effort", 200_000, 64_000},
		{"anthropic:claude-3-5-haiku-latest", "images temperature", 200_000, 8_192},
		{"anthropic:claude-3-haiku-20240307", "images temperature", 200_000, 4_096},

		// GPT-5.1, 5.2 and 5.4 reason only when asked, and take a temperature till then.
		{"openai:gpt-6.2-sol", "images effort schema reasons", 1_050_000, 128_000},
		{"openai:gpt-5.6", "images effort schema reasons", 1_050_000, 128_000},
		{"openai:gpt-5.5", "images effort schema reasons", 1_050_000, 128_000},
		{"openai:gpt-5.4", "images temperature effort schema", 1_050_000, 128_000},
		{"openai:gpt-5.2-2025-12-11", "images temperature effort schema", 400_000, 128_000},
		{"openai:gpt-5-mini", "images effort schema reasons", 400_000, 128_000},
		{"openai:gpt-5.4-pro", "images effort reasons", 1_050_000, 128_000},
		{"openai:gpt-5-pro", "images reasons", 400_000, 272_000},
		{"openai:gpt-4.1-mini", "images temperature schema", 1_047_576, 32_768},
		{"openai:gpt-4o", "images temperature schema", 128_000, 16_384},
		{"openai:o4-mini", "images effort schema reasons", 200_000, 100_000},
		{"openai:o3-mini", "effort schema reasons", 200_000, 100_000},

		// Since 2.5 they think unasked; since 3 a schema goes with tools.
		{"google:gemini-4-neon", "images audio effort schema reasons", 1_048_576, 32_768},
		{"google:gemini-3.8-flash", "images audio effort schema reasons", 1_048_576, 65_536},
		{"google:gemini-3-pro-preview", "images audio effort schema reasons", 1_048_576, 65_536},
		{"google:gemini-2.5-flash-001", "images audio temperature effort reasons", 1_048_576, 65_536},
		{"google:gemini-2.5-flash-lite", "images audio temperature effort reasons", 1_048_576, 65_536},

		{"mock:demo", "images temperature schema", 0, 0},
		{"ollama:llama3.1:8b", "temperature effort schema", 0, 0},
		{"openai-compatible:gpt-4o", "temperature effort schema", 0, 0},
		{"openai:unheard-of", "temperature effort schema", 0, 0},
		{"openai:gpt-4o-audio-preview", "temperature effort schema", 0, 0},
		{"no colon", "temperature effort schema", 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := llm.TraitsOf(tt.name)
			if d := cmp.Diff(tt.takes, told(got)); d != "" {
				t.Errorf("takes (-want +got):\n%s", d)
			}
			if got.Context != tt.context || got.MaxOutput != tt.maxOutput {
				t.Errorf("context %d, output %d; want %d, %d", got.Context, got.MaxOutput, tt.context, tt.maxOutput)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a registry knows per model. Each listed model is
// found under one name, and what is known of it fits together.
func TestListedModels(t *testing.T) {
	names := llm.Listed()
	slices.Sort(names)
	if again := slices.Compact(slices.Clone(names)); len(again) != len(names) {
		t.Errorf("%d names for %d models", len(again), len(names))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			got := llm.TraitsOf(name)
			if !got.Known {
				t.Error("is not known")
			}
			if d := cmp.Diff(got, llm.TraitsOf(name+"-20260101")); d != "" {
				t.Errorf("a dated build differs (-model +build):\n%s", d)
			}
			if p := got.Price; p.Cached <= 0 || p.Cached > p.Input || p.Input > p.Output || p.Write != 0 && p.Write < p.Input {
				t.Errorf("price out of order: %+v", p)
			}
			if p := got.Price; p.Above < 0 || (p.Above > 0) != (p.Long != llm.Rates{}) || p.Above >= int64(got.Context) {
				t.Errorf("limit of a price out of place: %+v in a context of %d", p, got.Context)
			}
			if p, l := got.Price, got.Price.Long; p.Above > 0 && (l.Input <= p.Input || l.Cached <= p.Cached || l.Write < p.Write || l.Output <= p.Output) {
				t.Errorf("a long prompt is not dearer: %+v", p)
			}
			if got.MaxOutput <= 0 || got.MaxOutput >= got.Context {
				t.Errorf("output %d in a context of %d", got.MaxOutput, got.Context)
			}
			if got.Reasons && got.Temperature && !strings.HasPrefix(name, "google:gemini-2.5-") {
				t.Error("takes a temperature although it reasons unasked")
			}
		})
	}
}
