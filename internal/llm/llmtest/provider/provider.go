// Package provider is what local servers that speak the wire protocols of model providers
// have in common, for tests: they keep what they were asked, fail when told to, and are
// reached without a socket.
package provider

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"time"
)

// Server is one provider. It is safe for concurrent use.
type Server struct {
	answer func(w http.ResponseWriter, r *http.Request, body []byte)

	mu       sync.Mutex
	requests []Request
	faults   []Fault
}

// New makes a server that answers each request with its body read.
func New(answer func(w http.ResponseWriter, r *http.Request, body []byte)) *Server {
	return &Server{answer: answer}
}

// Request is a request as it came.
type Request struct {
	Path   string
	Header http.Header
	Body   []byte
}

// Fault is what a server does with one request instead of answering it. Exactly one of
// Status and Do is set.
type Fault struct {
	Status int // with Header and Body
	Header http.Header
	Body   string
	Do     http.HandlerFunc
}

// Break gives the next requests to faults, one each.
func (s *Server) Break(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests lists every request so far.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ServeHTTP answers one request.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the caller is gone
	}
	if fault, broken := s.take(Request{Path: r.URL.Path, Header: r.Header.Clone(), Body: body}); broken {
		fault.serve(w, r)
		return
	}
	s.answer(w, r, body)
}

func (s *Server) take(r Request) (fault Fault, broken bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	if len(s.faults) == 0 {
		return Fault{}, false
	}
	fault, s.faults = s.faults[0], s.faults[1:]
	return fault, true
}

func (f Fault) serve(w http.ResponseWriter, r *http.Request) {
	if f.Do != nil {
		f.Do(w, r)
		return
	}
	for name, values := range f.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(f.Status)
	_, _ = io.WriteString(w, f.Body) // the caller may be gone
}

// Transport reaches the server without a socket, so that it works in a bubble of fake
// time. An exchange ends with its request's context.
func (s *Server) Transport() http.RoundTripper { return inProcess{s} }

type inProcess struct{ server *Server }

func (p inProcess) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		if err != nil {
			return nil, err
		}
		_ = req.Body.Close()
	}
	inner := req.Clone(req.Context())
	inner.Body = io.NopCloser(bytes.NewReader(body))
	inner.RequestURI = req.URL.RequestURI()
	inner.Host = req.URL.Host
	rec := httptest.NewRecorder()
	rec.Header().Set("Date", time.Now().UTC().Format(http.TimeFormat))
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.server.ServeHTTP(rec, inner)
	}()
	select {
	case <-done:
		resp := rec.Result()
		resp.Request = req
		return resp, nil
	case <-req.Context().Done():
		return nil, req.Context().Err()
	}
}
