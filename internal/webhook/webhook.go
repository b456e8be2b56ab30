// Package webhook posts the notice of a handoff to the business's own address, signed as
// the Standard Webhooks specification says (docs/adr/0015-handoff-webhook.md).
package webhook

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// timeout bounds a post, its answer included: a receiver that works on a notice before
	// it answers holds up those behind it.
	timeout = 10 * time.Second
	// maxAnswer is how much of an answer is read, in bytes, so that the connection can be
	// used again. What it says is of no use.
	maxAnswer = 64 << 10
	// keyPrefix begins a secret in the standard's form, which is base64 behind it.
	keyPrefix = "whsec_"
)

// Config is what a [Client] needs.
type Config struct {
	Transport http.RoundTripper // nil: [http.DefaultTransport]
	Secret    string            // HANDOFF_WEBHOOK_SECRET; base64 behind whsec_, else the key itself
	Now       func() time.Time
}

// Client posts notices. It is safe for concurrent use, never retries and follows no
// redirect.
type Client struct {
	http *http.Client
	key  []byte
	now  func() time.Time
}

// New checks the config and returns a client.
func New(cfg Config) (*Client, error) {
	if cfg.Now == nil {
		return nil, errors.New("webhook: Now is missing from the config")
	}
	key, err := keyOf(cfg.Secret)
	if err != nil {
		return nil, err
	}
	return &Client{
		http: &http.Client{
			Transport:     cfg.Transport,
			Timeout:       timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		key: key, now: cfg.Now,
	}, nil
}

// keyOf is the key that a secret stands for.
func keyOf(secret string) ([]byte, error) {
	encoded, standard := strings.CutPrefix(secret, keyPrefix)
	key := []byte(secret)
	if standard {
		var err error
		if key, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(encoded, "=")); err != nil {
			return nil, errors.New("webhook: the secret begins with whsec_ and is no base64 behind it")
		}
	}
	if len(key) == 0 {
		return nil, errors.New("webhook: the secret is empty")
	}
	return key, nil
}

// Notice tells of one handoff. None of the contact's words are in it.
type Notice struct {
	ID           string // the same in every post of the notice, so that a receiver can tell a repeat
	Tenant       string
	Conversation string
	Turn         string
	Reason       string
	Note         string // what the agent wrote for people; empty: nothing
	At           time.Time
}

// payload is the body, in the order of its keys.
type payload struct {
	Type         string    `json:"type"`
	Tenant       string    `json:"tenant"`
	Conversation string    `json:"conversation"`
	Turn         string    `json:"turn"`
	Reason       string    `json:"reason"`
	Note         string    `json:"note,omitempty"`
	At           time.Time `json:"at"`
}

// Post sends a notice to an https address. Anything but an answer of 2xx is an [*Error].
func (c *Client) Post(ctx context.Context, to string, n Notice) error {
	address, err := url.Parse(to)
	if err != nil || address.Scheme != "https" || address.Host == "" {
		return &Error{final: true, what: "the address is not an https URL"}
	}
	body, err := json.Marshal(payload{
		Type: "handoff", Tenant: n.Tenant, Conversation: n.Conversation, Turn: n.Turn,
		Reason: n.Reason, Note: n.Note, At: n.At.UTC().Truncate(time.Second),
	})
	if err != nil {
		return &Error{Host: address.Host, final: true, what: "the notice cannot be written as JSON"}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return &Error{Host: address.Host, final: true, what: "the address cannot be called"}
	}
	c.sign(req.Header, n.ID, body)
	resp, err := c.http.Do(req)
	if err != nil {
		return &Error{Host: address.Host, what: lostBy(err)}
	}
	defer resp.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, maxAnswer)) // the status has said it
	if resp.StatusCode >= 200 && resp.StatusCode < 300 {
		return nil
	}
	return &Error{Host: address.Host, Status: resp.StatusCode, RetryAfter: retryAfter(resp.Header.Get("Retry-After"), c.now)}
}

// sign sets the headers of the specification, with the time of this post.
func (c *Client) sign(header http.Header, id string, body []byte) {
	at := strconv.FormatInt(c.now().Unix(), 10)
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", "manychat-agent")
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", at)
	header.Set("Webhook-Signature", signature(c.key, id, at, body))
}

// signature is the one of the specification's symmetric scheme.
func signature(key []byte, id, at string, body []byte) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "."))
	mac.Write(body)
	return "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
}
