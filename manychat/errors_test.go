package manychat_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/05-delivery.md, "ManyChat client": errors are typed, and a 200 with
// status error is a rejection.
func TestErrorAnswers(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	html := http.Header{"Content-Type": {"text/html; charset=utf-8"}}
	retry := func(v string) http.Header { return http.Header{"Retry-After": {v}} }
	tests := []struct {
		name               string
		status             int
		body               string
		header             http.Header
		want               manychat.Error
		retryable, unknown bool
	}{
		{name: "details as objects", status: 400,
			body: `{"status":"error","message":"Validation error","details":{"messages":[{"message":"Wrong field"},{"message":"Wrong value"}]}}`,
			want: manychat.Error{Kind: manychat.KindRejected, Message: "Validation error: Wrong field: Wrong value"}},
		{name: "details as strings", status: 400,
			body: `{"status":"error","message":"Validation error","details":{"messages":["Wrong field"]}}`,
			want: manychat.Error{Kind: manychat.KindRejected, Message: "Validation error: Wrong field"}},
		{name: "details as one string", status: 400,
			body: `{"status":"error","message":"Validation error","details":{"messages":"Wrong field"}}`,
			want: manychat.Error{Kind: manychat.KindRejected, Message: "Validation error: Wrong field"}},
		{name: "with code", status: 400,
			body: `{"status":"error","message":"Last interaction over 24h ago","code":3011}`,
			want: manychat.Error{Kind: manychat.KindRejected, Code: manychat.CodeWindowClosed, Message: "Last interaction over 24h ago"}},
		{name: "200 with an error", status: 200,
			body: `{"status":"error","message":"Subscriber has blocked the page"}`,
			want: manychat.Error{Kind: manychat.KindRejected, Message: "Subscriber has blocked the page"}},
		{name: "wrong token", status: 401, body: `{"status":"error","message":"Wrong token"}`,
			want: manychat.Error{Kind: manychat.KindUnauthorized, Message: "Wrong token"}},
		{name: "unknown path", status: 404,
			want: manychat.Error{Kind: manychat.KindRejected, Message: "no content type, 0 bytes"}},
		{name: "rate limited", status: 429, header: retry("7"),
			want:      manychat.Error{Kind: manychat.KindRateLimited, RetryAfter: 7 * time.Second, Message: "no content type, 0 bytes"},
			retryable: true},
		{name: "rate limited until", status: 429, header: retry("Mon, 30 Nov 2026 12:01:30 GMT"), body: `{"message":"Slow down"}`,
			want:      manychat.Error{Kind: manychat.KindRateLimited, RetryAfter: 90 * time.Second, Message: "Slow down"},
			retryable: true},
		{name: "HTML page", status: 502, header: html, body: "<html>12345678901234567</html>",
			want:      manychat.Error{Kind: manychat.KindServer, Message: "text/html, 30 bytes"},
			retryable: true},
		{name: "crash with JSON", status: 500, body: `{"status":"error","message":"Something went wrong"}`,
			want:      manychat.Error{Kind: manychat.KindServer, Message: "Something went wrong"},
			retryable: true},
		{name: "2xx that is not JSON", status: 200, header: html, body: "<html></html>",
			want:      manychat.Error{Kind: manychat.KindServer, Message: "the answer is none of ManyChat's: text/html, 13 bytes"},
			retryable: true, unknown: true},
		{name: "2xx without a status", status: 201, body: `{}`,
			want:      manychat.Error{Kind: manychat.KindServer, Message: "the answer is none of ManyChat's: no content type, 2 bytes"},
			retryable: true, unknown: true},
		{name: "2xx longer than is read", status: 200, body: `{"status":"success","data":"` + strings.Repeat("x", 1<<20) + `"}`,
			want:      manychat.Error{Kind: manychat.KindServer, Message: "the answer is none of ManyChat's: no content type, 1048576 bytes"},
			retryable: true, unknown: true},
		{name: "redirect", status: 307, header: http.Header{"Location": {"https://elsewhere.example.com/"}},
			want: manychat.Error{Kind: manychat.KindRejected, Message: "a redirect, which is not followed; check the base URL"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClient(t, answering(tt.status, tt.body, tt.header), func(cfg *manychat.ClientConfig) {
				cfg.Now = func() time.Time { return now }
			})
			got := asError(t, c.SetCustomFieldByName(context.Background(), testSubscriber, "ai_message", "hello"))
			tt.want.Endpoint, tt.want.Object, tt.want.Status = "setCustomFieldByName", "ai_message", tt.status
			if diff := cmp.Diff(&tt.want, got, cmpopts.IgnoreUnexported(manychat.Error{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if got.Retryable() != tt.retryable || got.OutcomeUnknown() != tt.unknown {
				t.Errorf("Retryable %t, OutcomeUnknown %t; want %t, %t", got.Retryable(), got.OutcomeUnknown(), tt.retryable, tt.unknown)
			}
		})
	}
}

// The answer of a read must hold a contact.
func TestGetInfoWithoutContact(t *testing.T) {
	for _, data := range []string{`null`, `{}`, `[]`, `{"id":true}`, `{"id":""}`} {
		c := newClient(t, answering(200, `{"status":"success","data":`+data+`}`, nil))
		_, err := c.GetInfo(context.Background(), testSubscriber)
		if e := asError(t, err); e.Kind != manychat.KindServer || e.Message != "the answer holds no contact" {
			t.Errorf("data %s: %v", data, e)
		}
	}
}

// Holds docs/spec/01-principles.md, C5: what ManyChat says of another contact than the one
// that was asked for reaches nobody, and neither id is in the error.
func TestGetInfoOfAnotherContact(t *testing.T) {
	tests := []struct {
		name, id string
		refused  bool
	}{
		{"the same as a string", `"12345678901234567"`, false},
		{"the same as a number", `12345678901234567`, false},
		{"another", `"900000002"`, true},
		{"a neighbour that a float64 does not tell apart", `12345678901234568`, true},
		{"the same in front of more", `"123456789012345678"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := `{"status":"success","data":{"id":` + tt.id + `,"first_name":"Eve","custom_fields":[{"id":1,"name":"note","type":"text","value":"owes 900"}]}}`
			got, err := newClient(t, answering(200, body, nil)).GetInfo(context.Background(), testSubscriber)
			if !tt.refused {
				if err != nil || got.FirstName != "Eve" {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			e := asError(t, err)
			if e.Kind != manychat.KindServer || e.Message != "the answer is about another contact" || e.Object != "" {
				t.Errorf("error is %#v", e)
			}
			if diff := cmp.Diff(manychat.Subscriber{}, got); diff != "" {
				t.Errorf("the other contact is told of:\n%s", diff)
			}
			if strings.Contains(err.Error(), strings.Trim(tt.id, `"`)) || strings.Contains(err.Error(), testSubscriber) {
				t.Errorf("the error names a contact: %v", err)
			}
		})
	}
}

// Holds docs/spec/01-principles.md, C5: no token, subscriber id or field value in an
// error, however ManyChat quotes them.
func TestErrorsAreRedacted(t *testing.T) {
	const value = "My name is Ada,\nI live in Springfield"
	quotes := map[string]string{
		"whole":       value,
		"on one line": "My name is Ada, I live in Springfield",
		"cut short":   "My name is Ada...",
		"id":          "no contact 12345678901234567 here",
		"token":       "bad " + testToken,
		"secret":      "bad 0123456789abcdef0123456789abcdef",
	}
	for name, quoted := range quotes {
		t.Run(name, func(t *testing.T) {
			body := `{"status":"error","message":"Refused ` + strings.ReplaceAll(quoted, "\n", `\n`) + `"}`
			c := newClient(t, answering(400, body, nil))
			err := c.SetCustomFieldByName(context.Background(), testSubscriber, "ai_message", value)
			for _, secret := range []string{"Ada", testSubscriber, "100000000000001", "0123456789abcdef"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("error shows %q: %v", secret, err)
				}
			}
			if !strings.Contains(err.Error(), `setCustomFieldByName "ai_message": rejected, status 400: Refused`) {
				t.Errorf("error does not say what was rejected: %v", err)
			}
		})
	}
}

