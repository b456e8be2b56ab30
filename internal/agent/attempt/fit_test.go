package attempt_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

// whole is a request with everything in it, in the middle of a tool phase.
func whole() llm.Request {
	temperature := 0.3
	return llm.Request{
		System: "system",
		Messages: []llm.Message{
			{Role: llm.User, Text: "hi", Images: []llm.Image{{MediaType: "image/png", Data: []byte("png")}}},
			{Role: llm.Assistant, Text: "let me look", Calls: []llm.ToolCall{{ID: "1", Name: "look", Arguments: []byte(`{}`)}}},
			{Role: llm.ToolResult, Results: []llm.Result{{CallID: "1", Name: "look", Content: []byte(`{"n":1}`)}}},
		},
		Tools: []llm.Tool{{Name: "look"}}, ToolChoice: llm.ToolsAuto,
		Schema: []byte(`{}`), MaxOutputTokens: 800, Temperature: &temperature,
	}
}

// has writes down what a model was asked, in a few words.
func has(req llm.Request) string {
	var words []string
	add := func(has bool, word string) {
		if has {
			words = append(words, word)
		}
	}
	add(req.Temperature != nil, "temperature")
	add(req.Effort != "", "effort="+string(req.Effort))
	add(req.Schema != nil, "schema")
	add(len(req.Tools) > 0, "tools="+string(req.ToolChoice))
	add(len(req.Messages[0].Images) > 0, "images")
	add(len(req.Messages[1].Calls) > 0, "calls")
	words = append(words, fmt.Sprintf("%d+%d", req.MaxOutputTokens, req.ReasoningTokens))
	return strings.Join(words, " ")
}

// Holds docs/spec/04-agent.md, "Models": whether a model takes images, temperature,
// reasoning effort, tools together with a schema; it is sent what it takes.
func TestFit(t *testing.T) {
	everything := llm.Traits{Images: true, Temperature: true, Effort: true, ToolsWithSchema: true}
	with := func(change func(*llm.Traits)) llm.Traits { t := everything; change(&t); return t }
	closed := func(r *llm.Request) { r.ToolChoice = llm.ToolsNone }
	toolless := func(r *llm.Request) { r.Tools, r.ToolChoice = nil, llm.ToolsNone }
	out := func(n int) func(*llm.Request) { return func(r *llm.Request) { r.MaxOutputTokens = n } }
	tests := []struct {
		name   string
		traits llm.Traits
		effort llm.Effort
		change func(*llm.Request)
		want   string
	}{
		{"takes everything", everything, "", nil, "temperature schema tools=auto images calls 800+0"},
		{"no temperature", with(func(t *llm.Traits) { t.Temperature = false }), "", nil, "schema tools=auto images calls 800+0"},
		{"no images", with(func(t *llm.Traits) { t.Images = false }), "", nil, "temperature schema tools=auto calls 800+0"},
		{"no tool can be called", everything, "", closed, "temperature schema tools=none images calls 800+0"},
		{"no tool is offered", everything, "", toolless, "temperature schema images 800+0"},

		{"no temperature when it is to reason", everything, llm.EffortHigh, nil, "effort=high schema tools=auto images calls 800+16384"},
		{"no effort", with(func(t *llm.Traits) { t.Effort = false }), llm.EffortHigh, nil, "temperature schema tools=auto images calls 800+0"},
		{"reasons, unasked", with(func(t *llm.Traits) { t.Reasons = true }), "", nil, "temperature schema tools=auto images calls 800+6144"},
		{"reasons, asked", with(func(t *llm.Traits) { t.Reasons = true }), llm.EffortMinimal, nil, "effort=minimal schema tools=auto images calls 800+1024"},
		{"reasons, no effort", with(func(t *llm.Traits) { t.Reasons, t.Effort = true, false }), llm.EffortHigh, nil, "temperature schema tools=auto images calls 800+6144"},

		{"no schema beside tools", with(func(t *llm.Traits) { t.ToolsWithSchema = false }), "", nil, "temperature tools=auto images calls 800+0"},
		{"a schema once none can be called", with(func(t *llm.Traits) { t.ToolsWithSchema = false }), "", closed, "temperature schema tools=none images calls 800+0"},
		{"a schema where none is offered", with(func(t *llm.Traits) { t.ToolsWithSchema = false }), "", toolless, "temperature schema images 800+0"},
		{"a schema where none is offered, whatever the choice", with(func(t *llm.Traits) { t.ToolsWithSchema = false }), "", func(r *llm.Request) { r.Tools = nil }, "temperature schema images 800+0"},

		{"more than it writes", with(func(t *llm.Traits) { t.MaxOutput = 4096 }), "", out(5000), "temperature schema tools=auto images calls 4096+0"},
		{"all it writes", with(func(t *llm.Traits) { t.MaxOutput = 4096 }), "", out(4096), "temperature schema tools=auto images calls 4096+0"},
		{"more than it writes and reasons", with(func(t *llm.Traits) { t.MaxOutput = 4096 }), llm.EffortHigh, out(1000), "effort=high schema tools=auto images calls 1000+3096"},
		{"just what it writes and reasons", with(func(t *llm.Traits) { t.MaxOutput = 3048 }), llm.EffortLow, out(1000), "effort=low schema tools=auto images calls 1000+2048"},
		{"no room to reason", with(func(t *llm.Traits) { t.MaxOutput = 4096 }), llm.EffortHigh, out(5000), "effort=high schema tools=auto images calls 4096+0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := whole()
			if tt.change != nil {
				tt.change(&req)
			}
			before := has(req)
			if d := cmp.Diff(tt.want, has(attempt.Fit(tt.traits, tt.effort, req))); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
			if after := has(req); after != before {
				t.Errorf("the caller's request became %s", after)
			}
		})
	}
}

