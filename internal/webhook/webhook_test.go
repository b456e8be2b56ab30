package webhook_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/webhook"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
)

const (
	// The secret is invented; its bytes are those of base64("AAECAwQFBgcICQoLDA0ODxAREhM=").
	standard = "whsec_AAECAwQFBgcICQoLDA0ODxAREhM="
	address  = "https://user:pw@desk.example.com/hooks/T0P-SECRET?key=hidden"
)

// moment is when every test posts.
func moment() time.Time { return time.Date(2026, 12, 1, 9, 30, 0, 5e8, time.FixedZone("", 3600)) }

func handoff() webhook.Notice {
	return webhook.Notice{
		ID: "row-1", Tenant: "demo", Conversation: "conv-1", Turn: "turn-1", Reason: "explicit_request",
		Note: `wants <a "person">`, At: moment(),
	}
}

func newClient(t *testing.T, secret string, serve http.HandlerFunc) *webhook.Client {
	t.Helper()
	c, err := webhook.New(webhook.Config{Transport: manychattest.Transport(serve), Secret: secret, Now: moment})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// receiver is the business's side: it verifies as the specification tells receivers to,
// with nothing of the sender's.
type receiver struct {
	key   []byte
	now   time.Time
	got   []string // bodies that are proved
	seen  map[string]bool
	wrong error
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err == nil {
		err = r.verify(req.Header, body)
	}
	if err != nil {
		r.wrong = err
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if id := req.Header.Get("webhook-id"); !r.seen[id] {
		r.seen[id] = true
		r.got = append(r.got, string(body))
	}
}

func (r *receiver) verify(h http.Header, body []byte) error {
	at, err := strconv.ParseInt(h.Get("webhook-timestamp"), 10, 64)
	if err != nil {
		return err
	}
	if d := r.now.Sub(time.Unix(at, 0)).Abs(); d > 5*time.Minute {
		return fmt.Errorf("the timestamp is %v off", d)
	}
	mac := hmac.New(sha256.New, r.key)
	fmt.Fprintf(mac, "%s.%d.%s", h.Get("webhook-id"), at, body)
	version, signature, _ := strings.Cut(h.Get("webhook-signature"), ",")
	got, err := base64.StdEncoding.DecodeString(signature)
	if err != nil || version != "v1" || !hmac.Equal(got, mac.Sum(nil)) {
		return errors.New("the signature is not that of the body")
	}
	return nil
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": the webhook of a handoff is signed, so
// that a receiver can prove it and tell a repeat.
func TestReceiver(t *testing.T) {
	bytes := make([]byte, 20)
	for i := range bytes {
		bytes[i] = byte(i)
	}
	tests := []struct {
		name, secret string
		key          []byte
		now          time.Time
		proved       bool
	}{
		{"a secret of the standard", standard, bytes, moment(), true},
		{"without padding", strings.TrimRight(standard, "="), bytes, moment(), true},
		{"a secret as it stands", "a shared secret", []byte("a shared secret"), moment(), true},
		{"another secret", "a shared secret", []byte("another secret"), moment(), false},
		{"an old notice", standard, bytes, moment().Add(time.Hour), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := &receiver{key: tt.key, now: tt.now, seen: map[string]bool{}}
			c := newClient(t, tt.secret, r.ServeHTTP)
			for range 2 { // the outbox may post twice
				if err := c.Post(t.Context(), address, handoff()); (err == nil) != tt.proved {
					t.Fatalf("the post says %v, the receiver %v", err, r.wrong)
				}
			}
			var want []string
			if tt.proved {
				want = []string{`{"type":"handoff","tenant":"demo","conversation":"conv-1","turn":"turn-1","reason":"explicit_request",` +
					`"note":"wants \u003ca \"person\"\u003e","at":"2026-12-01T08:30:00Z"}`}
			}
			if diff := cmp.Diff(want, r.got); diff != "" {
				t.Errorf("notices (-want +got):\n%s", diff)
			}
		})
	}
}

// The example that the authors of the standard publish for their libraries.
func TestPublishedExample(t *testing.T) {
	got, err := webhook.Signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want || err != nil {
		t.Errorf("signature is %s, %v, want %s", got, err, want)
	}
}

// Holds docs/spec/06-contact.md, "Pause and opt-out": one POST to the address as it is
// configured, and no empty note.
func TestRequest(t *testing.T) {
	c := newClient(t, standard, func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if req.Method != http.MethodPost || req.URL.Path != "/hooks/T0P-SECRET" || req.URL.RawQuery != "key=hidden" || req.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %s, %v", req.Method, req.URL, req.Header)
		}
		if strings.Contains(string(body), "note") || req.Header.Get("Webhook-Id") != "row-1" || req.Header.Get("Webhook-Timestamp") != "1796113800" {
			t.Errorf("%v %s", req.Header, body)
		}
	})
	n := handoff()
	n.Note = ""
	if err := c.Post(t.Context(), address, n); err != nil {
		t.Error(err)
	}
}

