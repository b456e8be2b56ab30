package wire_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

const key = "sk-fictional-key"

// transport answers a request without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering always gives the same answer.
func answering(status int, body string, header http.Header) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func post(t *testing.T, rt http.RoundTripper, body any) (*wire.Client, wire.Answer, error) {
	t.Helper()
	c := wire.New("fictional", rt, key, "")
	a, err := c.Post(t.Context(), "https://llm.example.com/v1/chat", nil, body)
	return c, a, err
}

// posted is an answer to a request.
func posted(t *testing.T, status int, header http.Header, asked any) (*wire.Client, wire.Answer) {
	t.Helper()
	c, a, err := post(t, answering(status, "", header), asked)
	if err != nil {
		t.Fatal(err)
	}
	return c, a
}

func asError(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want an *llm.Error", err)
	}
	if e.Provider != "fictional" {
		t.Errorf("provider = %q", e.Provider)
	}
	return e
}

// Holds docs/spec/04-agent.md, "Models": one request goes out as it was given, and the
// whole answer comes back, whatever its status.
func TestPost(t *testing.T) {
	for _, status := range []int{200, 204, 307, 400, 503} {
		var got *http.Request
		var sent string
		c := wire.New("fictional", transport(func(r *http.Request) (*http.Response, error) {
			body, err := io.ReadAll(r.Body)
			got, sent = r, string(body)
			return &http.Response{StatusCode: status, Header: http.Header{"Location": {"/elsewhere"}}, Body: io.NopCloser(strings.NewReader("whole")), Request: r}, err
		}))
		given := http.Header{"x-key": {"k"}, "Accept": {"text/html"}}
		a, err := c.Post(t.Context(), "https://llm.example.com/v1/chat", given, map[string]any{"b": "<é>", "a": 1})
		if err != nil {
			t.Fatal(err)
		}
		if a.Status != status || string(a.Body) != "whole" || a.OK() != (status < 300) {
			t.Errorf("answer = %+v", a)
		}
		want := http.Header{"X-Key": {"k"}, "Accept": {"application/json"}, "Content-Type": {"application/json"}}
		if d := cmp.Diff(want, got.Header); d != "" {
			t.Errorf("headers differ (-want +got):\n%s", d)
		}
		if got.Method != http.MethodPost || got.URL.String() != "https://llm.example.com/v1/chat" || sent != `{"a":1,"b":"<é>"}` || got.ContentLength != int64(len(sent)) {
			t.Errorf("request = %s %s %s", got.Method, got.URL, sent)
		}
	}
}

// endless gives spaces for ever, and counts them.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

func (*endless) Close() error { return nil }

// Holds docs/spec/04-agent.md, "Models": an answer above 4 MiB is refused, and not read to
// its end.
func TestPostBoundsTheAnswer(t *testing.T) {
	_, a, err := post(t, answering(200, strings.Repeat(" ", 4<<20), nil), nil)
	if err != nil || len(a.Body) != 4<<20 {
		t.Errorf("4 MiB: %d bytes, %v", len(a.Body), err)
	}
	body := &endless{}
	_, _, err = post(t, transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body, Request: r}, nil
	}), nil)
	if e := asError(t, err); e.Kind != llm.KindProtocol || e.Retryable() {
		t.Errorf("endless answer: %v", err)
	}
	if body.read > 5<<20 {
		t.Errorf("%d bytes of an endless answer were read", body.read)
	}
}

type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }
func (broken) Close() error               { return nil }

