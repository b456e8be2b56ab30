package manychat_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/05-delivery.md, "ManyChat client": a timeout or a lost connection
// has an unknown outcome once the request was written, and a known one before. The
// real transport talks over a pipe.
func TestOutcomeOverConnection(t *testing.T) {
	readRequest := func(conn net.Conn) {
		req, err := http.ReadRequest(bufio.NewReader(conn))
		if err == nil {
			_, err = io.Copy(io.Discard, req.Body)
		}
		if err != nil {
			t.Error(err)
		}
	}
	tests := []struct {
		name    string
		server  func(net.Conn) // nil: the connection is never made
		kind    manychat.Kind
		status  int
		unknown bool
	}{
		{"refused", nil, manychat.KindNetwork, 0, false},
		{"closed after the request", func(conn net.Conn) { readRequest(conn); conn.Close() }, manychat.KindNetwork, 0, true},
		{"silent after the request", readRequest, manychat.KindTimeout, 0, true},
		{"never reads", func(net.Conn) {}, manychat.KindTimeout, 0, true},
		{"answer breaks off", func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
			conn.Close()
		}, manychat.KindNetwork, 200, true},
		{"answer stalls", func(conn net.Conn) {
			readRequest(conn)
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
		}, manychat.KindTimeout, 200, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rt := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
					if tt.server == nil {
						return nil, errors.New("connection refused")
					}
					ours, theirs := net.Pipe()
					go tt.server(theirs)
					return ours, nil
				}}
				defer rt.CloseIdleConnections()
				c := newClient(t, rt, func(cfg *manychat.ClientConfig) { cfg.BaseURL = "http://manychat.example.com" })
				e := asError(t, c.SendFlow(t.Context(), testSubscriber, testFlow))
				if e.Kind != tt.kind || e.Status != tt.status || e.OutcomeUnknown() != tt.unknown || !e.Retryable() {
					t.Errorf("error is %#v, unknown %t; want kind %s, status %d, unknown %t", e, e.OutcomeUnknown(), tt.kind, tt.status, tt.unknown)
				}
				if timedOut := errors.Is(e, context.DeadlineExceeded); timedOut != (tt.kind == manychat.KindTimeout) {
					t.Errorf("errors.Is(e, context.DeadlineExceeded) = %t", timedOut)
				}
			})
		})
	}
}

// A transport that reports to no trace may have written; one that reports is believed.
func TestOutcomeByTrace(t *testing.T) {
	tests := []struct {
		name    string
		trace   func(*http.Request)
		unknown bool
	}{
		{"opaque transport", func(*http.Request) {}, true},
		{"no connection", func(r *http.Request) { httptrace.ContextClientTrace(r.Context()).GetConn("") }, false},
		{"half written", func(r *http.Request) {
			httptrace.ContextClientTrace(r.Context()).WroteRequest(httptrace.WroteRequestInfo{Err: io.ErrShortWrite})
		}, false},
		{"written", wrote, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				tt.trace(r)
				return nil, errors.New("connection lost")
			}))
			e := asError(t, c.SendFlow(t.Context(), testSubscriber, testFlow))
			if e.Kind != manychat.KindNetwork || e.OutcomeUnknown() != tt.unknown {
				t.Errorf("error is %v, unknown %t; want unknown %t", e, e.OutcomeUnknown(), tt.unknown)
			}
		})
	}
}

// A failed read quotes no URL, which holds the subscriber id.
func TestNetworkErrorHidesTheURL(t *testing.T) {
	c := newClient(t, transport(func(*http.Request) (*http.Response, error) { return nil, errors.New("no route to host") }))
	_, err := c.GetInfo(t.Context(), testSubscriber)
	if got, want := err.Error(), "manychat: getInfo: network: no route to host"; got != want {
		t.Errorf("error is %q, want %q", got, want)
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": the client never retries, and
// keeps the caller's deadline where it is the shorter one.
func TestOneRequestWithinTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			requests++
			wrote(r)
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := c.GetInfo(ctx, testSubscriber)
		if e := asError(t, err); e.Kind != manychat.KindTimeout || !e.OutcomeUnknown() {
			t.Errorf("error is %v", e)
		}
		if took := time.Since(start); took != 1500*time.Millisecond || requests != 1 {
			t.Errorf("%d requests in %v, want 1 in 1.5s", requests, took)
		}
	})
}

// A cancelled call says so.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		wrote(r)
		cancel()
		return nil, r.Context().Err()
	}))
	err := c.SendFlow(ctx, testSubscriber, testFlow)
	if !errors.Is(err, context.Canceled) || asError(t, err).Kind != manychat.KindTimeout {
		t.Errorf("error is %v", err)
	}
	err = c.SendFlow(ctx, testSubscriber, testFlow)
	if e := asError(t, err); !errors.Is(err, context.Canceled) || e.OutcomeUnknown() || !strings.HasPrefix(e.Message, "nothing was sent") {
		t.Errorf("error of a call that began cancelled is %v", err)
	}
}
