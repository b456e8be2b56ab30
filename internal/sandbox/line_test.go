package sandbox_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/sandbox"
	"github.com/manychat-agent/manychat-agent/internal/sandbox/flow"
)

// Holds docs/spec/13-sandbox.md, "The phone page (`/sandbox`)": `simulate` prints the
// reply, the path and what was recorded.
func TestLine(t *testing.T) {
	s := newService(t)
	a := openAccount(t, s, "")
	defer a.Close()
	line, err := sandbox.NewLine(a, s.recorded(), "900000009")
	if err != nil {
		t.Fatal(err)
	}
	s.record(`[{"id":"t1","state":"settled","text":"hello","path":"inline","deliveries":["delivered"]}]`)
	for _, text := range []string{"hello", "once more"} {
		got, err := line.Write(t.Context(), text)
		if err != nil {
			t.Fatal(err)
		}
		if !cmp.Equal(got.Texts, []string{"You wrote: " + text}) || got.Path != "inline" || got.Turn == nil || got.Turn.ID != "t1" {
			t.Errorf("%q leads to %+v", text, got)
		}
	}
	if err := a.Furnish(sandbox.Inventory{Flows: []flow.Flow{{ID: "map", NS: "content1"}}}); err != nil {
		t.Fatal(err)
	}
	s.reply = func(string) string {
		if err := a.PlayFlow("900000009", "content1"); err != nil {
			t.Error(err)
		}
		return "Above."
	}
	if got, err := line.Write(t.Context(), "the way?"); err != nil || !cmp.Equal(got.Texts, []string{"map", "Above."}) {
		t.Errorf("a picture without a caption is %q, %v", got.Texts, err)
	}
	s.reply = func(string) string { return "" }
	if _, err := line.Write(t.Context(), "hello"); err == nil || !strings.Contains(err.Error(), "ManyChat would show nothing") {
		t.Errorf("a response that ManyChat refuses leads to %v", err)
	}
	if _, err := sandbox.NewLine(a, s.recorded(), "900000009"); err == nil {
		t.Error("a second contact with the same id was added")
	}
}

func TestRemote(t *testing.T) {
	tests := []struct {
		name   string
		status int
		body   string
		want   sandbox.Reply
		err    string
	}{
		{name: "texts", status: 200, body: `{"version":"v2","content":{"messages":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`, want: sandbox.Reply{Texts: []string{"a", "b"}, Path: "inline"}},
		{name: "silent", status: 200, body: `{"version":"v2","content":{"messages":[]}}`, want: sandbox.Reply{Path: "silent"}},
		{name: "refused", status: 401, body: `{"error":"unauthorized"}`, err: "the service refuses the secret: give its MANYCHAT_SHARED_SECRET"},
		{name: "another program", status: 200, body: `<html>`, err: "the response is not a Dynamic Block: <html>"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.Header.Get("Authorization") != "Bearer "+secret || string(body) != `{"subscriber_id":"900000001","text":"hello"}` {
					t.Errorf("the service receives %s, %v", body, err)
				}
				w.WriteHeader(tt.status)
				_, _ = io.WriteString(w, tt.body)
			}))
			defer server.Close()
			got, err := sandbox.Remote{Endpoint: server.URL, Secret: secret, Subscriber: first, Client: server.Client()}.Write(t.Context(), "hello")
			got.Took = 0
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("the error is %v, want %q", err, tt.err)
			}
		})
	}
	t.Run("not there", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		_, err := sandbox.Remote{Endpoint: server.URL, Client: server.Client()}.Write(t.Context(), "hello")
		if err == nil || !strings.Contains(err.Error(), "the service does not answer") {
			t.Errorf("the error is %v", err)
		}
	})
}
