package manychat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/internal/refusal"
)

const (
	// DefaultBaseURL is where ManyChat's public API lives.
	DefaultBaseURL = "https://api.manychat.com"

	// DefaultTimeout bounds a call when the configuration does not. A slow success is
	// common: accepted calls of more than 20 seconds have been seen.
	DefaultTimeout = 30 * time.Second

	maxAnswerBytes = 1 << 20 // of an answer is read; ManyChat's own are a few kilobytes
)

// ClientConfig configures a [Client]. Only Token is required.
type ClientConfig struct {
	Token     string            // the account's API key; goes out as a bearer token and nowhere else
	BaseURL   string            // default [DefaultBaseURL]; http is for emulators
	Transport http.RoundTripper // default [http.DefaultTransport]; see [Error].Written
	Timeout   time.Duration     // of one call, its wait for a slot included; default [DefaultTimeout]
	RPSScale  float64           // scales the rate limits, 0.5 for one of two processes without a Lease; default 1
	Now       func() time.Time  // reads the date form of Retry-After, and the clock of Lease; default [time.Now]
	Lease     Lease             // shares the rate limits with the account's other processes; nil: there are none
}

// Client calls ManyChat's public API for one account. It is safe for concurrent use;
// use one client for everything of the account, since it holds the account's rate
// limits, and what [Client.For] makes of it for what is less urgent. It never retries and follows no redirect: a call sends at most one request.
// (Below it, net/http may repeat a read whose kept connection had died.)
//
// A call ends at its context's deadline or after the client's timeout, whichever
// comes first. Every error it returns is an [*Error].
type Client struct {
	http    *http.Client
	baseURL string
	token   string
	timeout time.Duration
	limits  *limits
	class   Class
	now     func() time.Time
}

// NewClient checks the configuration and returns a client. It sends nothing.
func NewClient(cfg ClientConfig) (*Client, error) {
	if cfg.BaseURL == "" {
		cfg.BaseURL = DefaultBaseURL
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = DefaultTimeout
	}
	if cfg.RPSScale == 0 {
		cfg.RPSScale = 1
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &Client{
		http: &http.Client{
			Transport:     cfg.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		baseURL: strings.TrimSuffix(cfg.BaseURL, "/"),
		token:   cfg.Token,
		timeout: cfg.Timeout,
		limits:  newLimits(cfg),
		now:     cfg.Now,
	}, nil
}

// For returns a client of the same account for calls of a class; those of [NewClient]'s are
// [InTurn]. It shares connections and rate limits with c. Where calls wait for a limit, they
// have its slots in the order of the classes, and each class has a tenth of them at least
// while it has calls that wait: a call of the most urgent class that comes alone waits for
// one other call at most.
func (c *Client) For(class Class) *Client {
	other := *c
	other.class = min(max(class, InTurn), Reads)
	return &other
}

func (cfg ClientConfig) check() error {
	if cfg.Token == "" {
		return errors.New("manychat: Token is empty; take it from ManyChat's settings, API")
	}
	if strings.ContainsFunc(cfg.Token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("manychat: Token has a space or a character that no API key has; copy it again")
	}
	u, err := url.Parse(cfg.BaseURL)
	if err != nil || (u.Scheme != "https" && u.Scheme != "http") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return errors.New("manychat: BaseURL must be an http or https URL without user, query and fragment")
	}
	if cfg.Timeout < 0 {
		return fmt.Errorf("manychat: Timeout is %v; it must be more than 0", cfg.Timeout)
	}
	if !(cfg.RPSScale > 0) || math.IsInf(cfg.RPSScale, 0) {
		return fmt.Errorf("manychat: RPSScale is %v; it must be more than 0", cfg.RPSScale)
	}
	return nil
}

// do sends one call and returns the data of a successful answer.
func (c *Client) do(ctx context.Context, cl call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	t := &trail{}
	req, err := cl.request(httptrace.WithClientTrace(ctx, t.hooks()), c.baseURL)
	if err != nil {
		return nil, c.fail(cl, Error{Kind: KindRejected, Message: "nothing was sent: " + err.Error()})
	}
	if err := c.limits[cl.family].Wait(ctx, int(c.class)); err != nil {
		return nil, c.fail(cl, noSlot(ctx, err))
	}
	resp, err := c.http.Do(c.authorize(req))
	if err != nil {
		return nil, c.fail(cl, transportError(ctx, err, t.mayHaveWritten()))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil && isSuccess(resp.StatusCode) {
		e := transportError(ctx, err, true)
		e.Status = resp.StatusCode
		return nil, c.fail(cl, e)
	}
	data, failure := judge(resp, body, c.now)
	if failure != nil {
		return nil, c.fail(cl, *failure)
	}
	return data, nil
}

func (c *Client) authorize(req *http.Request) *http.Request {
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	if req.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req
}

// fail completes an error with what the call knows and takes from its message what
// must not be logged.
func (c *Client) fail(cl call, e Error) *Error {
	e.Endpoint = cl.name
	e.Object = cl.object
	_, secret, _ := strings.Cut(c.token, ":") // a token is <account id>:<secret>
	e.Message = refusal.Redact(e.Message, c.token, secret, cl.subscriberID, cl.valueText())
	return &e
}

// trail records how far a request came.
type trail struct {
	traced  atomic.Bool // the transport reports what it does
	written atomic.Bool // the whole request was handed to the connection
}

func (t *trail) hooks() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		GetConn: func(string) { t.traced.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			t.traced.Store(true)
			if info.Err == nil {
				t.written.Store(true)
			}
		},
	}
}

// mayHaveWritten reports whether ManyChat may have the request. A transport that
// reports nothing is taken to have written it: sending twice is the worse mistake.
func (t *trail) mayHaveWritten() bool { return t.written.Load() || !t.traced.Load() }
