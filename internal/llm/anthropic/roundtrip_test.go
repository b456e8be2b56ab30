package anthropic_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
)

// A server that checks as the API does reads back what was asked, and its answer arrives.
//
// Holds docs/spec/04-agent.md, "Models": each provider's request and response shapes.
func TestRequestsAndAnswersArriveAsTheyWereMeant(t *testing.T) {
	warm := 0.3
	closed := `{"type":"object","properties":{"answer":{"type":"string"}},"required":["answer"],"additionalProperties":false}`
	tools := twoTools()
	tools[1].Parameters = []byte(`{"type":"object","properties":{}}`)
	png := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n")}
	tests := []struct {
		name string
		req  llm.Request
		resp llm.Response
	}{
		{
			"plain",
			llm.Request{System: "Static.", Messages: []llm.Message{says(llm.User, "Hello!")}, ToolChoice: llm.ToolsAuto, MaxOutputTokens: 800, Temperature: &warm},
			llm.Response{Text: "Hi.", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1200, Cached: 900, Written: 100, Output: 20}},
		},
		{
			"schema and tools that none may be called of",
			llm.Request{System: "Static.", Messages: toolLoop(), Tools: tools, ToolChoice: llm.ToolsNone, Schema: []byte(closed), MaxOutputTokens: 800},
			llm.Response{Text: `{"answer":"yes"}`, Stop: llm.StopEnd, Usage: llm.Usage{Input: 3, Output: 4}},
		},
		{
			"parallel calls",
			llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "And this?", Images: []llm.Image{png, png}}}, Tools: tools, ToolChoice: llm.ToolsAuto, MaxOutputTokens: 1},
			llm.Response{Text: "Let me look.", Stop: llm.StopTools, Calls: toolLoop()[1].Calls},
		},
		{"cut off", llm.Request{Messages: toolLoop(), Tools: tools, ToolChoice: llm.ToolsAuto, MaxOutputTokens: 1}, llm.Response{Text: `{"answer":"y`, Stop: llm.StopLength}},
		{"refusal", llm.Request{Messages: []llm.Message{says(llm.User, "?")}, ToolChoice: llm.ToolsAuto, MaxOutputTokens: 1}, llm.Response{Stop: llm.StopRefusal}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := &llmtest.Scripted{Steps: []llmtest.Step{{Response: test.resp}}}
			got, err := newModel(t, newest, anthropicapi.New(script, key)).Generate(t.Context(), test.req)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.req, script.Requests()[0], cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("request (-sent +arrived):\n%s", diff)
			}
			if diff := cmp.Diff(test.resp, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("response (-given +arrived):\n%s", diff)
			}
		})
	}
}

// The signed reasoning before a call goes back with its result, as the API demands of
// models that think by a number of tokens; the model that follows in a fallback gets none
// of it, and thinks only where it can.
//
// Holds docs/spec/04-agent.md, "Loop": the steps of a turn, a fallback among them.
func TestReasoningGoesBackWithTheResults(t *testing.T) {
	tests := []struct {
		name, first, second string
		thinks              string // of the second model
	}{
		{"by effort", newest, newest, `"thinking":{"type":"adaptive"}`},
		{"by a budget", older, older, `"thinking":{"type":"enabled","budget_tokens":1024}`},
		{"fallback by effort", older, newest, `"thinking":{"type":"adaptive"}`},
		{"fallback by a budget", newest, older, ``},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			call := llm.ToolCall{ID: "toolu_1", Name: "set_note", Arguments: []byte(`{"name":"a","value":"b"}`)}
			server := anthropicapi.New(&llmtest.Scripted{Steps: []llmtest.Step{
				{Response: llm.Response{Stop: llm.StopTools, Calls: []llm.ToolCall{call}}}, {Text: "done"},
			}}, key)
			req := llm.Request{
				Messages: []llm.Message{says(llm.User, "Hello!")}, Tools: twoTools(), MaxOutputTokens: 800,
				ReasoningTokens: 1024, Effort: llm.EffortMinimal,
			}
			first, err := newModel(t, test.first, server).Generate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if first.Text != "" || !bytes.HasPrefix(first.State, []byte("anthropic:")) {
				t.Fatalf("text %q, state %q: want no text, and a state of ours", first.Text, first.State)
			}
			req.Messages = append(req.Messages,
				llm.Message{Role: llm.Assistant, Calls: first.Calls, State: first.State},
				llm.Message{Role: llm.ToolResult, Results: []llm.Result{{CallID: call.ID, Name: call.Name, Content: []byte(`{}`)}}})
			if _, err := newModel(t, test.second, server).Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			body := string(server.Requests()[1].Body)
			if sent := strings.Contains(body, `"signature"`); sent != (test.first == test.second) {
				t.Errorf("signed reasoning sent: %v", sent)
			}
			if !strings.Contains(body, test.thinks) || test.thinks == "" && strings.Contains(body, `"thinking"`) {
				t.Errorf("want %s: %s", test.thinks, body)
			}
		})
	}
}

