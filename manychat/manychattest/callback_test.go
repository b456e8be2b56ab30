package manychattest_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const callbackKey = `"external_message_callback":{"url":"https://agent.example.test/next","method":"post",` +
	`"headers":{"Authorization":"Bearer static"},"payload":{"text":"{{last_input_text}}","id":"{{contact.id}}","token":"{{ai_token}}"}%s}`

// messenger is a block for Messenger with quick replies.
const messengerQuick = `{"version":"v2","content":{"messages":[{"type":"text","text":"choose"}],"quick_replies":[` +
	`{"type":"dynamic_block_callback","caption":"Again","url":"https://agent.example.test/tap","method":"post","payload":{"tap":"{{user_id}}"}},` +
	`{"type":"flow","caption":"Flow","target":"content1","actions":[{"action":"add_tag","tag_name":"tapped"}]}]%s}}`

func callbackOn(c *manychattest.Config) { c.Settings.Callback = manychattest.On }

// Holds docs/reference/manychat-platform.md, section 7,
// "external_message_callback: one-shot, text only, payload substitution, overrides
// automations while armed, re-armed only if the new reply carries it".
func TestCallbackTakesTheNextTextOnce(t *testing.T) {
	answer := whatsapp("first", fmt.Sprintf(callbackKey, ""))
	var header http.Header
	a := open(t, func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		_, _ = io.WriteString(w, answer)
	}, callbackOn)
	a.field("ai_token", phone.Text)
	id := a.add(manychattest.Contact{Fields: map[string]any{"ai_token": "invented-token"}})

	if ex := a.send(id, "one"); ex.Trigger != phone.TriggerEntry {
		t.Errorf("first: %s", ex.Trigger)
	}
	if cb := a.contact(id).Callback; cb == nil || cb.URL != "https://agent.example.test/next" {
		t.Fatalf("armed: %+v", cb)
	}
	if ex := a.input(id, manychattest.Input{Kind: phone.KindVoice}); ex.Trigger != phone.TriggerEntry {
		t.Errorf("a voice note: %s", ex.Trigger)
	}
	answer = whatsapp("no more")
	ex := a.send(id, "say \"two\"\nlines")
	want := `{"text":"say \"two\"\nlines","id":"` + id + `","token":"invented-token"}`
	if ex.Trigger != phone.TriggerCallback || ex.URL != "https://agent.example.test/next" || ex.Request != want {
		t.Errorf("second: %+v", ex)
	}
	if header.Get("Authorization") != "Bearer static" {
		t.Errorf("headers: %v", header)
	}
	if ex := a.send(id, "three"); ex.Trigger != phone.TriggerEntry {
		t.Errorf("after the callback was used up: %s", ex.Trigger)
	}
}

// Holds the same, "expiry min(timeout, 86400)".
func TestCallbackExpires(t *testing.T) {
	tests := []struct {
		name, timeout string
		after         time.Duration
		want          phone.Trigger
	}{
		{"in time", `,"timeout":60`, 59 * time.Second, phone.TriggerCallback},
		{"expired", `,"timeout":60`, 60 * time.Second, phone.TriggerEntry},
		{"a day by default", ``, 24*time.Hour - 1, phone.TriggerCallback},
		{"at most a day", `,"timeout":999999`, 24 * time.Hour, phone.TriggerEntry},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := open(t, reply(whatsapp("x", fmt.Sprintf(callbackKey, tt.timeout))), callbackOn)
				id := a.add(manychattest.Contact{})
				a.send(id, "one")
				time.Sleep(tt.after)
				if ex := a.send(id, "two"); ex.Trigger != tt.want {
					t.Errorf("got %s", ex.Trigger)
				}
			})
		})
	}
}

// Holds the same, "Per-channel switch: on for Messenger, off by default for
// WhatsApp, Instagram and Telegram, with an on setting".
func TestCallbackPerChannel(t *testing.T) {
	for _, ch := range manychat.Channels() {
		for _, set := range []manychattest.Switch{manychattest.Auto, manychattest.On, manychattest.Off} {
			kind := `"type":"` + string(ch) + `",`
			if ch == manychat.Messenger {
				kind = ""
			}
			body := `{"version":"v2","content":{` + kind + `"messages":[],` + fmt.Sprintf(callbackKey, "") + `}}`
			a := open(t, reply(body), func(c *manychattest.Config) { c.Channel, c.Settings.Callback = ch, set })
			id := a.add(manychattest.Contact{})
			ex := a.send(id, "hi")
			want := set == manychattest.On || (set == manychattest.Auto && ch == manychat.Messenger)
			if armed := a.contact(id).Callback != nil; armed != want || want == (len(ex.Warnings) > 0) {
				t.Errorf("%s, %q: armed %v, %+v", ch, set, armed, ex)
			}
		}
	}
}

// Holds the same, "Optional fires on quick-reply tap", and what taps do otherwise.
func TestTaps(t *testing.T) {
	serve := func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprintf(w, messengerQuick, ","+fmt.Sprintf(callbackKey, ""))
	}
	start := func(onTap bool) (account, string) {
		a := open(t, serve, func(c *manychattest.Config) {
			c.Channel, c.Settings.CallbackOnTap = manychat.Messenger, onTap
		})
		a.tag("tapped")
		a.DefineFlow(manychattest.Flow{NS: "content1", Steps: []manychattest.Step{{Text: "from the flow"}}})
		id := a.add(manychattest.Contact{})
		a.send(id, "hi")
		return a, id
	}
	a, id := start(false)
	ex := a.input(id, manychattest.Input{Kind: phone.KindTap, Text: "Again"})
	if ex.Trigger != phone.TriggerButton || ex.URL != "https://agent.example.test/tap" || ex.Request != `{"tap":"`+id+`"}` {
		t.Errorf("got %+v", ex)
	}
	a.input(id, manychattest.Input{Kind: phone.KindTap, Text: "Flow"})
	if diff := cmp.Diff([]string{"choose", "choose", "from the flow"}, a.texts(id)); diff != "" {
		t.Error(diff)
	}
	if tags := a.contact(id).Tags; len(tags) != 1 {
		t.Errorf("the action of the quick reply was not performed: %v", tags)
	}
	a, id = start(true)
	if ex := a.input(id, manychattest.Input{Kind: phone.KindTap, Text: "Again"}); ex.Trigger != phone.TriggerCallback {
		t.Errorf("got %+v", ex)
	}
}

// Holds section 8, "whether values there are JSON-escaped": a setting.
func TestRawCallbackPayload(t *testing.T) {
	a := open(t, reply(whatsapp("x", fmt.Sprintf(callbackKey, ""))), callbackOn, func(c *manychattest.Config) {
		c.Settings.RawCallbackPayload = true
	})
	id := a.add(manychattest.Contact{})
	a.send(id, "one")
	if ex := a.send(id, "a\nb"); !strings.Contains(ex.Request, "a\nb") || !strings.Contains(ex.Request, "{{ai_token}}") {
		t.Errorf("got %s", ex.Request)
	}
}
