package manychattest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

func (a account) write(id, field, text string) {
	a.t.Helper()
	a.wantOK("/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"`+id+`","field_name":"`+field+`","field_value":"`+text+`"}`)
}

func (a account) trigger(id, ns string) {
	a.t.Helper()
	a.wantOK("/fb/sending/sendFlow", `{"subscriber_id":"`+id+`","flow_ns":"`+ns+`"}`)
}

// Holds docs/reference/manychat-platform.md, section 7, "sendFlow returns at once;
// flow runs asynchronously with configurable delays; steps read fields at run
// time": a field written too early shows the later text twice (3.4).
func TestStepsReadFieldsWhenTheyRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, nil)
		a.field("reply", phone.Text)
		ns := a.DefineFlow(manychattest.Flow{Name: "Reply", Steps: []manychattest.Step{{Delay: time.Second, Text: "{{reply}}"}}})
		id := a.add(manychattest.Contact{LastInteraction: time.Now()})
		start := time.Now()
		a.write(id, "reply", "one")
		a.trigger(id, ns)
		if time.Since(start) != 0 || len(a.Chat(id)) != 0 {
			t.Error("sendFlow must answer when the flow starts")
		}
		time.Sleep(500 * time.Millisecond)
		a.write(id, "reply", "two")
		a.trigger(id, ns)
		if err := a.WaitIdle(t.Context()); err != nil || time.Since(start) != 1500*time.Millisecond {
			t.Errorf("idle after %v, %v", time.Since(start), err)
		}
		if diff := cmp.Diff([]string{"two", "two"}, a.texts(id)); diff != "" {
			t.Error(diff)
		}
		if item := a.Chat(id)[0]; item.Via != phone.ViaFlow || item.Flow != ns || !item.At.Equal(start.Add(time.Second)) {
			t.Errorf("got %+v", item)
		}
	})
}

// Holds the same, "template steps may leave the window".
func TestOnlyTemplatesLeaveTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, nil)
		a.tag("nudged")
		a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{
			{Text: "inside"}, {Delay: 25 * time.Hour, Text: "lost", AddTag: "nudged"}, {Text: "template", Template: true},
		}})
		id := a.add(manychattest.Contact{LastInteraction: time.Now()})
		var warnings []string
		a.Subscribe(func(e manychattest.Event) {
			if e.Type == phone.EventWarning {
				warnings = append(warnings, e.Warning)
			}
		})
		a.trigger(id, "content1")
		time.Sleep(26 * time.Hour)
		if diff := cmp.Diff([]string{"inside", "template"}, a.texts(id)); diff != "" {
			t.Error(diff)
		}
		if len(warnings) != 1 || len(a.contact(id).Tags) != 1 {
			t.Errorf("warnings %v, contact %+v", warnings, a.contact(id))
		}
	})
}

func TestStepKinds(t *testing.T) {
	a := open(t, nil)
	a.field("count", phone.Number)
	a.field("when", phone.Date)
	a.tag("old")
	id := a.add(manychattest.Contact{FirstName: "Ada", LastInteraction: time.Now(), Tags: []string{"old"}, Fields: map[string]any{"when": "2026-01-01"}})
	a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{
		{SetField: &phone.Assignment{Field: "count", Value: "4"}, RemoveTag: "old"},
		{SetField: &phone.Assignment{Field: "when", Value: ""}},
		{Text: "{{count}} for {{first_name}}, {{unknown}}", Buttons: []phone.Button{{Type: "flow", Caption: "More", Target: "content2"}}},
		{Media: &manychattest.Media{Kind: phone.KindImage, URL: "https://cdn.example.test/{{count}}.png", Caption: "{{first_name}}"}},
		{Cards: []phone.Card{{Title: "Card"}}},
		{Text: "{{when}}"}, // empty: nothing
		{SetField: &phone.Assignment{Field: "count", Value: "many"}},
		{SetField: &phone.Assignment{Field: "none", Value: "1"}, AddTag: "none"},
	}})
	a.DefineFlow(manychattest.Flow{NS: "content2", Steps: []manychattest.Step{{Text: "more"}}})
	a.trigger(id, "content1")
	a.input(id, manychattest.Input{Kind: phone.KindTap, Text: "More"})
	var got []string
	for _, item := range a.Chat(id) {
		got = append(got, strings.TrimSpace(string(item.Kind)+" "+item.Text+" "+item.URL))
	}
	want := []string{"text 4 for Ada, {{unknown}}", "image Ada https://cdn.example.test/4.png", "cards", "tap More", "text more"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if c := a.contact(id); c.Fields["count"] != 4.0 || c.Fields["when"] != nil || len(c.Tags) != 0 {
		t.Errorf("got %+v", c)
	}
}

