package agent_test

import (
	"context"
	"fmt"
	"testing"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/guardrail"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// says is a model of 0 ms that always answers the same.
type says string

func (s says) Generate(context.Context, llm.Request) (llm.Response, error) {
	return llm.Response{Text: string(s), Stop: llm.StopEnd}, nil
}

// of500 is a tenant with a catalog of 500 offerings.
func of500(tn *tenant.Tenant) *tenant.Tenant {
	large := *tn
	large.Catalog.Offerings = nil
	for i := range 500 {
		o := tn.Catalog.Offerings[i%len(tn.Catalog.Offerings)]
		o.ID, o.Name = fmt.Sprintf("%s_%d", o.ID, i), fmt.Sprintf("%s %d", o.Name, i)
		large.Catalog.Offerings = append(large.Catalog.Offerings, o)
	}
	return &large
}

// Holds docs/spec/17-quality.md, "Performance": what a turn spends on the prompt, on
// decoding and on the guardrails, with twenty entries of history. The targets are 300 µs
// for the demo tenant and 2 ms for a catalog of 500 offerings.
func BenchmarkTurn(b *testing.B) {
	tn, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo"})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("demo", func(b *testing.B) { benchmarkTurn(b, tn, says(answer)) })
	b.Run("demo with the mock", func(b *testing.B) { benchmarkTurn(b, tn, mock.New()) })
	b.Run("500 offerings", func(b *testing.B) { benchmarkTurn(b, of500(tn), says(answer)) })
}

const answer = `{"messages":["The wheel course is 240 EUR each, for eight evenings.","You can read more at https://kilnbrook.example/courses/wheel"],"escalate":false,"escalation_reason":null,"confidence":0.92,"closing_question":"Do mornings or evenings suit you?"}`

func benchmarkTurn(b *testing.B, tn *tenant.Tenant, model llm.Model) {
	in := agent.Input{Tenant: tn, Text: "And how much is the wheel course, for two of us?"}
	for i := range 10 {
		in.History = append(in.History,
			conversation.Entry{Role: conversation.ByContact, Text: fmt.Sprintf("Question %d: when does it start, and where?", i)},
			conversation.Entry{Role: conversation.ByAgent, Text: "Tuesdays or Thursdays at 18:30, in the old boat shed."})
	}
	a, err := agent.New(config(model))
	if err != nil {
		b.Fatal(err)
	}
	g := guardrail.New(guardrail.Config{
		Markers: prompt.Markers(), Rules: prompt.Rules(), Secrets: []string{"invented-secret-of-32-characters"},
		Names: []string{"ai_message", "ai_token"}, Flows: []string{"content20260101000000_000001"},
	})
	last := []string{in.History[len(in.History)-1].Text}
	b.ReportAllocs()
	for b.Loop() {
		result, err := a.Run(b.Context(), in)
		if err != nil {
			b.Fatal(err)
		}
		v := g.Apply(guardrail.Input{Tenant: tn, Reply: result.Reply, LastReply: last, Message: in.Text})
		if v.Outcome != conversation.Answered {
			b.Fatalf("verdict = %+v", v)
		}
	}
}

// scribe is a model of 0 ms that calls a tool in three steps and then replies.
type scribe struct{}

func (scribe) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	if req.ToolChoice == llm.ToolsNone {
		return llm.Response{Text: yes, Stop: llm.StopEnd}, nil
	}
	return llm.Response{Stop: llm.StopTools, Calls: []llm.ToolCall{{ID: "1", Name: "look", Arguments: []byte(`{}`)}}}, nil
}

// Holds docs/spec/17-quality.md, "Performance": what the loop costs beside model and
// prompt, in one step and in four with a tool. The target is 100 µs for one step.
func BenchmarkLoop(b *testing.B) {
	for name, model := range map[string]llm.Model{"one step": says(yes), "four steps": scribe{}} {
		b.Run(name, func(b *testing.B) {
			a, err := agent.New(config(model))
			if err != nil {
				b.Fatal(err)
			}
			in := agent.Input{Tenant: shop(), Text: "hi", Tools: []tool.Tool{tells("look", 1)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Run(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
