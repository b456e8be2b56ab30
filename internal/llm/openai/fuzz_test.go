package openai_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
)

// Holds docs/spec/04-agent.md, "Models": whatever a server answers, it is an answer or a
// named error, and what calls it makes go back in a form that the API takes.
func FuzzAnswer(f *testing.F) {
	f.Add(200, done)
	f.Add(200, output(thought+`,`+phased("commentary", "x")+`,`+made(`"a b"`, `"f g"`, `{"a":1,"a":2}`)+`,`+made(`null`, `"f"`, `"{"`)))
	f.Add(200, cut("content_filter", made(`"\u0000"`, `"f"`, `"1e999"`)))
	f.Add(200, `{"status":"failed","error":{"code":"server_error","message":"x"},"usage":{"input_tokens":1e9}}`)
	f.Add(400, `{"error":{"message":"tools is not supported","type":"invalid_request_error","param":"tools","code":null}}`)
	f.Add(400, `[{"error":"x"}]`)
	f.Add(429, `{"error":{"error":{"error":{"error":"x"}}}}`)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 {
			return
		}
		server := openaiapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
		server.Break(answered(status, body))
		m := newModel(t, newest, server)
		req := llm.Request{Messages: hello, Tools: twoTools(), Schema: []byte(`{"type":"object"}`)}
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
		req.Messages = append(req.Messages[:1:1],
			llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls, State: unsealed(resp.State)},
			llm.Message{Role: llm.ToolResult, Results: results})
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Errorf("the calls %q cannot go back: %v", resp.Calls, err)
		}
	})
}

// unsealed is a state without reasoning, which a fuzzer cannot encrypt.
func unsealed(state []byte) []byte {
	if strings.Contains(string(state), `"reasoning"`) {
		return nil
	}
	return state
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
	if len(resp.State) > 0 && (len(resp.Calls) == 0 || !strings.HasPrefix(string(resp.State), "openai:")) {
		t.Errorf("state %q", resp.State)
	}
}
