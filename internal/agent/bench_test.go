package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
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

// Holds docs/spec/17-quality.md, "Performance": what a turn spends between the model
// and the database. The target is 300 µs a turn with twenty entries of history.
func BenchmarkTurn(b *testing.B) {
	tn, err := tenant.Load(demo.FS(), tenant.Options{ID: "demo"})
	if err != nil {
		b.Fatal(err)
	}
	in := agent.Input{Tenant: tn, Text: "And how much is the wheel course, for two of us?"}
	for i := range 10 {
		in.History = append(in.History,
			conversation.Entry{Role: conversation.ByContact, Text: fmt.Sprintf("Question %d: when does it start, and where?", i)},
			conversation.Entry{Role: conversation.ByAgent, Text: "Tuesdays or Thursdays at 18:30, in the old boat shed."})
	}
	const answer = `{"messages":["The wheel course is 240 EUR each, for eight evenings.","You can read more at https://kilnbrook.example/courses/wheel"],"escalate":false,"escalation_reason":null,"confidence":0.92,"closing_question":"Do mornings or evenings suit you?"}`
	for name, model := range map[string]llm.Model{"fixed": says(answer), "mock": mock.New()} {
		b.Run(name, func(b *testing.B) {
			a, err := agent.New(agent.Config{Models: []attempt.Model{{Name: "mock:demo", Model: model}}, Jitter: attempt.Jitter, Log: slog.New(slog.DiscardHandler), Budget: budget.Unlimited{}, MaxOutputTokens: 800, Now: time.Now})
			if err != nil {
				b.Fatal(err)
			}
			g := guardrail.New(guardrail.Config{Markers: prompt.Markers()})
			b.ReportAllocs()
			for b.Loop() {
				result, err := a.Run(b.Context(), in)
				if err != nil {
					b.Fatal(err)
				}
				if v := g.Apply(guardrail.Input{Tenant: tn, Reply: result.Reply}); v.Outcome != conversation.Answered {
					b.Fatalf("verdict = %+v", v)
				}
			}
		})
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
			in := agent.Input{Tenant: shop(), Text: "hi", Tools: []agent.Tool{tells("look", 1)}}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Run(b.Context(), in); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
