package agent_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const yes = `{"messages":["Yes"],"escalate":false,"escalation_reason":null,"confidence":0.9,"closing_question":null}`

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func shop() *tenant.Tenant {
	return &tenant.Tenant{ID: "shop", Prompt: "Be brief.",
		Catalog: tenant.Catalog{BusinessName: "Shop", Currency: "EUR",
			Offerings: []tenant.Offering{{ID: "a", Name: "A", Description: "An a.", Price: tenant.Money{Amount: 100, Currency: "EUR"}}}},
		Rules: tenant.Rules{Timezone: "UTC"}}
}

// config is an agent's with one model or two, which waits between attempts without jitter.
func config(models ...llm.Model) agent.Config {
	temperature := 0.3
	c := agent.Config{
		Budget: budget.Unlimited{}, MaxOutputTokens: 800, Temperature: &temperature, Now: time.Now,
		Jitter: func(d time.Duration) time.Duration { return d }, Log: slog.New(slog.DiscardHandler),
	}
	for i, m := range models {
		c.Models = append(c.Models, attempt.Model{Name: []string{"scripted:test", "spare:test"}[i], Model: m})
	}
	return c
}

func build(t *testing.T, c agent.Config) *agent.Agent {
	t.Helper()
	a, err := agent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newAgent(t *testing.T, models ...llm.Model) *agent.Agent {
	t.Helper()
	return build(t, config(models...))
}

func script(steps ...llmtest.Step) *llmtest.Scripted { return &llmtest.Scripted{Steps: steps} }

func calls(names ...string) llmtest.Step {
	resp := llm.Response{Stop: llm.StopTools, Usage: llm.Usage{Input: 10, Cached: 4, Output: 2}}
	for _, name := range names {
		resp.Calls = append(resp.Calls, llm.ToolCall{ID: "id-" + name, Name: name, Arguments: []byte(`{}`)})
	}
	return llmtest.Step{Response: resp}
}

// Holds docs/spec/04-agent.md, "Prompt" and "Models": what a model is asked.
func TestRunAsksTheModel(t *testing.T) {
	m := script(llmtest.Step{Text: yes})
	result, err := newAgent(t, m).Run(t.Context(), agent.Input{Tenant: shop(), Text: "Is it so?"})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(reply.Reply{Messages: []string{"Yes"}, Confidence: 0.9}, result.Reply); d != "" {
		t.Errorf("reply differs:\n%s", d)
	}
	if result.Model != "scripted:test" || len(result.PromptVersion) != 12 {
		t.Errorf("model %q, prompt version %q", result.Model, result.PromptVersion)
	}
	req := m.Requests()[0]
	if !strings.Contains(req.System, "### OFFERING a\nName: A\nPrice: 1 EUR\n") {
		t.Errorf("no catalog in %q", req.System)
	}
	if len(req.Schema) == 0 || req.MaxOutputTokens != 800 || *req.Temperature != 0.3 || req.ToolChoice != llm.ToolsNone {
		t.Errorf("request = %+v", req)
	}
}

// Holds docs/spec/04-agent.md, "Models": reasoning effort.
func TestRunAsksForAnEffort(t *testing.T) {
	m := script(llmtest.Step{Text: yes})
	c := config(m)
	c.Effort = llm.EffortLow
	if _, err := build(t, c).Run(t.Context(), agent.Input{Tenant: shop(), Text: "hi"}); err != nil {
		t.Fatal(err)
	}
	if got := m.Requests()[0]; got.Effort != llm.EffortLow || got.ReasoningTokens != 2048 {
		t.Errorf("asked with effort %q and %d tokens", got.Effort, got.ReasoningTokens)
	}
}

// Holds docs/spec/17-quality.md, "Performance": the static part is identical between turns.
func TestRunKeepsTheStaticPart(t *testing.T) {
	m := &llmtest.Scripted{Steps: []llmtest.Step{{Text: yes}}, Repeat: true}
	a, tn, other := newAgent(t, m), shop(), shop()
	other.Prompt = "Be long."
	for _, in := range []agent.Input{
		{Tenant: tn, Text: "one"},
		{Tenant: tn, Text: "two", Offering: "a", History: []conversation.Entry{{Role: conversation.ByContact, Text: "two"}}},
		{Tenant: other, Text: "three"},
		{Tenant: tn, Text: "four"},
	} {
		if _, err := a.Run(t.Context(), in); err != nil {
			t.Fatal(err)
		}
	}
	asked := m.Requests()
	if asked[0].System != asked[1].System || asked[0].System != asked[3].System {
		t.Error("the static part changed between turns of a tenant")
	}
	if asked[0].System == asked[2].System {
		t.Error("two tenants share a static part")
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": each failure has its own log class; and
// "Loop": what may go away is tried again.
func TestRunFails(t *testing.T) {
	down := llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: llm.KindUnauthorized, Status: 401}}
	busy := llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: llm.KindServer, Status: 500}}
	tests := []struct {
		name     string
		steps    []llmtest.Step // the last one again and again
		want     agent.Class
		made     int // steps
		attempts int // at the models
	}{
		{"broken contract", []llmtest.Step{{Text: `{"messages":[]}`}}, agent.Schema, 1, 1},
		{"words", []llmtest.Step{{Text: "Yes!"}}, agent.Schema, 1, 1},
		{"cut off", []llmtest.Step{{Response: llm.Response{Text: yes[:20], Stop: llm.StopLength}}}, agent.Length, 1, 1},
		{"cut off but whole", []llmtest.Step{{Response: llm.Response{Text: yes, Stop: llm.StopLength}}}, agent.Length, 1, 1},
		{"call cut off", []llmtest.Step{{Response: llm.Response{Calls: []llm.ToolCall{{Name: "x"}}, Stop: llm.StopLength}}}, agent.Length, 1, 1},
		{"refusal", []llmtest.Step{{Response: llm.Response{Text: "I cannot", Stop: llm.StopRefusal}}}, agent.Refusal, 1, 1},
		{"refusal with a call", []llmtest.Step{{Response: llm.Response{Calls: []llm.ToolCall{{Name: "x"}}, Stop: llm.StopRefusal}}}, agent.Refusal, 1, 1},
		{"empty", []llmtest.Step{{Text: " \n"}}, agent.Empty, 1, 1},
		{"provider", []llmtest.Step{down}, agent.Provider, 1, 1},
		{"provider, again and again", []llmtest.Step{busy}, agent.Open, 1, 7},
		{"provider, until the abort", []llmtest.Step{{After: 28 * time.Second, Err: busy.Err}, {After: 1600 * time.Millisecond, Err: busy.Err}}, agent.Provider, 1, 2},
		{"hangs", []llmtest.Step{{Hang: llmtest.UntilAbort}}, agent.Abort, 1, 1},
		{"panic", []llmtest.Step{{Panic: "secret words"}}, agent.Panic, 1, 1},
		{"tool calls to the end", []llmtest.Step{calls("a")}, agent.ToolCall, 4, 4},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &llmtest.Scripted{Steps: tt.steps, Repeat: true}
				ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
				defer cancel()
				result, err := newAgent(t, m).Run(ctx, agent.Input{Tenant: shop(), Text: "hi"})
				if got := agent.ClassOf(err); got != tt.want {
					t.Errorf("class = %q, want %q (%v)", got, tt.want, err)
				}
				if err != nil && strings.Contains(err.Error(), "secret words") {
					t.Errorf("the error quotes a panic: %v", err)
				}
				attempts := 0
				for _, s := range result.Steps {
					attempts += len(s.Attempts)
				}
				if len(result.Steps) != tt.made || attempts != tt.attempts || len(m.Requests()) != tt.attempts {
					t.Errorf("%d steps and %d attempts recorded, %d asked, want %d and %d", len(result.Steps), attempts, len(m.Requests()), tt.made, tt.attempts)
				}
				if result.Model == "" || result.PromptVersion == "" {
					t.Errorf("result = %+v, want model and prompt version after an error too", result)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": unknown tools answer the model with what was
// wrong. Where no tool is offered, it is told so in words.
func TestRunAnswersUnknownTools(t *testing.T) {
	m := script(calls("send_money", "look"), llmtest.Step{Text: yes})
	result, err := newAgent(t, m).Run(t.Context(), agent.Input{Tenant: shop(), Text: "hi"})
	if err != nil {
		t.Fatal(err)
	}
	messages := m.Requests()[1].Messages
	answers := messages[len(messages)-1]
	if answers.Role != llm.User || strings.Count(answers.Text, "no tool of this name") != 2 || len(answers.Results) != 0 {
		t.Errorf("second request ends in %+v", answers)
	}
	want := []llm.Result{
		{CallID: "id-send_money", Name: "send_money", Content: []byte(`{"error":"there is no tool of this name"}`)},
		{CallID: "id-look", Name: "look", Content: []byte(`{"error":"there is no tool of this name"}`)},
	}
	if d := cmp.Diff(want, result.Steps[0].Results); d != "" {
		t.Errorf("results (-want +got):\n%s", d)
	}
	stops := []llm.Stop{result.Steps[0].Stop, result.Steps[1].Stop}
	if !slices.Equal(stops, []llm.Stop{llm.StopTools, llm.StopEnd}) {
		t.Errorf("steps = %+v", result.Steps)
	}
}

// Holds docs/spec/03-turn.md, "The race": the abort ends the loop, and what was spent
// before it is kept.
func TestRunAborts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := calls("a")
		first.After = 2 * time.Second
		m := script(first, llmtest.Step{Hang: llmtest.UntilAbort})
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		result, err := newAgent(t, m).Run(ctx, agent.Input{Tenant: shop(), Text: "hi"})
		if agent.ClassOf(err) != agent.Abort || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
		var took []time.Duration
		for _, s := range result.Steps {
			took = append(took, s.Took)
		}
		if d := cmp.Diff([]time.Duration{2 * time.Second, 28 * time.Second}, took); d != "" {
			t.Errorf("steps took (-want +got):\n%s", d)
		}
		if result.Spend.TokensIn != 10 {
			t.Errorf("spend = %+v", result.Spend)
		}
	})
}

func TestNewChecksItsConfig(t *testing.T) {
	for name, remove := range map[string]func(*agent.Config){
		"Models":          func(c *agent.Config) { c.Models = nil },
		"MaxOutputTokens": func(c *agent.Config) { c.MaxOutputTokens = 0 },
		"Now":             func(c *agent.Config) { c.Now = nil },
		"Budget":          func(c *agent.Config) { c.Budget = nil },
		"Jitter":          func(c *agent.Config) { c.Jitter = nil },
		"Log":             func(c *agent.Config) { c.Log = nil },
	} {
		c := config(script())
		remove(&c)
		if _, err := agent.New(c); err == nil || !strings.Contains(err.Error(), "Config."+name) {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