func refuses(f llm.Feature) llmtest.Step {
	return llmtest.Step{Err: &llm.Error{Provider: "scripted", Kind: llm.KindRejected, Status: 400, Unsupported: f}}
}

// Holds docs/spec/04-agent.md, "Models": unknown models work. What a provider refuses is
// left out at once, and from then on.
func TestUnsupported(t *testing.T) {
	const (
		all  = "effort=low schema tools=auto calls 800+2048"
		mock = "temperature schema tools=auto images calls 800+0"
	)
	tests := []struct {
		name  string
		model string // one that nobody listed takes all but images; the mock all but an effort
		steps []llmtest.Step
		want  []string // what is asked, up to the answer or the failure
		next  string   // what the next turn asks first
		fails bool
	}{
		{"temperature", "mock:x", []llmtest.Step{refuses(llm.Temperature), fine()},
			[]string{mock, "schema tools=auto images calls 800+0"}, "schema tools=auto images calls 800+0", false},
		{"reasoning", "new:x", []llmtest.Step{refuses(llm.Reasoning), fine()},
			[]string{all, "temperature schema tools=auto calls 800+0"}, "temperature schema tools=auto calls 800+0", false},
		{"schema", "new:x", []llmtest.Step{refuses(llm.Schema), fine()},
			[]string{all, "effort=low tools=auto calls 800+2048"}, "effort=low tools=auto calls 800+2048", false},
		{"tools", "new:x", []llmtest.Step{refuses(llm.Tools), fine()},
			[]string{all, "effort=low schema 800+2048"}, "effort=low schema 800+2048", false},
		{"images", "mock:x", []llmtest.Step{refuses(llm.Images), fine()},
			[]string{mock, "temperature schema tools=auto calls 800+0"}, "temperature schema tools=auto calls 800+0", false},
		{"one behind another", "mock:x", []llmtest.Step{refuses(llm.Images), refuses(llm.Schema), fine()},
			[]string{mock, "temperature schema tools=auto calls 800+0", "temperature tools=auto calls 800+0"}, "temperature tools=auto calls 800+0", false},
		{"what was not asked", "new:x", []llmtest.Step{refuses(llm.Temperature)}, []string{all}, all, true},
		{"an effort that was not asked", "mock:x", []llmtest.Step{refuses(llm.Reasoning)}, []string{mock}, mock, true},
		{"what nobody knows", "new:x", []llmtest.Step{refuses("odd")}, []string{all}, all, true},
		{"nothing named", "new:x", []llmtest.Step{refuses("")}, []string{all}, all, true},
		{"the same for ever", "new:x", []llmtest.Step{refuses(llm.Schema)},
			[]string{all, "effort=low tools=auto calls 800+2048"}, "effort=low tools=auto calls 800+2048", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := plays(t, tt.steps...)
				r := start(t, options{models: []attempt.Model{{Name: tt.model, Model: m}}, effort: llm.EffortLow})
				if _, made, err := r.turn().Call(t.Context(), whole()); (err != nil) != tt.fails || len(made) != len(tt.want) {
					t.Errorf("%d attempts: %v", len(made), err)
				}
				var got []string
				for _, req := range m.asked {
					got = append(got, has(req))
				}
				if d := cmp.Diff(tt.want, got); d != "" || r.since() != 0 {
					t.Errorf("after %v asked (-want +got):\n%s", r.since(), d)
				}
				_, _, _ = r.turn().Call(t.Context(), whole())
				if d := cmp.Diff(tt.next, has(m.asked[len(got)])); d != "" {
					t.Errorf("the next turn asks (-want +got):\n%s", d)
				}
				if told := strings.Count(r.log.String(), "does not take a part"); told != len(tt.want)-1 {
					t.Errorf("the log tells of %d", told)
				}
				r.spent()
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": turns that were refused together all ask again;
// the fallback still gets what the first did not take.
func TestUnsupportedByTurnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := refuses(llm.Schema)
		slow.After = time.Second
		var steps []llmtest.Step
		for range 50 {
			steps = append(steps, slow)
		}
		fallback := plays(t, fine())
		r := start(t, both(plays(t, append(steps, fine())...), fallback))
		var turns sync.WaitGroup
		for range 50 {
			turns.Go(func() {
				if _, made, err := r.turn().Call(t.Context(), whole()); err != nil || len(made) != 2 || made[1].Model != "one:a" {
					t.Errorf("%+v, %v", made, err)
				}
			})
		}
		turns.Wait()
		if told := strings.Count(r.log.String(), "does not take a part"); told != 1 || fallback.requests() != 0 {
			t.Errorf("the log tells %d times; fallback asked %d times", told, fallback.requests())
		}
	})
	synctest.Test(t, func(t *testing.T) {
		fallback := plays(t, fine())
		r := start(t, both(plays(t, refuses(llm.Schema), down()), fallback))
		if _, _, err := r.turn().Call(t.Context(), whole()); err != nil {
			t.Error(err)
		}
		if got := has(fallback.asked[0]); !strings.Contains(got, "schema") {
			t.Errorf("the fallback was asked %s", got)
		}
	})
}