// Holds docs/spec/05-delivery.md, "Outbox": which answers are tried again, and when.
func TestAnswers(t *testing.T) {
	tests := []struct {
		name      string
		status    int
		header    http.Header
		accepted  bool
		retryable bool
		after     time.Duration
		brief     string
	}{
		{name: "ok", status: 200, accepted: true},
		{name: "no content", status: 204, accepted: true},
		{name: "moved", status: 307, header: http.Header{"Location": {"https://elsewhere.example.com/"}}, brief: "rejected (307)"},
		{name: "bad request", status: 400, brief: "rejected (400)"},
		{name: "unauthorized", status: 401, brief: "rejected (401)"},
		{name: "not found", status: 404, brief: "rejected (404)"},
		{name: "gone", status: 410, brief: "rejected (410)"},
		{name: "request timeout", status: 408, retryable: true, brief: "rejected (408)"},
		{name: "too early", status: 425, retryable: true, brief: "rejected (425)"},
		{name: "rate limited", status: 429, header: http.Header{"Retry-After": {"7"}}, retryable: true, after: 7 * time.Second, brief: "rejected (429)"},
		{name: "until", status: 503, header: http.Header{"Retry-After": {"Tue, 01 Dec 2026 08:31:00 GMT"}}, retryable: true, after: 59500 * time.Millisecond, brief: "server error (503)"},
		{name: "for years", status: 503, header: http.Header{"Retry-After": {"99999999999"}}, retryable: true, after: 24 * time.Hour, brief: "server error (503)"},
		{name: "in the past", status: 503, header: http.Header{"Retry-After": {"-5"}}, retryable: true, brief: "server error (503)"},
		{name: "at some time", status: 500, header: http.Header{"Retry-After": {"soon"}}, retryable: true, brief: "server error (500)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			posts := 0
			err := newClient(t, standard, func(w http.ResponseWriter, _ *http.Request) {
				posts++
				for k, v := range tt.header {
					w.Header()[k] = v
				}
				w.WriteHeader(tt.status)
				io.WriteString(w, "wants <a person> T0P-SECRET")
			}).Post(t.Context(), address, handoff())
			if posts != 1 {
				t.Errorf("%d posts, want 1", posts)
			}
			if tt.accepted {
				if err != nil {
					t.Error(err)
				}
				return
			}
			e := asError(t, err)
			if e.Status != tt.status || e.Retryable() != tt.retryable || e.After() != tt.after || e.Brief() != tt.brief {
				t.Errorf("%+v, %q, retryable %t after %v; want status %d, %q, %t, %v", e, e.Brief(), e.Retryable(), e.After(), tt.status, tt.brief, tt.retryable, tt.after)
			}
			if want := "webhook: desk.example.com answered " + strconv.Itoa(tt.status); e.Error() != want {
				t.Errorf("error is %q, want %q", e, want)
			}
		})
	}
}

func asError(t *testing.T, err error) *webhook.Error {
	t.Helper()
	e, ok := errors.AsType[*webhook.Error](err)
	if !ok {
		t.Fatalf("error is %T (%v)", err, err)
	}
	return e
}

// Holds docs/spec/05-delivery.md, "Outbox": what brings no answer is tried again, and its
// error shows neither the address nor the notice.
func TestNoAnswer(t *testing.T) {
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  string
		took  time.Duration
	}{
		{"broken connection", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "webhook: desk.example.com: the connection failed", 0},
		{"silence", func(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }, "webhook: desk.example.com: no answer in time", 10 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				e := asError(t, newClient(t, standard, tt.serve).Post(t.Context(), address, handoff()))
				if e.Error() != tt.want || !e.Retryable() || e.Brief() != "network" || time.Since(start) != tt.took {
					t.Errorf("%v after %v, want %q after %v", e, time.Since(start), tt.want, tt.took)
				}
			})
		})
	}
}

// endless is an answer that does not end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) { e.read += len(p); return len(p), nil }
func (e *endless) Close() error               { return nil }

type trip func(*http.Request) (*http.Response, error)

func (f trip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// An answer is not read to its end.
func TestEndlessAnswer(t *testing.T) {
	body := &endless{}
	c, err := webhook.New(webhook.Config{Secret: standard, Now: moment, Transport: trip(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body, Request: r}, nil
	})})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Post(context.Background(), address, handoff()); err != nil || body.read > 128<<10 {
		t.Errorf("%v after %d bytes", err, body.read)
	}
}

// Holds docs/spec/10-config.md, "rules.json": the address is https.
func TestAddresses(t *testing.T) {
	c := newClient(t, standard, func(http.ResponseWriter, *http.Request) { t.Error("a post was made") })
	for _, to := range []string{"", "http://desk.example.com/", "desk.example.com", "https://", "https://desk.example.com/%zz?key=hidden", "ftp://desk.example.com"} {
		e := asError(t, c.Post(t.Context(), to, handoff()))
		if e.Retryable() || e.Brief() != "not sent" || strings.Contains(e.Error(), "hidden") {
			t.Errorf("%q: %v, retryable %t", to, e, e.Retryable())
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, cfg := range map[string]webhook.Config{
		"no secret": {Now: moment},
		"no key":    {Now: moment, Secret: "whsec_"},
		"no base64": {Now: moment, Secret: "whsec_n*pe"},
		"no clock":  {Secret: standard},
	} {
		if _, err := webhook.New(cfg); err == nil || strings.Contains(err.Error(), "n*pe") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
