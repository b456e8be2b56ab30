package anthropic_test

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/anthropic"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// served is what a call to a real server comes to.
func served(t *testing.T, base string) *llm.Error {
	t.Helper()
	m, err := anthropic.New(anthropic.Config{Model: newest, Key: key, BaseURL: base})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}})
	return failure(t, err)
}

// endless writes the start of a text, and more of it until nobody reads; it counts.
func endless(w io.Writer, written *atomic.Int64, most int64) {
	filler := strings.Repeat("a", 1<<16)
	_, err := io.WriteString(w, `{"type":"message","content":"`)
	for n := 0; err == nil && written.Load() < most; written.Add(int64(n)) {
		n, err = io.WriteString(w, filler)
	}
}

// Holds docs/spec/04-agent.md, "Loop": answers that break off, that are too large, and servers that
// cannot be reached.
func TestConnectionsThatFail(t *testing.T) {
	var sent, packed atomic.Int64
	mux := http.NewServeMux()
	mux.HandleFunc("/short/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000")
		_, _ = io.WriteString(w, `{"type":"message","content":[{"ty`)
	})
	mux.HandleFunc("/large/v1/messages", func(w http.ResponseWriter, _ *http.Request) { endless(w, &sent, 50<<20) })
	mux.HandleFunc("/packed/v1/messages", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		endless(z, &packed, 1<<30)
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	secure := httptest.NewUnstartedServer(mux)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the client hangs up, as it should
	secure.StartTLS()
	defer secure.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()

	tests := []struct {
		name, base string
		kind       llm.ErrorKind
		says       string
	}{
		{"body shorter than announced", server.URL + "/short", llm.KindNetwork, "the answer broke off"},
		{"50 MB", server.URL + "/large", llm.KindProtocol, "the answer is above 4194304 bytes"},
		{"gzip bomb", server.URL + "/packed", llm.KindProtocol, "the answer is above 4194304 bytes"},
		{"refused", "http://" + closed.Addr().String(), llm.KindNetwork, "the connection failed: connection refused"},
		{"certificate of nobody", secure.URL, llm.KindNetwork, "the connection failed: the certificate is not trusted"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if e := served(t, test.base); e.Kind != test.kind || e.Message != test.says {
				t.Errorf("%s: %q, want %s: %q", e.Kind, e.Message, test.kind, test.says)
			}
		})
	}
	if n := sent.Load(); n >= 50<<20 {
		t.Errorf("all %d bytes of an answer that is too large were read", n)
	}
	if n := packed.Load(); n >= 1<<30 {
		t.Errorf("all %d bytes of a packed answer that is too large were read", n)
	}
}

// Holds docs/spec/04-agent.md, "Loop": a call ends when the abort does, and names it.
func TestACallEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := anthropicapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Hang: llmtest.UntilAbort}}}, key)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		start := time.Now()
		_, err := newModel(t, newest, server).Generate(ctx, llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}})
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || failure(t, err).Kind != llm.KindNetwork || took != 20*time.Second {
			t.Errorf("after %v: %v, want the deadline's error after 20 s", took, err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": nothing is asked again here.
func TestNothingIsAskedTwice(t *testing.T) {
	for _, fault := range []provider.Fault{complains(529, "overloaded_error", "Overloaded"), complains(429, "rate_limit_error", "slow"), answered(done)} {
		server := anthropicapi.New(nil, key)
		server.Break(fault)
		_, _ = newModel(t, newest, server).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}}) // either is fine
		if n := len(server.Requests()); n != 1 {
			t.Errorf("status %d: %d requests, want 1", fault.Status, n)
		}
	}
}
