package manychattest_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Holds docs/reference/manychat-platform.md, section 7, "Render {{...}} ... Raw
// paste when quoted, JSON-encoded when Encode to JSON is on. Leave unknown
// placeholders literal. Empty field -> empty string".
func TestBodyTemplates(t *testing.T) {
	const nasty = "a \"quote\"\nand a line"
	tests := []struct {
		name, body string
		encode     bool
		picker     bool
		want       string
		valid      bool
	}{
		{"raw", `{"text":"{{last_input_text}}"}`, false, false, "{\"text\":\"" + nasty + "\"}", false},
		{"encoded", `{"text":{{last_input_text}}}`, true, false, `{"text":"a \"quote\"\nand a line"}`, true},
		{"custom field by id", `{"n":"{{cuf_<field>}}"}`, false, false, `{"n":"4.5"}`, true},
		{"bot field by id", `{"g":"{{gaf_<bot field>}}"}`, false, false, `{"g":"open"}`, true},
		{"by name", `{"n":"{{visits}}"}`, false, false, `{"n":"4.5"}`, true},
		{"by name, typed by hand", `{"n":"{{visits}}"}`, false, true, `{"n":"{{visits}}"}`, true},
		{"empty field", `{"e":"{{notes}}"}`, false, false, `{"e":""}`, true},
		{"empty field encoded", `{"e":{{notes}}}`, true, false, `{"e":""}`, true},
		{"unknown", `{"u":"{{cuf_99}} {{no such}} {{"}`, false, false, `{"u":"{{cuf_99}} {{no such}} {{"}`, true},
		{"system", `{"s":"{{first_name}}/{{full_name}}/{{contact.id}}/{{email}}"}`, false, false, `{"s":"Ada/Ada Park/900000001/"}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var fieldIDs [2]int64
			define := func(a account) {
				fieldIDs[0] = a.field("visits", phone.Number)
				a.field("notes", phone.Text)
				id, err := a.DefineBotField("hours", phone.Text)
				if err != nil {
					t.Fatal(err)
				}
				fieldIDs[1] = id
			}
			define(open(t, nil)) // the ids are the same in every new account
			body := strings.NewReplacer("<field>", fmt.Sprint(fieldIDs[0]), "<bot field>", fmt.Sprint(fieldIDs[1])).Replace(tt.body)
			a := open(t, reply(whatsapp("x")), func(c *manychattest.Config) {
				c.Entry.Body, c.Entry.EncodeJSON, c.Settings.PickerOnly = body, tt.encode, tt.picker
			})
			define(a)
			a.wantOK("/fb/page/setBotFieldByName", `{"field_name":"hours","field_value":"open"}`)
			id := a.add(manychattest.Contact{FirstName: "Ada", LastName: "Park", Fields: map[string]any{"visits": 4.5}})
			ex := a.send(id, nasty)
			if ex.Request != tt.want || json.Valid([]byte(ex.Request)) != tt.valid {
				t.Errorf("got %s\nwant %s", ex.Request, tt.want)
			}
		})
	}
}

// Holds "Offer Full Contact Data as a built object with custom_fields as an object
// of typed values".
func TestFullContactData(t *testing.T) {
	a := open(t, reply(whatsapp("x")), func(c *manychattest.Config) {
		c.Entry.Body, c.Entry.FullContactData = "", true
	})
	a.field("visits", phone.Number)
	a.field("vip", phone.Boolean)
	a.field("notes", phone.Text)
	id := a.add(manychattest.Contact{FirstName: "Ada", WhatsAppPhone: "+10000000000", Fields: map[string]any{"visits": 3.0, "vip": true}})
	ex := a.send(id, "two\nlines \"quoted\"")
	var got map[string]any
	if err := json.Unmarshal([]byte(ex.Request), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]any{"visits": 3.0, "vip": true, "notes": nil}, got["custom_fields"]); diff != "" {
		t.Error(diff)
	}
	want := map[string]any{"id": 900000001.0, "key": "user:900000001", "page_id": 100000000000001.0, "first_name": "Ada",
		"last_name": nil, "last_input_text": "two\nlines \"quoted\"", "whatsapp_phone": "+10000000000", "status": "active"}
	for key, value := range want {
		if diff := cmp.Diff(value, got[key]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

// Holds 1.8: Instagram contacts also carry ig_id, ig_username, ig_last_interaction and
// ig_last_seen.
func TestFullContactDataOfInstagram(t *testing.T) {
	now := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC)
	a := open(t, reply(`{"version":"v2","content":{"type":"instagram","messages":[]}}`), func(c *manychattest.Config) {
		c.Channel, c.Now = manychat.Instagram, func() time.Time { return now }
		c.Entry.Body, c.Entry.FullContactData = "", true
	})
	id := a.add(manychattest.Contact{InstagramUsername: "ada.park"})
	var got map[string]any
	if err := json.Unmarshal([]byte(a.send(id, "hi").Request), &got); err != nil {
		t.Fatal(err)
	}
	const at = "2026-01-02T10:00:00+00:00"
	for key, want := range map[string]any{"ig_username": "ada.park", "ig_last_interaction": at, "ig_last_seen": at} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if id, ok := got["ig_id"]; !ok || id == nil {
		t.Errorf("ig_id is %v", id)
	}
	if _, ok := got["whatsapp_phone"]; ok {
		t.Error("an Instagram contact has a whatsapp_phone")
	}
}

// Holds "Store last_input_text: text, or a media URL of the S3 form for image,
// audio, video; drop captions; keep the previous text for stickers and reactions;
// serve the media files".
func TestLastInput(t *testing.T) {
	a := open(t, reply(whatsapp("x")))
	id := a.add(manychattest.Contact{})
	a.send(id, "before")
	s3 := regexp.MustCompile(`^https://manybot-files\.s3\.eu-central-1\.amazonaws\.com/100000000000001/wa/\d{4}/\d\d/\d\d/original_[0-9a-f]{32}\.(ogg|jpeg|mp4)$`)
	types := map[phone.Kind]string{phone.KindVoice: "audio/ogg", phone.KindImage: "image/jpeg", phone.KindVideo: "video/mp4"}
	seen := map[string]bool{}
	for kind, contentType := range types {
		ex := a.input(id, manychattest.Input{Kind: kind, Text: "a caption"})
		url := a.contact(id).LastInput
		if !s3.MatchString(url) || seen[url] || !strings.Contains(ex.Request, url) {
			t.Errorf("%s: last input %q, request %s", kind, url, ex.Request)
		}
		seen[url] = true
		w := httptest.NewRecorder()
		a.MediaHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, url, nil))
		if w.Code != 200 || w.Header().Get("Content-Type") != contentType || http.DetectContentType(w.Body.Bytes()) == "" || w.Body.Len() == 0 {
			t.Errorf("%s: served %d %s", kind, w.Code, w.Header())
		}
		for _, stale := range []phone.Kind{phone.KindSticker, phone.KindReaction} {
			a.input(id, manychattest.Input{Kind: stale, Text: "👍"})
			if got := a.contact(id).LastInput; got != url {
				t.Errorf("after a %s the last input is %q", stale, got)
			}
		}
	}
	w := httptest.NewRecorder()
	a.MediaHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "https://x.example/other.ogg", nil))
	if w.Code != http.StatusNotFound {
		t.Errorf("an unknown file: got %d", w.Code)
	}
}

