package manychat_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptrace"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
)

const (
	testToken      = "100000000000001:0123456789abcdef0123456789abcdef"
	testSubscriber = "12345678901234567" // longer than a float64 holds
	testFlow       = "content20260101000000_123456"
)

// transport answers a request without a network.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// answering returns a transport that always gives the same answer.
func answering(status int, body string, header http.Header) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

// aContact is a transport that has every contact that it is asked for.
func aContact(r *http.Request) (*http.Response, error) {
	id, err := json.Marshal(r.URL.Query().Get("subscriber_id"))
	if err != nil {
		return nil, err
	}
	return answering(200, `{"status":"success","data":{"id":`+string(id)+`}}`, nil)(r)
}

// wrote reports to the trace of the request that all of it went out.
func wrote(r *http.Request) {
	trace := httptrace.ContextClientTrace(r.Context())
	trace.GetConn(r.URL.Host)
	trace.WroteRequest(httptrace.WroteRequestInfo{})
}

func newClient(t testing.TB, rt http.RoundTripper, changes ...func(*manychat.ClientConfig)) *manychat.Client {
	t.Helper()
	cfg := manychat.ClientConfig{Token: testToken, Transport: rt}
	for _, change := range changes {
		change(&cfg)
	}
	c, err := manychat.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// asError returns the typed error that every failed call has.
func asError(t testing.TB, err error) *manychat.Error {
	t.Helper()
	e, ok := errors.AsType[*manychat.Error](err)
	if !ok {
		t.Fatalf("error is %T (%v), want *manychat.Error", err, err)
	}
	return e
}

// Holds docs/spec/05-delivery.md, "ManyChat client": the requests, byte for byte.
func TestRequests(t *testing.T) {
	type request struct{ Line, Body, ContentType string }
	ctx := context.Background()
	setField := func(value any) func(*manychat.Client) error {
		return func(c *manychat.Client) error {
			return c.SetCustomFieldByName(ctx, testSubscriber, "ai_message", value)
		}
	}
	post := func(path, body string) request {
		return request{"POST https://api.manychat.com" + path, body, "application/json"}
	}
	field := func(value string) request {
		return post("/fb/subscriber/setCustomFieldByName",
			`{"subscriber_id":"12345678901234567","field_name":"ai_message","field_value":`+value+`}`)
	}
	tests := []struct {
		name string
		call func(*manychat.Client) error
		want request
	}{
		{"text", setField("Open <now> & \"later\"\n😀"), field(`"Open <now> & \"later\"\n😀"`)},
		{"integer", setField(3), field(`3`)},
		{"number", setField(json.Number("3.10")), field(`3.10`)},
		{"boolean", setField(false), field(`false`)},
		{"clear", setField(nil), field(`null`)},
		{"empty text", setField(""), field(`""`)},
		{"flow", func(c *manychat.Client) error { return c.SendFlow(ctx, testSubscriber, testFlow) },
			post("/fb/sending/sendFlow", `{"subscriber_id":"12345678901234567","flow_ns":"content20260101000000_123456"}`)},
		{"add tag", func(c *manychat.Client) error { return c.AddTagByName(ctx, testSubscriber, "lead") },
			post("/fb/subscriber/addTagByName", `{"subscriber_id":"12345678901234567","tag_name":"lead"}`)},
		{"remove tag", func(c *manychat.Client) error { return c.RemoveTagByName(ctx, testSubscriber, "lead") },
			post("/fb/subscriber/removeTagByName", `{"subscriber_id":"12345678901234567","tag_name":"lead"}`)},
		{"contact", func(c *manychat.Client) error { _, err := c.GetInfo(ctx, testSubscriber); return err },
			request{"GET https://api.manychat.com/fb/subscriber/getInfo?subscriber_id=12345678901234567", "", ""}},
		{"id as it came in", func(c *manychat.Client) error { _, err := c.GetInfo(ctx, "a&b=c"); return err },
			request{"GET https://api.manychat.com/fb/subscriber/getInfo?subscriber_id=a%26b%3Dc", "", ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got request
			c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
				if auth := r.Header.Get("Authorization"); auth != "Bearer "+testToken {
					t.Errorf("Authorization is %q", auth)
				}
				got = request{Line: r.Method + " " + r.URL.String(), ContentType: r.Header.Get("Content-Type")}
				if r.Body != nil {
					body, err := io.ReadAll(r.Body)
					if err != nil {
						t.Error(err)
					}
					got.Body = string(body)
				}
				return aContact(r)
			}))
			if err := tt.call(c); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestGetInfo(t *testing.T) {
	const body = `{"status":"success","data":{"id":12345678901234567,"page_id":"100000000000001","first_name":"Ada",
		"last_name":null,"gender":null,"optin_whatsapp":true,"whatsapp_phone":"+10000000000","ig_id":null,
		"last_interaction":"2026-01-02T10:00:00+00:00","custom_fields":[
		{"id":21,"name":"AI_Message","type":"text","description":null,"value":null},
		{"id":22,"name":"visits","type":"number","description":"","value":12345678901234567}],
		"tags":[{"id":11,"name":"lead"}]}}`
	got, err := newClient(t, answering(200, body, nil)).GetInfo(context.Background(), testSubscriber)
	if err != nil {
		t.Fatal(err)
	}
	want := manychat.Subscriber{
		ID: testSubscriber, PageID: "100000000000001", FirstName: "Ada", OptinWhatsApp: true,
		WhatsAppPhone: "+10000000000", LastInteraction: "2026-01-02T10:00:00+00:00",
		CustomFields: []manychat.CustomField{
			{ID: "21", Name: "AI_Message", Type: "text"},
			{ID: "22", Name: "visits", Type: "number", Value: json.Number("12345678901234567")},
		},
		Tags: []manychat.Tag{{ID: "11", Name: "lead"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if v, ok := got.Field("ai_message"); v != nil || !ok {
		t.Errorf("Field of another case = %v, %t", v, ok)
	}
	if _, ok := got.Field("absent"); ok {
		t.Error("Field finds a field that is not there")
	}
	if !got.HasTag("lead") || got.HasTag("Lead") {
		t.Error("HasTag does not tell lead from Lead")
	}
}

func TestNewClientRefuses(t *testing.T) {
	tests := []struct {
		name   string
		change func(*manychat.ClientConfig)
		want   string
	}{
		{"no token", func(c *manychat.ClientConfig) { c.Token = "" }, "Token is empty"},
		{"token with a newline", func(c *manychat.ClientConfig) { c.Token += "\n" }, "Token has a space"},
		{"relative base", func(c *manychat.ClientConfig) { c.BaseURL = "api.manychat.com" }, "BaseURL must be"},
		{"base with a query", func(c *manychat.ClientConfig) { c.BaseURL = "https://api.manychat.com?x=1" }, "BaseURL must be"},
		{"base with a user", func(c *manychat.ClientConfig) { c.BaseURL = "https://me@api.manychat.com" }, "BaseURL must be"},
		{"negative timeout", func(c *manychat.ClientConfig) { c.Timeout = -time.Second }, "Timeout is -1s"},
		{"negative scale", func(c *manychat.ClientConfig) { c.RPSScale = -1 }, "RPSScale is -1"},
		{"no number", func(c *manychat.ClientConfig) { c.RPSScale = math.NaN() }, "RPSScale is NaN"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := manychat.ClientConfig{Token: testToken}
			tt.change(&cfg)
			_, err := manychat.NewClient(cfg)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error is %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), testToken) {
				t.Errorf("error shows the token: %v", err)
			}
		})
	}
}

// A base URL may have a path and a slash at its end.
func TestBaseURL(t *testing.T) {
	var got string
	c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
		got = r.URL.String()
		return answering(200, `{"status":"success"}`, nil)(r)
	}), func(cfg *manychat.ClientConfig) { cfg.BaseURL = "http://127.0.0.1:9000/emulator/" })
	if err := c.SendFlow(context.Background(), testSubscriber, testFlow); err != nil {
		t.Fatal(err)
	}
	if want := "http://127.0.0.1:9000/emulator/fb/sending/sendFlow"; got != want {
		t.Errorf("URL is %s, want %s", got, want)
	}
}

// What cannot be sent is refused without a request and without taking a slot.
func TestNothingToSend(t *testing.T) {
	ctx := context.Background()
	tests := map[string]func(*manychat.Client) error{
		"no subscriber":      func(c *manychat.Client) error { return c.SendFlow(ctx, "", testFlow) },
		"no flow":            func(c *manychat.Client) error { return c.SendFlow(ctx, testSubscriber, "") },
		"no contact":         func(c *manychat.Client) error { _, err := c.GetInfo(ctx, ""); return err },
		"value without JSON": func(c *manychat.Client) error { return c.SetCustomFieldByName(ctx, testSubscriber, "f", math.NaN()) },
	}
	for name, call := range tests {
		t.Run(name, func(t *testing.T) {
			c := newClient(t, transport(func(*http.Request) (*http.Response, error) {
				t.Error("a request was sent")
				return nil, errors.New("unexpected")
			}))
			e := asError(t, call(c))
			if e.Kind != manychat.KindRejected || e.Retryable() || e.OutcomeUnknown() || !strings.HasPrefix(e.Message, "nothing was sent: ") {
				t.Errorf("error is %#v", e)
			}
		})
	}
}
