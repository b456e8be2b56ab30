// Package inproc joins an HTTP client and a handler without a socket.
package inproc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
)

// Transport sends requests to Handler. The handler goes on when the client gives up,
// as it does behind a network.
type Transport struct{ Handler http.Handler }

// ErrBroken is what the client gets when the handler panics with
// http.ErrAbortHandler.
var ErrBroken = errors.New("the connection was closed without an answer")

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	served, err := serverSide(req)
	if err != nil {
		return nil, err
	}
	answered := make(chan *http.Response, 1)
	go func() {
		w := &recorder{header: http.Header{}}
		defer close(answered)
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				panic(p)
			}
		}()
		t.Handler.ServeHTTP(w, served)
		answered <- w.response(req)
	}()
	select {
	case resp, ok := <-answered:
		if !ok {
			return nil, ErrBroken
		}
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}

// serverSide is the request as a server sees it.
func serverSide(req *http.Request) (*http.Request, error) {
	served := req.Clone(req.Context())
	served.RequestURI = req.URL.RequestURI()
	served.RemoteAddr = "127.0.0.1:1"
	if served.Host == "" {
		served.Host = req.URL.Host
	}
	served.Body = http.NoBody
	if req.Body != nil {
		body, err := io.ReadAll(req.Body)
		if closeErr := req.Body.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			return nil, fmt.Errorf("reading the request body: %w", err)
		}
		served.Body = io.NopCloser(bytes.NewReader(body))
		served.ContentLength = int64(len(body))
	}
	return served, nil
}

// recorder is the ResponseWriter of [Transport].
type recorder struct {
	header http.Header
	sent   http.Header // as it was at WriteHeader
	status int
	body   bytes.Buffer
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= 200 {
		w.status, w.sent = status, w.header.Clone()
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(p)
}

func (w *recorder) response(req *http.Request) *http.Response {
	w.WriteHeader(http.StatusOK)
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: w.sent, Request: req,
		Body: io.NopCloser(bytes.NewReader(w.body.Bytes())), ContentLength: int64(w.body.Len()),
	}
}
