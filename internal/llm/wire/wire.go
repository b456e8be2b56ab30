// Package wire is what the adapters of model providers share: one request over HTTP and
// its whole answer, bounded in size, what a failure of either means, and what they read
// and write alike. It knows no one provider's shapes.
package wire

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// maxAnswer bounds what is read of an answer, in bytes once decompressed. The longest
// reply that can be configured, 100 000 tokens, is about half a million.
const maxAnswer = 4 << 20

// Client sends requests to one provider. It is safe for concurrent use.
type Client struct {
	provider string
	http     *http.Client
	secrets  []string
}

// New makes the client of a provider, named as in AGENT_MODEL. transport nil is the
// network. The secrets are taken out of whatever an error quotes.
func New(provider string, transport http.RoundTripper, secrets ...string) *Client {
	if transport == nil {
		transport = network()
	}
	return &Client{provider: provider, secrets: secrets, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// network keeps more connections to the one host than net/http does by default, for
// servers that speak HTTP/1.1.
func network() http.RoundTripper {
	t, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t = t.Clone()
	t.MaxIdleConnsPerHost = 64
	return t
}

// Answer is a provider's whole answer, whatever its status.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte

	asked []byte // the request's body
}

// OK reports whether the provider did what it was asked.
func (a Answer) OK() bool { return a.Status >= 200 && a.Status < 300 }

// Post sends a body as JSON and reads the whole answer, of any status. Its error is an
// [*llm.Error]: of the network, or, above 4 MiB, of the protocol. Header holds what
// Content-Type and Accept do not.
func (c *Client) Post(ctx context.Context, url string, header http.Header, body any) (Answer, error) {
	asked, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return Answer{}, &llm.Error{Provider: c.provider, Kind: llm.KindRejected, Message: "the request cannot be written", Err: err}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(asked))
	if err != nil {
		return Answer{}, &llm.Error{Provider: c.provider, Kind: llm.KindRejected, Message: "the address is not valid"}
	}
	for name, values := range header {
		req.Header[http.CanonicalHeaderKey(name)] = values
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, c.lost(ctx, err)
	}
	defer resp.Body.Close()
	read, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return Answer{}, c.lost(ctx, err)
	case len(read) > maxAnswer:
		return Answer{}, c.unreadable(fmt.Sprintf("the answer is above %d bytes", maxAnswer), nil)
	}
	return Answer{Status: resp.StatusCode, Header: resp.Header, Body: read, asked: asked}, nil
}

// lost is an exchange that broke off.
func (c *Client) lost(ctx context.Context, err error) *llm.Error {
	if cause := ctx.Err(); cause != nil {
		return &llm.Error{Provider: c.provider, Kind: llm.KindNetwork, Message: "aborted", Err: cause}
	}
	return &llm.Error{Provider: c.provider, Kind: llm.KindNetwork, Message: lostBy(err), Err: err}
}

// lostBy says what broke an exchange off, without the address, which may hold a
// credential.
func lostBy(err error) string {
	var errno syscall.Errno
	var name *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the answer broke off"
	case errors.As(err, &name):
		return "the connection failed: the name of the host cannot be resolved"
	case errors.As(err, &certificate):
		return "the connection failed: the certificate is not trusted"
	case errors.As(err, &errno):
		return "the connection failed: " + errno.Error()
	}
	return "the connection failed"
}

func (c *Client) unreadable(message string, err error) *llm.Error {
	return &llm.Error{Provider: c.provider, Kind: llm.KindProtocol, Message: message, Err: err}
}

// Decode reads the answer as one JSON value into a struct. It passes over members that
// the struct does not have. Its error is an [*llm.Error] that quotes nothing of the answer.
func (c *Client) Decode(a Answer, into any) error {
	err := Read(a.Body, into)
	switch {
	case err == nil:
		return nil
	case isPage(a):
		return c.unreadable("the answer is a page, not JSON: is the address right?", nil)
	}
	return c.unreadable("the answer is not the JSON that was expected", nil)
}

// Failed is the error of an answer that is not OK. The message is what the provider says
// of it; empty: nothing that can be read.
func (c *Client) Failed(a Answer, message string) *llm.Error {
	e := &llm.Error{
		Provider:   c.provider,
		Kind:       kindOf(a.Status),
		Status:     a.Status,
		Message:    c.quotable(a, message),
		RetryAfter: retryAfter(a.Header, time.Now()),
	}
	switch {
	case e.Message != "":
	case isPage(a):
		e.Message = fmt.Sprintf("status %d with a page instead of JSON: is the address right?", a.Status)
	default:
		e.Message = fmt.Sprintf("status %d", a.Status)
	}
	return e
}

// kindOf is what a status means to a caller.
func kindOf(status int) llm.ErrorKind {
	switch {
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusPaymentRequired:
		return llm.KindUnauthorized
	case status == http.StatusTooManyRequests:
		return llm.KindRateLimited
	case status == http.StatusServiceUnavailable, status == 529: // Anthropic's, when it is overloaded
		return llm.KindOverloaded
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		return llm.KindServer
	case status >= 400:
		return llm.KindRejected
	}
	return llm.KindProtocol // a redirect, or an answer that is none
}
