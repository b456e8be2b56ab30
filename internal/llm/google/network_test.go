package google_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/google"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/googleapi"
)

// over makes a model that reaches an address through the network.
func over(t *testing.T, address string) *google.Model {
	t.Helper()
	m, err := google.New(google.Config{Model: "gemini-3.8-flash", Key: key, BaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Holds docs/spec/04-agent.md, "Loop": network errors, which may go away, apart from
// answers that cannot be read.
func TestBrokenExchanges(t *testing.T) {
	cut := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, parts(`{"text":"Yes"}`))
	}
	bomb := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		for range 64 {
			_, _ = z.Write(make([]byte, 1<<20)) // the caller stops reading
		}
		_ = z.Close()
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	tests := []struct {
		name    string
		address func(t *testing.T) string
		kind    llm.ErrorKind
	}{
		{"cut off", serve(cut), llm.KindNetwork},
		{"grows when unpacked", serve(bomb), llm.KindProtocol},
		{"nobody there", func(*testing.T) string { return closed.URL }, llm.KindNetwork},
		{"unknown certificate", func(t *testing.T) string {
			s := httptest.NewUnstartedServer(http.NotFoundHandler())
			s.Config.ErrorLog = nil
			s.StartTLS()
			t.Cleanup(s.Close)
			return s.URL
		}, llm.KindNetwork},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := over(t, tt.address(t)).Generate(t.Context(), llm.Request{Messages: []llm.Message{say("Hi")}})
			if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != tt.kind {
				t.Errorf("Generate = %+v, %v; want %s", resp, err, tt.kind)
			}
		})
	}
}

func serve(handler http.HandlerFunc) func(*testing.T) string {
	return func(t *testing.T) string {
		s := httptest.NewServer(handler)
		t.Cleanup(s.Close)
		return s.URL
	}
}

// longAnswer is a transport whose answer is 50 MB.
type longAnswer struct{ read int }

func (l *longAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{}, Request: r, Body: io.NopCloser(io.LimitReader(l, 50<<20))}, nil
}

func (l *longAnswer) Read(b []byte) (int, error) {
	l.read += len(b)
	return copy(b, bytes.Repeat([]byte(" "), len(b))), nil
}

// Holds docs/spec/04-agent.md, "Models": no answer fills the memory.
func TestLongAnswer(t *testing.T) {
	long := &longAnswer{}
	_, err := at(t, "gemini-3.8-flash", long).Generate(t.Context(), llm.Request{Messages: []llm.Message{say("Hi")}})
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindProtocol {
		t.Errorf("Generate = %v", err)
	}
	if long.read > 10<<20 {
		t.Errorf("%d bytes of the answer were read", long.read)
	}
}

// Holds docs/spec/04-agent.md, "Loop": a call ends with its context.
func TestAnswerThatNeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := googleapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Hang: llmtest.UntilAbort}}}, key)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		_, err := at(t, "gemini-3.8-flash", s.Transport()).Generate(ctx, llm.Request{Messages: []llm.Message{say("Hi")}})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
		if _, ok := errors.AsType[*llm.Error](err); !ok {
			t.Errorf("%T, want *llm.Error", err)
		}
		synctest.Wait()
	})
}

// Holds docs/spec/04-agent.md, "Models": one model serves all turns at once, and keeps
// nothing of one for another.
func TestManyAtOnce(t *testing.T) {
	m := at(t, "gemini-3.8-flash", googleapi.New(echo{}, key).Transport())
	var wg sync.WaitGroup
	for i := range 32 {
		wg.Go(func() {
			text := string(rune('a' + i))
			resp, err := m.Generate(t.Context(), llm.Request{Messages: []llm.Message{say(text)}, Tools: []llm.Tool{lookup}})
			if err != nil || resp.Text != text {
				t.Errorf("Generate(%q) = %+v, %v", text, resp, err)
			}
		})
	}
	wg.Wait()
}

// echo answers with the last message.
type echo struct{}

func (echo) Generate(_ context.Context, req llm.Request) (llm.Response, error) {
	return llm.Response{Text: req.Messages[len(req.Messages)-1].Text}, nil
}