// Holds docs/spec/01-principles.md, C5: what a panic says is not in the error, and the log
// has it without personal data.
func TestPanicIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, alone(plays(t, llmtest.Step{Panic: "no room for anna@example.com"})))
		_, _, err := r.call(abort)
		if err == nil || strings.Contains(err.Error()+r.log.String(), "anna") {
			t.Errorf("error %v, log %s", err, r.log)
		}
		if got := r.log.String(); !strings.Contains(got, "panicked") || !strings.Contains(got, "model=one:a") || !strings.Contains(got, "Scripted") {
			t.Errorf("log = %s", got)
		}
	})
}

func TestNewChecksItsConfig(t *testing.T) {
	fits := func() attempt.Config {
		return attempt.Config{
			Models: []attempt.Model{one(&llmtest.Scripted{})}, Budget: &doorman{}, Now: time.Now, Jitter: attempt.Jitter, Log: discard(),
		}
	}
	if _, err := attempt.New(fits()); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*attempt.Config){
		"Models":        func(c *attempt.Config) { c.Models = nil },
		"Budget":        func(c *attempt.Config) { c.Budget = nil },
		"Now":           func(c *attempt.Config) { c.Now = nil },
		"Jitter":        func(c *attempt.Config) { c.Jitter = nil },
		"Log":           func(c *attempt.Config) { c.Log = nil },
		"provider":      func(c *attempt.Config) { c.Models[0].Name = "a" },
		"model x:y is ": func(c *attempt.Config) { c.Models = append(c.Models, attempt.Model{Name: "x:y"}) },
	} {
		c := fits()
		spoil(&c)
		if _, err := attempt.New(c); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": an adapter that has learned to write the request
// otherwise is asked again at once, a few times at most; it is no failure of the provider.
func TestAnotherWording(t *testing.T) {
	for name, tt := range map[string]struct {
		steps []llmtest.Step
		made  int
		fails bool
	}{
		"twice":    {[]llmtest.Step{refuses(llm.Wording), refuses(llm.Wording), fine()}, 3, false},
		"for ever": {[]llmtest.Step{refuses(llm.Wording)}, 5, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spare := plays(t, fine())
				r := start(t, options{models: []attempt.Model{{Name: "new:x", Model: plays(t, tt.steps...)}, {Name: "spare:x", Model: spare}}})
				_, made, err := r.turn().Call(t.Context(), whole())
				if err != nil || r.since() != 0 {
					t.Errorf("after %v: %v", r.since(), err)
				}
				if first := len(made) - len(spare.asked); first != tt.made || (len(spare.asked) > 0) != tt.fails {
					t.Errorf("%d attempts of the first model and %d of the fallback, want %d, and the fallback only behind a failure", first, len(spare.asked), tt.made)
				}
				r.spent()
			})
		})
	}
}
