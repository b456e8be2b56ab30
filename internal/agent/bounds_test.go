package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

// many is a step of so many calls.
func many(n int, name string) llmtest.Step {
	s := llmtest.Step{Response: llm.Response{Stop: llm.StopTools}}
	for i := range n {
		s.Response.Calls = append(s.Response.Calls, llm.ToolCall{ID: fmt.Sprint(i), Name: name, Arguments: []byte(`{}`)})
	}
	return s
}

// Holds docs/spec/07-tools.md, "Bounds": every one of 32 calls of a step is made and
// answered; of 33 none is, and the turn fails closed.
func TestTooManyCalls(t *testing.T) {
	reply, look := llmtest.Step{Text: yes}, calls("look")
	beside := many(33, "look")
	beside.Response.Text = yes
	cut := many(33, "look")
	cut.Response.Stop = llm.StopEnd
	tests := []struct {
		name  string
		steps []llmtest.Step
		class agent.Class
		made  int
	}{
		{"as many as may be", []llmtest.Step{many(32, "look"), reply}, "", 32},
		{"again", []llmtest.Step{many(32, "look"), many(32, "look"), reply}, "", 64},
		{"one more", []llmtest.Step{many(33, "look")}, agent.ToolCall, 0},
		{"far more", []llmtest.Step{many(100_000, "look")}, agent.ToolCall, 0},
		{"of no tool", []llmtest.Step{many(33, "x")}, agent.ToolCall, 0},
		{"behind a step", []llmtest.Step{look, many(33, "look")}, agent.ToolCall, 1},
		{"beside a reply", []llmtest.Step{beside}, agent.ToolCall, 0},
		{"beside a reply, in the last step", []llmtest.Step{look, look, look, beside}, agent.ToolCall, 3},
		{"with another stop", []llmtest.Step{cut}, agent.ToolCall, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made, m := 0, script(tt.steps...)
			result, err := turn(t, m, stub{"look", func(string) tool.Outcome { made++; return tool.Outcome{Told: made} }})
			if agent.ClassOf(err) != tt.class || made != tt.made || len(m.Requests()) != len(tt.steps) {
				t.Errorf("%d calls made in %d requests, %v; want %d in %d, class %q", made, len(m.Requests()), err, tt.made, len(tt.steps), tt.class)
			}
			last := result.Steps[len(result.Steps)-1]
			if tt.class != "" && (len(last.Results) != 0 || len(result.Reply.Messages) != 0) {
				t.Errorf("answered %d calls, reply %+v", len(last.Results), result.Reply)
			}
			for i, req := range m.Requests()[1:] {
				if told, _ := results(req); len(told) != len(tt.steps[i].Response.Calls) || told[len(told)-1] == "" {
					t.Errorf("step %d is answered %d of %d calls", i+1, len(told), len(tt.steps[i].Response.Calls))
				}
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "Bounds": whatever a model asks for, little of it is kept.
func TestTraceIsSmall(t *testing.T) {
	for _, name := range []string{"look", "x", strings.Repeat("ä", 5000)} {
		look := stub{"look", func(string) tool.Outcome { return tool.Outcome{Bad: "no"} }}
		result, err := turn(t, script(many(32, name), many(32, name), many(32, name), many(50_000, name)), look)
		if agent.ClassOf(err) != agent.ToolCall {
			t.Errorf("%v", err)
		}
		trace := result.Trace(nil, []tool.Tool{look})
		written, err := json.Marshal(trace)
		if err != nil || len(trace) != 4*32 || len(written) > 16<<10 {
			t.Errorf("a trace of %d calls and %d bytes, %v", len(trace), len(written), err)
		}
		kept, kind := 0, action.Kind("")
		for _, s := range result.Steps {
			for _, called := range s.Calls {
				kept = max(kept, len(called))
			}
		}
		if name == "look" {
			kind = "look"
		}
		want := action.Call{Step: 4, Tool: kind, Answer: action.AnsweredBad, Reason: "too many calls in one step"}
		if d := cmp.Diff(want, trace[len(trace)-1]); d != "" || kept > 64 || result.Steps[3].Asked != 50_000 {
			t.Errorf("of %d calls, names of %d bytes; the last is (-want +got):\n%s", result.Steps[3].Asked, kept, d)
		}
	}
}

// Holds docs/spec/07-tools.md, "Bounds": deadline and abort hold for the loop. Once it is
// over, no further call of its step is taken.
func TestNoCallBehindTheAbort(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	made := 0
	look := stub{"look", func(string) tool.Outcome {
		if made++; made == 2 {
			cancel()
		}
		return tool.Outcome{Told: made}
	}}
	m := script(calls("look", "look", "look", "x", "look"), llmtest.Step{Text: yes})
	result, err := newAgent(t, m).Run(ctx, agent.Input{Tenant: shop(), Text: "hi", Tools: []tool.Tool{look}})
	if agent.ClassOf(err) != agent.Abort || made != 2 || len(m.Requests()) != 1 {
		t.Errorf("%d calls made in %d requests, %v", made, len(m.Requests()), err)
	}
	var told []string
	for _, r := range result.Steps[0].Results {
		told = append(told, string(r.Content))
	}
	const late = `{"error":"the turn is over: this call was not made"}`
	if d := cmp.Diff([]string{"1", "2", late, late, late}, told); d != "" {
		t.Errorf("told (-want +got):\n%s", d)
	}
}
