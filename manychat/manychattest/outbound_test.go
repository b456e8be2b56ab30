package manychattest_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Holds docs/reference/manychat-platform.md, section 7, "Send configured method,
// URL, static headers; no signature, no message id, no timestamp".
func TestRequestIsWhatTheOperatorConfigured(t *testing.T) {
	var got *http.Request
	var body string
	serve := func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		got, body = r, string(data)
		_, _ = io.WriteString(w, whatsapp("hello"))
	}
	a := open(t, serve, func(c *manychattest.Config) {
		c.Entry.URL += "?name={{first_name}}"
		c.Entry.Method = "put"
		c.Settings.OmitContentType = true
	})
	id := a.add(manychattest.Contact{FirstName: "Ada"})
	ex := a.send(id, "hi")
	if got.Method != "PUT" || got.URL.String() != "https://agent.example.test/hook?name=Ada" {
		t.Errorf("got %s %s", got.Method, got.URL)
	}
	if diff := cmp.Diff(http.Header{"X-Static": {"yes"}}, got.Header); diff != "" {
		t.Errorf("headers (-want +got):\n%s", diff)
	}
	if want := `{"id":"` + id + `","text":"hi"}`; body != want || ex.Request != want {
		t.Errorf("body %s, recorded %s, want %s", body, ex.Request, want)
	}
	if ex.Trigger != phone.TriggerEntry || ex.Status != 200 || ex.Response != whatsapp("hello") || len(ex.Shown) != 1 {
		t.Errorf("got %+v", ex)
	}
}

// Holds the same: a public host is reached at a local address, under its own name.
func TestHostsSendAPublicURLToALocalServer(t *testing.T) {
	local := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, whatsapp(r.Host+r.URL.String()))
	}))
	t.Cleanup(local.Close)
	a := open(t, nil, func(c *manychattest.Config) {
		c.Hosts = map[string]string{"agent.example.test": local.URL + "/"}
		c.Entry.URL = "https://agent.example.test/hook?x=1"
	})
	id := a.add(manychattest.Contact{})
	a.send(id, "hi")
	if diff := cmp.Diff([]string{"agent.example.test/hook?x=1"}, a.texts(id)); diff != "" {
		t.Error(diff)
	}
}

