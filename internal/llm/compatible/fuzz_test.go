package compatible_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
)

// Holds docs/spec/01-principles.md, C3: whatever a server answers is an answer that can be
// used and sent again, or an error.
func FuzzAnswer(f *testing.F) {
	for _, body := range []string{done, one(`"content":[{"type":"text","text":"a"}]`, `"stop"`),
		one(`"reasoning_content":"hm","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":1}},"extra_content":{"y":1}}]`, `"tool_calls"`),
		one(`"function_call":{"name":"f","arguments":"{"}`, `"length"`), `{"error":{"code":429,"message":"x"}}`, `[{"error":{"message":"x"}}]`,
		`{"detail":[{"loc":["body",1],"msg":"x"}]}`, `{"choices":[{"error":{"metadata":{"raw":"{\"error\":\"x\"}"}}}]}`, "<html>", "data: {}", `{"choices":[{"message":{"content":"</think>"}}]}`} {
		f.Add(200, body)
		f.Add(400, body)
	}
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 599 || status == 204 || status == 304 {
			status = 200
		}
		server := chatapi.New(nil, key)
		server.Break(answered(status, body), answered(http.StatusOK, done))
		m := newModel(t, server.Transport())
		req := llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}, Tools: []llm.Tool{{Name: "f"}}}
		resp, err := m.Generate(t.Context(), req)
		if err != nil {
			var e *llm.Error
			if !errors.As(err, &e) || e.Kind == "" || strings.Contains(err.Error(), key) {
				t.Fatalf("error = %#v", err)
			}
			return
		}
		if resp.Stop == "" || resp.Usage.Input < 0 || resp.Usage.Output < 0 || resp.Usage.Cached > resp.Usage.Input || !utf8.ValidString(resp.Text) {
			t.Fatalf("response = %+v", resp)
		}
		if len(resp.Calls) == 0 {
			return
		}
		ids := map[string]bool{}
		var results []llm.Result
		for _, c := range resp.Calls {
			if c.ID == "" || ids[c.ID] || c.Name == "" || len(c.Arguments) == 0 {
				t.Fatalf("calls = %+v", resp.Calls)
			}
			ids[c.ID] = true
			results = append(results, llm.Result{CallID: c.ID, Name: c.Name, Content: []byte("{}")})
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls, State: resp.State}, llm.Message{Role: llm.ToolResult, Results: results})
		if _, err := m.Generate(t.Context(), req); err != nil {
			t.Fatalf("the answer cannot be sent again: %v", err)
		}
		if sent := server.Requests()[1].Body; !json.Valid(sent) || !utf8.Valid(sent) {
			t.Fatalf("not JSON: %s", sent)
		}
	})
}
