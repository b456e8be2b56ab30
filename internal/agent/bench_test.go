package agent_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/agent"
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
			a, err := agent.New(agent.Config{Model: model, Budget: budget.Unlimited{}, ModelName: "mock:demo", MaxOutputTokens: 800, Now: time.Now})
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
