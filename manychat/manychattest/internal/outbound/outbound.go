// Package outbound makes the requests of ManyChat to a server: no signature, no
// message id, no timestamp (platform notes, 4.4).
package outbound

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// Request is a request with every variable filled in.
type Request struct {
	Method string
	URL    string // public; Hosts may send it elsewhere
	Header map[string]string
	Body   string
}

// Response is what came back.
type Response struct {
	Status int
	Body   []byte
}

// Client makes requests, each of them once.
type Client struct {
	HTTP            HTTP
	Hosts           map[string]string // public host to local base URL
	OmitContentType bool
}

// HTTP sends requests over connections that it keeps, except those that net/http would
// send again when a kept connection dies under them: these get one of their own.
type HTTP struct {
	kept  http.Client
	fresh http.Client
}

// NewHTTP sends as given does, or by itself, but follows no redirects: that ManyChat
// does is not known. A given transport that is not net/http's decides about repeats
// itself.
func NewHTTP(given *http.Client) HTTP {
	c := http.Client{Transport: http.DefaultTransport}
	if given != nil {
		c = *given
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	c.Timeout = 0 // the caller's context holds
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	h := HTTP{kept: c, fresh: c}
	if t, ok := c.Transport.(*http.Transport); ok {
		if given == nil {
			h.kept.Transport = t.Clone()
		}
		once := t.Clone()
		once.DisableKeepAlives = true
		h.fresh.Transport = once
	}
	return h
}

// CloseIdleConnections closes what is kept.
func (h *HTTP) CloseIdleConnections() { h.kept.CloseIdleConnections() }

func (h *HTTP) do(req *http.Request) (*http.Response, error) {
	if repeatable(req) {
		return h.fresh.Do(req)
	}
	return h.kept.Do(req)
}

// repeatable reports whether net/http takes the request for one without effects.
func repeatable(req *http.Request) bool {
	return req.Method == http.MethodGet || req.Header["Idempotency-Key"] != nil || req.Header["X-Idempotency-Key"] != nil
}

// maxResponse bounds what is read of a response; ManyChat's own bound is not known.
const maxResponse = 1 << 20

// Do makes the request. It is cut off with ctx, however far it got.
func (c *Client) Do(ctx context.Context, r Request) (Response, error) {
	req, err := c.build(ctx, r)
	if err != nil {
		return Response{}, err
	}
	resp, err := c.HTTP.do(req)
	if err != nil {
		return Response{}, err
	}
	defer func() { _ = resp.Body.Close() }() // the body is read or given up
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	if err != nil {
		return Response{}, fmt.Errorf("reading the response: %w", err)
	}
	return Response{Status: resp.StatusCode, Body: body}, nil
}

func (c *Client) build(ctx context.Context, r Request) (*http.Request, error) {
	public, err := url.Parse(r.URL)
	if err != nil {
		return nil, fmt.Errorf("reading the URL: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, c.local(public), strings.NewReader(r.Body))
	if err != nil {
		return nil, fmt.Errorf("building the request: %w", err)
	}
	req.Host = public.Host
	if r.Body != "" && !c.OmitContentType {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		req.Header.Set(name, value)
	}
	return req, nil
}

// local is where Hosts says the public URL is served.
func (c *Client) local(public *url.URL) string {
	base, mapped := c.Hosts[public.Host]
	if !mapped {
		return public.String()
	}
	return strings.TrimSuffix(base, "/") + public.RequestURI()
}