// Holds docs/spec/04-agent.md, "Models": the errors of a model, as Google would say them,
// mean the same here.
func TestErrorsRoundTrip(t *testing.T) {
	for _, kind := range []llm.ErrorKind{llm.KindRateLimited, llm.KindOverloaded, llm.KindServer, llm.KindUnauthorized, llm.KindRejected} {
		want := &llm.Error{Provider: "google", Kind: kind, Message: "told to fail"}
		if kind == llm.KindRateLimited {
			want.RetryAfter = 13 * time.Second
		}
		model := &llmtest.Scripted{Steps: []llmtest.Step{{Err: want}}}
		_, err := at(t, "gemini-3.8-flash", googleapi.New(model, key).Transport()).Generate(t.Context(), llm.Request{Messages: []llm.Message{say("Hi")}})
		got, ok := errors.AsType[*llm.Error](err)
		if !ok {
			t.Fatal(err)
		}
		got.Status = 0
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", kind, diff)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": the server that stands for Google refuses what
// Google does, so that the tests against it mean something.
func TestServerRefuses(t *testing.T) {
	const hello = `"contents":[{"role":"user","parts":[{"text":"Hi"}]}]`
	tests := []struct {
		name, path, key, body string
		status                int
	}{
		{"fine", "gemini-3.8-flash:generateContent", key, `{` + hello + `}`, 200},
		{"another path", "gemini-3.8-flash:generate", key, `{` + hello + `}`, 404},
		{"key in the address", "gemini-3.8-flash:generateContent?key=" + key, key, `{` + hello + `}`, 404},
		{"no key", "gemini-3.8-flash:generateContent", "", `{` + hello + `}`, 403},
		{"wrong key", "gemini-3.8-flash:generateContent", "x", `{` + hello + `}`, 400},
		{"unknown member", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"x":1}`, 400},
		{"unknown member below", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"generationConfig":{"max_tokens":1}}`, 400},
		{"half a body", "gemini-3.8-flash:generateContent", key, `{` + hello, 400},
		{"no contents", "gemini-3.8-flash:generateContent", key, `{"contents":[]}`, 400},
		{"another role", "gemini-3.8-flash:generateContent", key, `{"contents":[{"role":"assistant","parts":[{"text":"Hi"}]}]}`, 400},
		{"no parts", "gemini-3.8-flash:generateContent", key, `{"contents":[{"role":"user","parts":[]}]}`, 400},
		{"empty text", "gemini-3.8-flash:generateContent", key, `{"contents":[{"role":"user","parts":[{"text":""}]}]}`, 400},
		{"a picture it cannot read", "gemini-3.8-flash:generateContent", key, `{"contents":[{"role":"user","parts":[{"inlineData":{"mimeType":"image/gif","data":"eA=="}}]}]}`, 400},
		{"a call without its result", "gemini-2.5-flash:generateContent", key, `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]}]}`, 400},
		{"an unsigned call", "gemini-3.8-flash:generateContent", key, `{"contents":[{"role":"model","parts":[{"functionCall":{"name":"f","args":{}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f","response":{}}}]}]}`, 400},
		{"a mode without tools", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"toolConfig":{"functionCallingConfig":{"mode":"NONE"}}}`, 400},
		{"parameters of nothing", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object","properties":{}}}]}]}`, 400},
		{"a keyword", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"generationConfig":{"responseMimeType":"application/json","responseJsonSchema":{"properties":{"a":{"minLength":1}}}}}`, 400},
		{"schema beside tools", "gemini-2.5-flash:generateContent", key, `{` + hello + `,"tools":[{"functionDeclarations":[{"name":"f"}]}],"generationConfig":{"responseMimeType":"application/json"}}`, 400},
		{"a level for a number", "gemini-2.5-flash:generateContent", key, `{` + hello + `,"generationConfig":{"thinkingConfig":{"thinkingLevel":"LOW"}}}`, 400},
		{"a number for a level", "gemini-4-argon:generateContent", key, `{` + hello + `,"generationConfig":{"thinkingConfig":{"thinkingBudget":1024}}}`, 400},
		{"a level too low", "gemini-3.8-flash:generateContent", key, `{` + hello + `,"generationConfig":{"thinkingConfig":{"thinkingLevel":"MINIMAL"}}}`, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "/v1beta/models/"+tt.path, bytes.NewReader([]byte(tt.body)))
			if tt.key != "" {
				r.Header.Set("X-Goog-Api-Key", tt.key)
			}
			w := httptest.NewRecorder()
			googleapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key).ServeHTTP(w, r)
			if w.Code != tt.status {
				t.Errorf("status %d: %s", w.Code, w.Body)
			}
		})
	}
}