// Holds "Abort at 10 s. On timeout, non-2xx, non-JSON: show the contact nothing,
// follow the fallback node if set, do not retry".
func TestFailuresShowNothingAndTakeTheFallback(t *testing.T) {
	abort := func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
	slow := func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(11 * time.Second):
		case <-r.Context().Done():
		}
	}
	redirect := func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/other", http.StatusFound) }
	status := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(500)
		_, _ = io.WriteString(w, whatsapp("x"))
	}
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  phone.Failure
		after time.Duration
	}{
		{"timeout", slow, phone.FailureTimeout, 10 * time.Second},
		{"network", abort, phone.FailureNetwork, 0},
		{"status", status, phone.FailureStatus, 0},
		{"redirect", redirect, phone.FailureStatus, 0},
		{"not json", reply("<html>"), phone.FailureNotJSON, 0},
		{"empty", reply(""), phone.FailureNotJSON, 0},
		{"rejected", reply(`{"version":"v1"}`), phone.FailureRejected, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int32
				serve := func(w http.ResponseWriter, r *http.Request) { calls.Add(1); tt.serve(w, r) }
				a := open(t, serve, func(c *manychattest.Config) {
					c.Entry.Fallback = []manychattest.Step{{Text: "sorry {{first_name}}"}}
				})
				id := a.add(manychattest.Contact{FirstName: "Ada"})
				start := time.Now()
				ex := a.send(id, "hi")
				if ex.Failure != tt.want || !ex.FellBack || ex.Reason == "" || ex.Duration != tt.after {
					t.Errorf("got %+v", ex)
				}
				if time.Since(start) != tt.after || calls.Load() != 1 {
					t.Errorf("took %v and %d calls", time.Since(start), calls.Load())
				}
				if diff := cmp.Diff([]string{"sorry Ada"}, a.texts(id)); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// Holds "have a switch that duplicates a request" and "lost inbound message".
func TestInboundFaults(t *testing.T) {
	calls := make(chan string, 10)
	serve := func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		calls <- string(data)
		_, _ = io.WriteString(w, whatsapp("ok"))
	}
	a := open(t, serve)
	id := a.add(manychattest.Contact{})

	a.fault(manychattest.Fault{Kind: fault.LostInbound, Times: 1})
	if ex := a.send(id, "one"); ex.Trigger != phone.TriggerLost || len(calls) != 0 {
		t.Errorf("lost: got %+v and %d calls", ex, len(calls))
	}
	if a.contact(id).LastInput != "one" {
		t.Error("a lost message must still be the last input")
	}
	a.fault(manychattest.Fault{Kind: fault.DuplicateInbound, Times: 1})
	ex := a.send(id, "two")
	if ex.Duplicate == nil || len(calls) != 2 {
		t.Fatalf("duplicated: got %d requests, %+v", len(calls), ex)
	}
	if first, second := <-calls, <-calls; first != second {
		t.Errorf("duplicated: the requests are %q and %q", first, second)
	}
	if diff := cmp.Diff([]string{"ok", "ok"}, a.texts(id)); diff != "" {
		t.Error(diff)
	}
	a.send(id, "three")
	if len(calls) != 1 {
		t.Errorf("the fault was for one message, got %d more calls", len(calls))
	}
}

// Holds the same: the two requests are under way at once.
func TestDuplicateIsMadeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(time.Second)
			_, _ = io.WriteString(w, whatsapp("ok"))
		})
		id := a.add(manychattest.Contact{})
		a.fault(manychattest.Fault{Kind: fault.DuplicateInbound})
		start := time.Now()
		ex := a.send(id, "hi")
		if took := time.Since(start); took != time.Second || ex.Duplicate == nil || ex.Duplicate.Duration != time.Second {
			t.Errorf("after %v: %+v", took, ex)
		}
	})
}

// Holds "do not retry by default": a kept connection that dies under a request makes
// net/http send a GET again, and anything with an Idempotency-Key.
func TestNoRequestIsRepeatedOverAKeptConnection(t *testing.T) {
	entries := map[string]manychattest.Entry{
		"GET":             {Method: "get"},
		"POST":            {Method: "post", Body: "{}"},
		"DELETE":          {Method: "delete"},
		"idempotency key": {Method: "post", Body: "{}", Header: map[string]string{"Idempotency-Key": "1"}},
	}
	for name, entry := range entries {
		for _, given := range []*http.Client{nil, {}, {Transport: &http.Transport{}}} {
			var requests atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if requests.Add(1) > 1 {
					panic(http.ErrAbortHandler)
				}
				_, _ = io.WriteString(w, whatsapp("first"))
			}))
			t.Cleanup(server.Close)
			a := open(t, nil, func(c *manychattest.Config) {
				c.Entry, c.Client = entry, given
				c.Entry.URL = server.URL
			})
			id := a.add(manychattest.Contact{})
			a.send(id, "one")
			ex := a.send(id, "two")
			if n := requests.Load(); n != 2 || ex.Failure != phone.FailureNetwork {
				t.Errorf("%s: %d requests for two messages, %s", name, n, ex.Failure)
			}
		}
	}
}

// Holds "Allow a second message while the first request is in flight".
func TestSecondMessageWhileTheFirstIsInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		serve := func(w http.ResponseWriter, r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			text := "quick"
			if strings.Contains(string(data), "first") {
				time.Sleep(5 * time.Second)
				text = "slow"
			}
			_, _ = io.WriteString(w, whatsapp(text))
		}
		a := open(t, serve)
		id := a.add(manychattest.Contact{})
		go a.send(id, "first")
		synctest.Wait()
		a.send(id, "second")
		time.Sleep(6 * time.Second)
		var order []string
		for _, item := range a.Chat(id) {
			order = append(order, item.Text)
		}
		if diff := cmp.Diff([]string{"first", "second", "quick", "slow"}, order); diff != "" {
			t.Error(diff)
		}
	})
}

