package google_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// canned is a transport with one answer for all.
type canned struct {
	status int
	body   []byte
}

func (c canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: c.status, Header: http.Header{}, Request: r, Body: io.NopCloser(bytes.NewReader(c.body))}, nil
}

// FuzzAnswer holds that whatever a server answers is a response with a known stop and
// calls that can be told apart, or an error of this program's own; and that it can be
// sent back.
func FuzzAnswer(f *testing.F) {
	f.Add(200, []byte(parts(`{"text":"a","thoughtSignature":"s"},{"functionCall":{"id":"g","name":"f","args":"{}"},"thoughtSignature":"s"},{"functionCall":{"name":"f"}}`)))
	f.Add(200, []byte(`{"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":1e9}}`))
	f.Add(429, []byte(`[{"error":{"code":429,"message":"limit: 0, x","details":[{"retryDelay":"1s"},{"violations":[{"quotaId":"PerDay"}]}]}}]`))
	f.Add(400, []byte(`{"error":"thinking"}`))
	f.Add(200, []byte(`{"error":{"code":503}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		m := at(t, "gemini-3.8-flash", canned{200 + (status%400+400)%400, body})
		req := everything()
		resp, err := m.Generate(context.Background(), req)
		if err != nil {
			if _, ok := errors.AsType[*llm.Error](err); !ok {
				t.Errorf("error %T: %v", err, err)
			}
			return
		}
		if !slices.Contains([]llm.Stop{llm.StopEnd, llm.StopTools, llm.StopLength, llm.StopRefusal}, resp.Stop) {
			t.Errorf("stop = %q", resp.Stop)
		}
		if u := resp.Usage; u.Input < 0 || u.Output < 0 || u.Written != 0 || u.Cached < 0 || u.Cached > u.Input {
			t.Errorf("usage = %+v", u)
		}
		ids := map[string]bool{}
		results := llm.Message{Role: llm.ToolResult}
		for _, c := range resp.Calls {
			if c.ID == "" || c.Name == "" || ids[c.ID] || len(c.Arguments) == 0 {
				t.Errorf("calls = %+v", resp.Calls)
			}
			ids[c.ID] = true
			results.Results = append(results.Results, llm.Result{CallID: c.ID, Name: c.Name, Content: c.Arguments})
		}
		req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls, State: resp.State}, results)
		if _, err := m.Generate(context.Background(), req); err != nil {
			t.Errorf("the answer cannot be sent back: %v", err)
		}
	})
}
