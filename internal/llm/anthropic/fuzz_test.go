package anthropic_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// Holds docs/spec/04-agent.md, "Models": whatever a server answers, it is an answer or a named error,
// and what calls it makes go back in a form that the API takes.
func FuzzAnswer(f *testing.F) {
	f.Add(200, done)
	f.Add(200, `{"type":"message","content":[{"type":"thinking","thinking":"","signature":"s"},{"type":"tool_use","id":"t 1","name":"","input":{"a":1,"a":2}}],"stop_reason":"tool_use","usage":{"input_tokens":1e9}}`)
	f.Add(200, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`)
	f.Add(200, `{"content":"x"}`)
	f.Add(400, `{"type":"error","error":{"type":"invalid_request_error","message":"tools: not supported"}}`)
	f.Add(529, `[{"error":"x"}]`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		server := anthropicapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
		server.Break(provider.Fault{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body})
		m := newModel(t, newest, server)
		req := llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}, Tools: twoTools()}
		resp, err := m.Generate(t.Context(), req)
		if err != nil {
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind == "" || e.Message == "" {
				t.Fatalf("%#v is no error of the contract", err)
			}
			return
		}
		check(t, resp)
		if len(resp.Calls) == 0 {
			return
		}
		results := make([]llm.Result, len(resp.Calls))
		for i, c := range resp.Calls {
			results[i] = llm.Result{CallID: c.ID, Name: c.Name, Content: []byte(`{}`)}
		}
		req.Messages = append(req.Messages, // without the state, whose signature a fuzzer cannot make
			llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls}, llm.Message{Role: llm.ToolResult, Results: results})
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Errorf("the calls %q cannot go back: %v", resp.Calls, err)
		}
	})
}

func check(t *testing.T, resp llm.Response) {
	u := resp.Usage
	if u.Cached < 0 || u.Written < 0 || u.Output < 0 || u.Input < u.Cached+u.Written {
		t.Errorf("usage %+v", u)
	}
	switch resp.Stop {
	case llm.StopEnd, llm.StopTools, llm.StopLength, llm.StopRefusal:
	default:
		t.Errorf("stop %q", resp.Stop)
	}
	seen := map[string]bool{}
	for _, c := range resp.Calls {
		if c.ID == "" || seen[c.ID] || len(c.Arguments) == 0 {
			t.Errorf("call %q", c)
		}
		seen[c.ID] = true
	}
	if len(resp.State) > 0 && !strings.HasPrefix(string(resp.State), "anthropic:") {
		t.Errorf("state %q", resp.State)
	}
}
