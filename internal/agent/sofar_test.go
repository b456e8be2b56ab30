package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/agent"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

// Holds docs/spec/07-tools.md, "Bounds": in the last step no tool can be called, and it is
// told in words what was staged, what went out, what was refused, and the last read. So it
// is when bad calls end the tool phase.
func TestLastStepIsToldWhatTheCallsCameTo(t *testing.T) {
	look, odd, reply := calls("look"), calls("odd", "odd"), llmtest.Step{Text: yes}
	tests := []struct {
		name   string
		steps  []llmtest.Step
		silent bool // nothing was called that could be told of
		asked  int  // how often what the calls came to is asked for
		want   string
	}{
		{"in the last step", []llmtest.Step{look, look, look, reply}, false, 1, "looked 3 times"},
		{"after two bad calls", []llmtest.Step{look, odd, reply}, false, 1, "looked 1 times"},
		{"once alone", []llmtest.Step{look, odd, look, reply}, false, 1, "looked 1 times"},
		{"nothing", []llmtest.Step{odd, reply}, true, 1, ""},
		{"before the last step", []llmtest.Step{look, look, reply}, false, 0, ""},
		{"without a call", []llmtest.Step{reply}, false, 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			looked, asked, m := 0, 0, script(tt.steps...)
			_, err := newAgent(t, m).Run(t.Context(), agent.Input{
				Tenant: shop(), Text: "hi",
				Tools: []tool.Tool{refuses("odd"), stub{"look", func(string) tool.Outcome { looked++; return tool.Outcome{Told: looked} }}},
				SoFar: func() string {
					if asked++; tt.silent {
						return ""
					}
					return fmt.Sprintf("looked %d times", looked)
				},
			})
			if err != nil || asked != tt.asked {
				t.Fatalf("asked %d times, %v", asked, err)
			}
			for i, req := range m.Requests() {
				told := closings(req)
				last := i == len(m.Requests())-1
				switch {
				case len(told) > 1 || last && len(told) != tt.asked:
					t.Errorf("step %d is told %d times that the tools are done with", i+1, len(told))
				case last && tt.asked > 0:
					if _, words, _ := strings.Cut(told[0], "\n"); words != tt.want {
						t.Errorf("told %q, want %q", words, tt.want)
					}
				}
			}
		})
	}
}

// closings are the messages that tell the model that the tools are done with.
func closings(req llm.Request) (told []string) {
	for _, m := range req.Messages {
		if m.Role == llm.User && strings.HasPrefix(m.Text, "SERVER: no more tools can be called") {
			told = append(told, m.Text)
		}
	}
	return told
}

// Holds docs/spec/07-tools.md, "Bounds": steps count from 1, and calls of a step come in the
// order made.
func TestCallsKnowTheirStep(t *testing.T) {
	var steps []int
	look := counting{&steps}
	if _, err := turn(t, script(calls("look", "look"), calls("look"), llmtest.Step{Text: yes}), look); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(steps); got != "[1 1 2]" {
		t.Errorf("steps %s", got)
	}
}

// counting writes down the step of each call.
type counting struct{ steps *[]int }

func (c counting) Spec() llm.Tool { return llm.Tool{Name: "look"} }
func (c counting) Offered() bool  { return true }
func (c counting) Call(step int, _ []byte) tool.Outcome {
	*c.steps = append(*c.steps, step)
	return tool.Outcome{Told: true}
}