// Holds docs/spec/04-agent.md, "Loop": what breaks on the way may pass; what cannot be
// sent never does.
func TestPostFails(t *testing.T) {
	told := errors.New("dial tcp 192.0.2.1:443: secret detail")
	tests := []struct {
		name  string
		rt    transport
		body  any
		kind  llm.ErrorKind
		cause error
		says  string
	}{
		{"no host", func(*http.Request) (*http.Response, error) {
			return nil, &net.DNSError{Err: "no such host", Name: "secret.example"}
		}, nil, llm.KindNetwork, nil, "the connection failed: the name of the host cannot be resolved"},
		{"no connection", func(*http.Request) (*http.Response, error) { return nil, told }, nil, llm.KindNetwork, told, "the connection failed"},
		{"broken off", func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: broken{io.ErrUnexpectedEOF}, Request: r}, nil
		}, nil, llm.KindNetwork, io.ErrUnexpectedEOF, "the answer broke off"},
		{"reset while reading", func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: 200, Body: broken{told}, Request: r}, nil
		}, nil, llm.KindNetwork, told, "the connection failed"},
		{"body that is no JSON", answering(200, "", nil), "\xff", llm.KindRejected, nil, "cannot be written"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := post(t, tt.rt, tt.body)
			e := asError(t, err)
			if e.Kind != tt.kind || e.Status != 0 || tt.cause != nil && !errors.Is(err, tt.cause) {
				t.Errorf("error = %#v", e)
			}
			if !strings.Contains(e.Error(), tt.says) || strings.Contains(e.Error(), "secret") {
				t.Errorf("error = %v, want %q", e, tt.says)
			}
		})
	}
	_, err := wire.New("fictional", nil).Post(t.Context(), "http://[::1", nil, nil)
	if e := asError(t, err); e.Kind != llm.KindRejected || strings.Contains(e.Error(), "::1") {
		t.Errorf("address: %v", err)
	}
}

// waiting gives an answer whose body comes to no end before its request does.
func waiting(r *http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Request: r, Body: blocked{r.Context()}}, nil
}

type blocked struct{ ctx context.Context }

func (b blocked) Read([]byte) (int, error) { <-b.ctx.Done(); return 0, errors.New("closed") }
func (blocked) Close() error               { return nil }

// Holds docs/spec/04-agent.md, "Loop": the abort ends an exchange at once, before the
// answer or within it.
func TestPostHeedsItsContext(t *testing.T) {
	for name, rt := range map[string]transport{
		"within the answer": waiting,
		"before it":         func(r *http.Request) (*http.Response, error) { <-r.Context().Done(); return nil, errors.New("closed") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 9*time.Second)
				defer cancel()
				start := time.Now()
				_, err := wire.New("fictional", rt).Post(ctx, "https://llm.example.com/", nil, nil)
				if e := asError(t, err); e.Kind != llm.KindNetwork || !errors.Is(err, context.DeadlineExceeded) || e.Message != "aborted" {
					t.Errorf("error = %#v", e)
				}
				if took := time.Since(start); took != 9*time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": an answer is read as servers write it, and what
// is none quotes nothing.
func TestDecode(t *testing.T) {
	type into struct {
		A string         `json:"a"`
		B jsontext.Value `json:"b"`
	}
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	tests := []struct {
		name   string
		body   string
		header http.Header
		want   string // of a; an error's words when it begins with !
	}{
		{"plain", `{"a":"x"}`, nil, "x"},
		{"blanks round it", "\n \t{\"a\":\"x\"}\r\n", nil, "x"},
		{"unknown member", `{"z":1,"a":"x","A":"y"}`, nil, "x"},
		{"member twice", `{"a":"x","a":"y"}`, nil, "y"},
		{"null", `{"a":null}`, nil, ""},
		{"broken text", "{\"a\":\"x\xff\"}", nil, "x\uFFFD"},
		{"half an emoji", `{"a":"x\ud83d"}`, nil, "x\uFFFD"},
		{"other type", `{"a":["secret"]}`, nil, "!not the JSON that was expected"},
		{"half", `{"a":"secret`, nil, "!not the JSON that was expected"},
		{"two values", `{"a":"x"}{"a":"secret"}`, nil, "!not the JSON that was expected"},
		{"nothing", ``, nil, "!not the JSON that was expected"},
		{"stream", "data: {\"a\":\"secret\"}\n\n", nil, "!not the JSON that was expected"},
		{"page", `<html>secret</html>`, nil, "!a page, not JSON"},
		{"page by its header", `secret`, html, "!a page, not JSON"},
		{"JSON that says it is a page", `{"a":"x"}`, html, "x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, a, err := post(t, answering(200, tt.body, tt.header), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got into
			err = c.Decode(a, &got)
			words, fails := strings.CutPrefix(tt.want, "!")
			if !fails {
				if err != nil || got.A != tt.want {
					t.Errorf("Decode = %q, %v; want %q", got.A, err, tt.want)
				}
				return
			}
			if e := asError(t, err); e.Kind != llm.KindProtocol || !strings.Contains(e.Error(), words) || strings.Contains(e.Error(), "secret") {
				t.Errorf("error = %v, want %q", err, words)
			}
		})
	}
}
