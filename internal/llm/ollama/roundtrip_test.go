package ollama_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/ollamaapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/ollama"
)

// Holds docs/spec/04-agent.md, "Models": what is sent is what the provider reads, and what
// it answers is what comes back.
func TestRoundTrip(t *testing.T) {
	warm := 0.7
	image := llm.Image{Data: []byte("\x89PNG")} // no media type goes over
	tools := []llm.Tool{{Name: "f", Description: "Does it.", Parameters: []byte(`{"type":"object","properties":{"x":{"type":"integer"}}}`)}}
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
		{"text", llm.Request{System: "Be brief.", Messages: messages[:1], MaxOutputTokens: 500, Temperature: &warm},
			llm.Response{Text: "Yes", Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Cached: 40, Output: 20}}},
		{"schema", llm.Request{Messages: messages[:3], Schema: replySchema(t)}, llm.Response{Text: `{"messages":["Yes"]}`, Stop: llm.StopEnd}},
		{"calls", llm.Request{Messages: messages[:3], Tools: tools}, llm.Response{Text: "I look.", Calls: used, Stop: llm.StopTools}},
		{"results", llm.Request{System: "Be brief.", Messages: messages, Tools: tools}, llm.Response{Text: "Yes", Stop: llm.StopEnd}},
		{"length", llm.Request{Messages: messages[:1]}, llm.Response{Text: "Ye", Stop: llm.StopLength}},
		{"nothing", llm.Request{Messages: messages[:1]}, llm.Response{Stop: llm.StopEnd}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := &llmtest.Scripted{Steps: []llmtest.Step{{Response: tt.response}}}
			got, err := newModel(t, "m", ollamaapi.New(script, "")).Generate(t.Context(), tt.request)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.response, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response differs (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.request, script.Requests()[0], cmpopts.EquateEmpty(), asJSON); d != "" {
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

// Holds docs/spec/04-agent.md, "Models": where no tool may be called none is offered, and
// what tools did before is told as text.
func TestNoToolsMayBeCalled(t *testing.T) {
	script := &llmtest.Scripted{Steps: []llmtest.Step{{Text: "Yes"}}}
	req := llm.Request{Messages: toolLoop(""), Tools: twoTools(), ToolChoice: llm.ToolsNone}
	if _, err := newModel(t, "m", ollamaapi.New(script, "")).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	got := script.Requests()[0]
	want := llm.Request{Messages: llm.WithoutTools(req.Messages)}
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("request differs (-want +got):\n%s", d)
	}
}

// Holds docs/spec/04-agent.md, "Models": the local server refuses what Ollama does, in its
// shape.
func TestServerRefuses(t *testing.T) {
	hello := llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}}
	server := ollamaapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Err: errors.New("told to fail")}}}, key)
	m, err := ollama.New(ollama.Config{Model: "m", Key: "other-key", Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), hello)
	if got, _ := failureOf(t, err); got.Kind != llm.KindUnauthorized {
		t.Errorf("wrong key: %v", err)
	}
	bad := hello
	bad.Schema = []byte(`7`)
	_, err = newModel(t, "m", ollamaapi.New(nil, "")).Generate(t.Context(), bad)
	if got, _ := failureOf(t, err); got.Unsupported != llm.Schema {
		t.Errorf("schema that is none: %v", err)
	}
	m, err = ollama.New(ollama.Config{Model: "m", Key: key, Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), hello)
	if got, _ := failureOf(t, err); got != (failure{Kind: llm.KindServer, Status: http.StatusInternalServerError}) {
		t.Errorf("failing model: %v", err)
	}
}

// Holds docs/spec/04-agent.md, "Loop": the abort ends a call whose answer never comes, as
// while the server loads a model.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := ollamaapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Hang: llmtest.UntilAbort}}}, "")
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		start := time.Now()
		_, err := newModel(t, "m", server).Generate(ctx, llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}})
		if got, _ := failureOf(t, err); got.Kind != llm.KindNetwork || !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 9*time.Second {
			t.Errorf("error after %v = %v", time.Since(start), err)
		}
	})
}

// BenchmarkGenerate is a usual turn without the network: a prompt of 8 KB, a reply of 500
// bytes.
func BenchmarkGenerate(b *testing.B) {
	server := ollamaapi.New(nil, "")
	m := newModel(b, "m", server)
	answer := answered(http.StatusOK, one(`"content":"`+strings.Repeat("a", 500)+`"`, "stop"))
	req := llm.Request{
		System: strings.Repeat("Answer only from the catalog. ", 200), Tools: twoTools(), MaxOutputTokens: 1000,
		Messages: []llm.Message{says(llm.User, strings.Repeat("What does it cost? ", 100))},
	}
	b.ReportAllocs()
	for b.Loop() {
		server.Break(answer)
		if _, err := m.Generate(b.Context(), req); err != nil {
			b.Fatal(err)
		}
	}
}