func TestErrorString(t *testing.T) {
	tests := map[string]manychat.Error{
		`manychat: sendFlow "content20260101000000_123456": rejected, status 400, code 3041: Wrong channel`: {
			Kind: manychat.KindRejected, Endpoint: "sendFlow", Object: testFlow, Status: 400, Code: 3041, Message: "Wrong channel"},
		`manychat: getInfo: network: connection refused`: {
			Kind: manychat.KindNetwork, Endpoint: "getInfo", Message: "connection refused"},
	}
	for want, e := range tests {
		if got := e.Error(); got != want {
			t.Errorf("Error() = %s\nwant      %s", got, want)
		}
	}
}

// Holds docs/spec/07-tools.md, "The action record": what is kept of a failed call quotes
// nothing that ManyChat wrote and names nothing of the account.
func TestBrief(t *testing.T) {
	for want, e := range map[string]manychat.Error{
		"rejected (400, code 3011)": {Kind: manychat.KindRejected, Status: 400, Code: manychat.CodeWindowClosed},
		"rejected (200)":            {Kind: manychat.KindRejected, Status: 200},
		"rejected":                  {Kind: manychat.KindRejected},
		"server error (502)":        {Kind: manychat.KindServer, Status: 502},
		"rate limited":              {Kind: manychat.KindRateLimited, Status: 429},
		"unauthorized":              {Kind: manychat.KindUnauthorized, Status: 401},
		"network":                   {Kind: manychat.KindNetwork, Written: true},
		"timeout":                   {Kind: manychat.KindTimeout, Status: 200},
	} {
		e.Endpoint, e.Object, e.Message = "addTagByName", "Interested", "Tag Interested not found"
		if got := e.Brief(); got != want {
			t.Errorf("Brief() = %q, want %q", got, want)
		}
	}
}