// The server that stands for the API in these tests refuses what the API does.
//
// Holds docs/spec/04-agent.md, "Models": a local server that speaks its wire protocol.
func TestTheServerRefusesWhatTheAPIRefuses(t *testing.T) {
	const start = `{"model":"claude-sonnet-5-5","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":"?"}]}]`
	tests := []struct{ name, body, want string }{
		{"unknown member", start + `,"seed":1}`, "seed: Extra inputs are not permitted"},
		{"no max_tokens", `{"model":"m","messages":[{"role":"user","content":[]}]}`, "max_tokens"},
		{"no messages", `{"model":"m","max_tokens":1}`, "messages: at least one message"},
		{"blank text", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text","text":" "}]}]}`, "non-whitespace"},
		{"role", `{"model":"m","max_tokens":1,"messages":[{"role":"system","content":[{"type":"text","text":"?"}]}]}`, "Unexpected role"},
		{"prefill", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"text","text":"?"}]}]}`, "prefill"},
		{"result without a call", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"x","content":"{}"}]}]}`, "unexpected `tool_use_id`"},
		{"call without a result", `{"model":"m","max_tokens":1,"tools":[{"name":"n","input_schema":{"type":"object"}}],"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]},{"role":"user","content":[{"type":"text","text":"?"}]}]}`, "without `tool_result` blocks"},
		{"call without tools", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"x","name":"n","input":{}}]}]}`, "must define tools"},
		{"choice without tools", start + `,"tool_choice":{"type":"none"}}`, "while providing tools"},
		{"bound in a schema", start + `,"output_config":{"format":{"type":"json_schema","schema":{"type":"number","minimum":0}}}}`, "property 'minimum' is not supported"},
		{"open object", start + `,"output_config":{"format":{"type":"json_schema","schema":{"anyOf":[{"type":"object"}]}}}}`, "must be explicitly set to false"},
		{"budget for a new model", start + `,"thinking":{"type":"enabled","budget_tokens":1024}}`, "not supported for this model"},
		{"temperature with thinking", start + `,"thinking":{"type":"adaptive"},"temperature":0.5}`, "may only be set to 1"},
		{"temperature above 1", start + `,"temperature":1.5}`, "temperature: range"},
		{"forged reasoning", `{"model":"m","max_tokens":1,"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"x"}]}]}`, "Invalid `signature`"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			status, got := post(t, anthropicapi.New(nil, key), "/v1/messages", test.body)
			if status != 400 || !strings.Contains(got, test.want) {
				t.Errorf("%d %s, want 400 with %s", status, got, test.want)
			}
		})
	}
	if status, got := post(t, anthropicapi.New(nil, "another key"), "/v1/messages", start+"}"); status != 401 {
		t.Errorf("wrong key: %d %s", status, got)
	}
	if status, got := post(t, anthropicapi.New(nil, key), "/v1/complete", start+"}"); status != 404 {
		t.Errorf("wrong path: %d %s", status, got)
	}
}