// Holds the same, "media where the flow does not expose it" and files of one's own.
func TestMediaSettings(t *testing.T) {
	a := open(t, reply(whatsapp("x")), func(c *manychattest.Config) { c.Settings.HideMedia = true })
	id := a.add(manychattest.Contact{})
	a.send(id, "before")
	a.input(id, manychattest.Input{Kind: phone.KindVoice, Data: []byte("my recording")})
	if got := a.contact(id).LastInput; got != "before" {
		t.Errorf("the last input is %q", got)
	}
	chat := a.Chat(id)
	w := httptest.NewRecorder()
	a.MediaHandler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, chat[len(chat)-2].URL, nil))
	if w.Body.String() != "my recording" {
		t.Errorf("served %q", w.Body)
	}
}

// Holds "Messenger ids of 17 digits, WhatsApp ids of about 9-10".
func TestSubscriberIDs(t *testing.T) {
	a := open(t, nil)
	for ch, digits := range map[manychat.Channel]int{manychat.WhatsApp: 9, manychat.Messenger: 17, manychat.Instagram: 9} {
		id := a.add(manychattest.Contact{Channel: ch})
		if len(id) != digits || strings.Trim(id, "0123456789") != "" {
			t.Errorf("%s: got the id %s", ch, id)
		}
	}
	for _, c := range []manychattest.Contact{{ID: "900000001"}, {ID: "12a"}, {Channel: "fax"}, {Tags: []string{"none"}}, {Fields: map[string]any{"none": "x"}}} {
		if _, err := a.AddContact(c); err == nil {
			t.Errorf("%+v must be refused", c)
		}
	}
}

func TestEditContact(t *testing.T) {
	a := open(t, nil)
	a.field("count", phone.Number)
	a.tag("vip")
	id := a.add(manychattest.Contact{})
	long := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := a.EditContact(id, func(c *manychattest.Contact) {
		c.Tags, c.LastInteraction, c.ID = []string{"vip"}, long, "7"
		c.Fields = map[string]any{"count": 2.0}
	})
	if got := a.contact(id); err != nil || got.ID != id || !got.LastInteraction.Equal(long) || got.Tags[0] != "vip" || got.Fields["count"] != 2.0 {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := a.EditContact(id, func(c *manychattest.Contact) { c.Fields["count"] = "two" }); err == nil {
		t.Error("a value of another type must be refused")
	}
	if got := a.contact(id).Fields["count"]; got != 2.0 {
		t.Errorf("a refused edit left %v", got)
	}
}