// Holds section 8: whether the text limit binds text rendered from a field is not
// known; by default it does.
func TestLongFlowTexts(t *testing.T) {
	for _, lenient := range []bool{false, true} {
		a := open(t, nil, func(c *manychattest.Config) { c.Settings.LongFlowTexts = lenient })
		a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: strings.Repeat("x", 1500)}}})
		id := a.add(manychattest.Contact{Channel: manychat.Instagram, LastInteraction: time.Now()})
		if err := a.PlayFlow(id, "content1"); err != nil {
			t.Fatal(err)
		}
		if shown := len(a.Chat(id)) == 1; shown != lenient {
			t.Errorf("lenient %v: shown %v", lenient, shown)
		}
	}
}

func TestWaitIdleAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, nil)
		a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Delay: time.Hour, Text: "late"}}})
		id := a.add(manychattest.Contact{LastInteraction: time.Now()})
		a.trigger(id, "content1")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.WaitIdle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
		a.Close()
		if err := a.WaitIdle(t.Context()); err != nil || len(a.Chat(id)) != 0 {
			t.Errorf("after Close: %v, %v", err, a.Chat(id))
		}
		if err := a.PlayFlow(id, "content9"); err == nil {
			t.Error("an unknown flow must be refused")
		}
	})
}

// Close ends a request that a contact waits for.
func TestCloseEndsRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := open(t, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		id := a.add(manychattest.Contact{})
		start := time.Now()
		time.AfterFunc(time.Second, a.Close)
		if ex := a.send(id, "hi"); ex.Failure != phone.FailureNetwork || time.Since(start) != time.Second {
			t.Errorf("after %v: %+v", time.Since(start), ex)
		}
	})
}

// Holds docs/spec/17-quality.md, "Performance": the outbox sends a thousand texts a
// second to the unlimited emulator, which must not be what is measured.
func BenchmarkFieldAndFlow(b *testing.B) {
	mc, err := manychattest.New(manychattest.Config{Channel: manychat.WhatsApp, Token: token, Unlimited: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(mc.Close)
	if _, err := mc.DefineField("reply", phone.Text); err != nil {
		b.Fatal(err)
	}
	mc.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: "{{reply}}"}}})
	id, err := mc.AddContact(manychattest.Contact{LastInteraction: time.Now()})
	if err != nil {
		b.Fatal(err)
	}
	calls := []struct{ path, body string }{
		{"/fb/subscriber/setCustomFieldByName", `{"subscriber_id":"` + id + `","field_name":"reply","field_value":"hello"}`},
		{"/fb/sending/sendFlow", `{"subscriber_id":"` + id + `","flow_ns":"content1"}`},
	}
	for b.Loop() {
		for _, c := range calls {
			req := httptest.NewRequest(http.MethodPost, c.path, strings.NewReader(c.body))
			req.Header.Set("Authorization", "Bearer "+token)
			w := httptest.NewRecorder()
			if mc.ServeHTTP(w, req); w.Code != http.StatusOK {
				b.Fatal(w.Body)
			}
		}
	}
}
