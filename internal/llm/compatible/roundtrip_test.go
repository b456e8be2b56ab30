package compatible_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/compatible"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
)

// inStrictMode is what strict mode leaves of the reply's schema: bounds go.
func inStrictMode(t *testing.T, schema []byte) []byte {
	t.Helper()
	out := string(schema)
	for _, bound := range []string{`,"minItems":1`, `,"maxItems":3`, `,"minimum":0`, `,"maximum":1`} {
		if !strings.Contains(out, bound) {
			t.Fatalf("the schema has no %s: %s", bound, out)
		}
		out = strings.Replace(out, bound, "", 1)
	}
	return []byte(out)
}

// Holds docs/spec/04-agent.md, "Models": what is sent is what the provider reads, and what
// it answers is what comes back.
func TestRoundTrip(t *testing.T) {
	warm := 0.7
	image := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG")}
	tools := []llm.Tool{{Name: "f", Description: "Does it.", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"integer","minimum":1}}}`)}}
	used := []llm.ToolCall{{ID: "a", Name: "f", Arguments: []byte(`{"x":1}`)}, {ID: "b", Name: "f", Arguments: []byte(`{}`)}}
	messages := []llm.Message{
		says(llm.User, "Hello"), says(llm.Assistant, "Good day"),
		{Role: llm.User, Text: "And this?", Images: []llm.Image{image, image}},
		{Role: llm.Assistant, Text: "I look.", Calls: used},
		{Role: llm.ToolResult, Results: []llm.Result{{CallID: "a", Name: "f", Content: []byte(`{"y":2}`)}, {CallID: "b", Name: "f", Content: []byte(`[]`)}}},
	}
	tests := []struct {
		name     string
		request  llm.Request
		response llm.Response
	}{
		{"text", llm.Request{System: "Be brief.", Messages: messages[:1], MaxOutputTokens: 500, Temperature: &warm, Effort: llm.EffortHigh},
			llm.Response{Text: "Yes", Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Cached: 40, Written: 30, Output: 20}}},
		{"schema", llm.Request{Messages: messages[:1], Schema: replySchema(t)}, llm.Response{Text: `{"messages":["Yes"]}`, Stop: llm.StopEnd}},
		{"calls", llm.Request{Messages: messages[:3], Tools: tools}, llm.Response{Text: "I look.", Calls: used, Stop: llm.StopTools}},
		{"results", llm.Request{System: "Be brief.", Messages: messages, Tools: tools, ToolChoice: llm.ToolsNone, Schema: replySchema(t)}, llm.Response{Text: "Yes", Stop: llm.StopEnd}},
		{"length", llm.Request{Messages: messages[:1]}, llm.Response{Text: "Ye", Stop: llm.StopLength}},
		{"refusal", llm.Request{Messages: messages[:1]}, llm.Response{Stop: llm.StopRefusal}},
		{"nothing", llm.Request{Messages: messages[:1]}, llm.Response{Stop: llm.StopEnd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Scripted{Steps: []llmtest.Step{{Response: tt.response}}}
			got, err := newModel(t, chatapi.New(script, key).Transport()).Generate(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.response, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response differs (-want +got):\n%s", d)
			}
			want := tt.request
			if want.Schema != nil {
				want.Schema = inStrictMode(t, want.Schema)
			}
			if d := cmp.Diff(want, script.Requests()[0], cmpopts.EquateEmpty(), asJSON); d != "" {
				t.Errorf("request differs (-want +got):\n%s", d)
			}
		})
	}
}

// asJSON compares JSON whatever the order of its members.
var asJSON = cmp.FilterValues(func(a, b []byte) bool { return len(a) > 0 && len(b) > 0 }, cmp.Transformer("canonical", func(b []byte) string {
	v := jsontext.Value(b).Clone()
	if v.Canonicalize() != nil {
		return string(b)
	}
	return string(v)
}))

// Holds docs/spec/04-agent.md, "Models": a schema would keep models from
// their tools (https://github.com/vllm-project/vllm/issues/39929), so it waits.
func TestSchemaBesideTools(t *testing.T) {
	for choice, sent := range map[llm.ToolChoice]bool{llm.ToolsAuto: false, llm.ToolsNone: true} {
		script := &llmtest.Scripted{Steps: []llmtest.Step{{Text: "Yes"}}}
		req := llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}, Tools: threeTools(), ToolChoice: choice, Schema: replySchema(t)}
		if _, err := newModel(t, chatapi.New(script, key).Transport()).Generate(t.Context(), req); err != nil {
			t.Fatal(err)
		}
		if got := script.Requests()[0].Schema != nil; got != sent {
			t.Errorf("%s: a schema was sent: %t, want %t", choice, got, sent)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": the local server refuses what a strict one does,
// in its shape, and asks for a key only where it has one.
func TestServerRefuses(t *testing.T) {
	yes := &llmtest.Scripted{Repeat: true, Steps: []llmtest.Step{{Text: "Yes"}}}
	hello := llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}}
	lonely := llm.Request{Tools: threeTools(), Messages: []llm.Message{says(llm.User, "Hello"), {Role: llm.ToolResult, Results: []llm.Result{{CallID: "a", Content: []byte("{}")}}}}}
	unanswered := llm.Request{Tools: threeTools(), Messages: []llm.Message{says(llm.User, "Hello"), {Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "a", Name: "f"}}}, says(llm.User, "Hello")}}
	tests := []struct {
		name    string
		model   llm.Model // behind the server, which wants the key
		config  compatible.Config
		request llm.Request
		want    failure
	}{
		{"wrong key", yes, compatible.Config{Key: "sk-other", BaseURL: base}, hello, failure{Kind: llm.KindUnauthorized, Status: 401}},
		{"no key", yes, compatible.Config{BaseURL: base}, hello, failure{Kind: llm.KindUnauthorized, Status: 401}},
		{"wrong path", yes, compatible.Config{Key: key, BaseURL: "http://h/v2"}, hello, failure{Kind: llm.KindRejected, Status: 404}},
		{"result without a call", yes, compatible.Config{Key: key, BaseURL: base}, lonely, failure{Kind: llm.KindRejected, Status: 400}},
		{"call without a result", yes, compatible.Config{Key: key, BaseURL: base}, unanswered, failure{Kind: llm.KindRejected, Status: 400}},
		{"failing model", &llmtest.Scripted{Steps: []llmtest.Step{{Err: errors.New("told to fail")}}}, compatible.Config{Key: key, BaseURL: base}, hello, failure{Kind: llm.KindServer, Status: 500}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.config.Model, tt.config.Transport = "m", chatapi.New(tt.model, key).Transport()
			m, err := compatible.New(tt.config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = m.Generate(t.Context(), tt.request)
			if got, e := failureOf(t, err); got != tt.want || strings.Contains(e.Error(), "sk-") {
				t.Errorf("error = %+v, %v, want %+v", got, e, tt.want)
			}
		})
	}
	if _, err := newModel(t, chatapi.New(yes, "").Transport()).Generate(t.Context(), hello); err != nil {
		t.Errorf("where no key is asked for: %v", err)
	}
}