// Holds "Two entry modes: Dynamic Block and External Request (JSONPath mapping to
// fields)": what does not match maps nothing.
func TestExternalRequestMapsToFields(t *testing.T) {
	body := `{"reply":"from the model","list":[{"n":7}],"version":"v2"}`
	a := open(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }, func(c *manychattest.Config) {
		c.Entry.Mode = manychattest.ExternalRequest
		c.Entry.Mapping = map[string]string{"$.reply": "ai reply", "$.list[0]['n']": "count"}
		c.Entry.After = []manychattest.Step{{Text: "{{ai reply}} {{count}}"}}
	})
	a.field("ai reply", phone.Text)
	a.field("count", phone.Number)
	id := a.add(manychattest.Contact{})
	a.send(id, "hi")
	body = `{"reply":""}`
	ex := a.send(id, "again")
	if len(ex.Warnings) != 2 || len(ex.Shown) != 0 {
		t.Errorf("got %+v", ex)
	}
	body = `not json`
	if ex = a.send(id, "again"); ex.Failure != phone.FailureNotJSON {
		t.Errorf("got %+v", ex)
	}
	want := []string{"from the model 7", "from the model 7", "from the model 7"} // the old reply again
	if diff := cmp.Diff(want, a.texts(id)); diff != "" {
		t.Error(diff)
	}
}

// Holds 1.7, "the server's reply is rendered to the contact": also where the entry flow
// is an External Request, whose answer is only mapped.
func TestCallbackIsRenderedBesideAnExternalRequest(t *testing.T) {
	a := open(t, reply(whatsapp("from the callback", `"reply":"mapped"`)), callbackOn, func(c *manychattest.Config) {
		c.Entry.Mode = manychattest.ExternalRequest
		c.Entry.Mapping = map[string]string{"$.version": "reply"}
		c.Entry.After = []manychattest.Step{{Text: "from the flow"}}
	})
	a.field("reply", phone.Text)
	id := a.add(manychattest.Contact{LastInteraction: time.Now()})
	a.wantOK("/fb/sending/sendContent", content(id, "whatsapp", `"messages":[],`+fmt.Sprintf(callbackKey, "")))
	ex := a.send(id, "hi")
	if ex.Trigger != phone.TriggerCallback || ex.Failure != "" {
		t.Errorf("got %+v", ex)
	}
	if diff := cmp.Diff([]string{"from the callback"}, a.texts(id)); diff != "" {
		t.Error(diff)
	}
	if got := a.contact(id).Fields["reply"]; got != nil {
		t.Errorf("the answer was mapped: %v", got)
	}
}

func TestSendRefuses(t *testing.T) {
	a := open(t, reply(whatsapp("x")))
	id := a.add(manychattest.Contact{})
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := []struct {
		name string
		ctx  context.Context
		id   string
		in   manychattest.Input
	}{
		{"unknown contact", context.Background(), "1", manychattest.Input{Text: "hi"}},
		{"empty text", context.Background(), id, manychattest.Input{}},
		{"a kind only a business sends", context.Background(), id, manychattest.Input{Kind: phone.KindCards}},
		{"no such button", context.Background(), id, manychattest.Input{Kind: phone.KindTap, Text: "Buy"}},
		{"cancelled", cancelled, id, manychattest.Input{Text: "hi"}},
	}
	for _, tt := range tests {
		if _, err := a.Send(tt.ctx, tt.id, tt.in); err == nil {
			t.Errorf("%s: want an error", tt.name)
		}
	}
	if _, err := manychattest.New(manychattest.Config{Channel: manychat.WhatsApp}); err == nil {
		t.Error("a configuration without a token must be refused")
	}
}
