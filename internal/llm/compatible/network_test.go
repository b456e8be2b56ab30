package compatible_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/compatible"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
)

func at(t *testing.T, base string) *compatible.Model {
	t.Helper()
	m, err := compatible.New(compatible.Config{Model: "m", Key: key, BaseURL: base + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Holds docs/spec/04-agent.md, "Loop": what breaks on the way is a failure that may pass,
// and what is too much is not read.
func TestNetwork(t *testing.T) {
	var sent atomic.Int64
	tests := []struct {
		name    string
		handler http.HandlerFunc
		kind    llm.ErrorKind
		says    string
	}{
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "5000")
			_, _ = io.WriteString(w, `{"choices":[{"message":`)
		}, llm.KindNetwork, "broke off"},
		{"50 MB", func(w http.ResponseWriter, _ *http.Request) {
			chunk := bytes.Repeat([]byte(" "), 1<<20)
			for range 50 {
				n, err := w.Write(chunk)
				sent.Add(int64(n))
				if err != nil {
					return
				}
			}
		}, llm.KindProtocol, "above 4194304 bytes"},
		{"gzip bomb", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			zip := gzip.NewWriter(w)
			_, _ = io.CopyN(zip, zeros{}, 32<<20) // the reader leaves before the end
		}, llm.KindProtocol, "above 4194304 bytes"},
		{"connection dropped", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, llm.KindNetwork, "the connection failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(tt.handler)
			defer server.Close()
			_, err := at(t, server.URL).Generate(t.Context(), llm.Request{})
			got, e := failureOf(t, err)
			if got.Kind != tt.kind || !strings.Contains(e.Error(), tt.says) {
				t.Errorf("error = %v, want %s: %s", err, tt.kind, tt.says)
			}
		})
	}
	if n := sent.Load(); n > 20<<20 {
		t.Errorf("%d bytes of 50 MB were taken", n)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Holds docs/spec/04-agent.md, "Loop": nobody there, or somebody else, may pass.
func TestUnreachable(t *testing.T) {
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	secure := httptest.NewUnstartedServer(http.NotFoundHandler()) // of an authority that nobody knows
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	for name, base := range map[string]string{"refused": closed.URL, "certificate": secure.URL} {
		_, err := at(t, base).Generate(t.Context(), llm.Request{})
		got, e := failureOf(t, err)
		if got.Kind != llm.KindNetwork || got.Status != 0 || e.Unwrap() == nil || strings.Contains(e.Error(), "127.0.0.1") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": the abort ends a call whose answer never comes.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := chatapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Hang: llmtest.UntilAbort}}}, key)
		ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		start := time.Now()
		_, err := newModel(t, server.Transport()).Generate(ctx, llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}})
		if got, _ := failureOf(t, err); got.Kind != llm.KindNetwork || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error = %v", err)
		}
		if took := time.Since(start); took != 9*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": a date to wait until counts from the server's clock.
func TestRetryAfterDate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := chatapi.New(nil, key)
		server.Break(with(answered(429, `{}`), "Retry-After", time.Now().Add(30*time.Second).UTC().Format(http.TimeFormat)))
		_, err := newModel(t, server.Transport()).Generate(t.Context(), llm.Request{})
		if got, _ := failureOf(t, err); got.RetryAfter != 30*time.Second {
			t.Errorf("wait = %v", got.RetryAfter)
		}
	})
}
