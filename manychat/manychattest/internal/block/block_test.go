package block_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// words is an account with one tag, one flow and a field of each type.
type words struct{}

func (words) HasTag(name string) bool { return name == "lead" }
func (words) HasFlow(ns string) bool  { return ns == "content1" }
func (words) FieldType(name string) (phone.FieldType, bool) {
	t := phone.FieldType(name)
	return t, t.Valid()
}

func rules(ch manychat.Channel) block.Rules {
	return block.Rules{Channel: ch, Account: words{}, Inline: true, Callback: true, WhatsAppImages: true}
}

// envelope is a block for the channel; rest is what stands in content.
func envelope(ch manychat.Channel, rest string) []byte {
	kind := ""
	if t := ch.ContentType(); t != "" {
		kind = `"type":"` + t + `",`
	}
	return []byte(`{"version":"v2","content":{` + kind + rest + `}}`)
}

func messages(list ...string) string { return `"messages":[` + strings.Join(list, ",") + `]` }

func textWith(rest string) string { return messages(`{"type":"text","text":"hi"` + rest + `}`) }

func repeat(item string, n int) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// refusal reads and gives the reason of the refusal, or "" for none.
func refusal(t *testing.T, data []byte, r block.Rules) (block.Block, string) {
	t.Helper()
	b, err := block.Read(data, r)
	if err == nil {
		return b, ""
	}
	rejection, ok := errors.AsType[*block.Rejection](err)
	if !ok {
		t.Fatalf("%s: %v", data, err)
	}
	return b, rejection.Reason
}

// Holds docs/reference/manychat-platform.md, section 7, "10 messages, 5 actions, 11
// quick replies, 3 buttons, 2000 characters, all-or-nothing rejection with the
// observed text".
func TestLimits(t *testing.T) {
	const (
		button = `{"type":"url","caption":"Go","url":"https://example.test"}`
		quick  = `{"type":"flow","caption":"Go","target":"content1"}`
		action = `{"action":"add_tag","tag_name":"lead"}`
		text   = `{"type":"text","text":"hi"}`
		card   = `{"title":"T","subtitle":"S","image_url":"https://example.test/i.png"}`
	)
	long := func(n int) string { return messages(`{"type":"text","text":"` + strings.Repeat("x", n) + `"}`) }
	tests := []struct {
		name    string
		channel manychat.Channel
		fits    string
		over    string
		want    string
	}{
		{"messages", manychat.Messenger, messages(repeat(text, 10)), messages(repeat(text, 11)), "Too many messages"},
		{"actions", manychat.Messenger, messages() + `,"actions":[` + repeat(action, 5) + `]`, messages() + `,"actions":[` + repeat(action, 6) + `]`, "Too many actions"},
		{"quick replies", manychat.Messenger, messages(text) + `,"quick_replies":[` + repeat(quick, 11) + `]`, messages(text) + `,"quick_replies":[` + repeat(quick, 12) + `]`, "Too many quick replies"},
		{"buttons", manychat.WhatsApp, textWith(`,"buttons":[` + repeat(button, 3) + `]`), textWith(`,"buttons":[` + repeat(button, 4) + `]`), "Too many buttons"},
		{"buttons on Telegram", manychat.Telegram, textWith(`,"buttons":[` + repeat(button, 10) + `]`), textWith(`,"buttons":[` + repeat(button, 11) + `]`), "Too many buttons"},
		{"cards", manychat.Instagram, messages(`{"type":"cards","elements":[` + repeat(card, 10) + `]}`), messages(`{"type":"cards","elements":[` + repeat(card, 11) + `]}`), "Too many cards"},
		{"characters", manychat.WhatsApp, long(2000), long(2001), "Provided text is longer than 2000 symbols"},
		{"UTF-16 units", manychat.Messenger, messages(`{"type":"text","text":"` + strings.Repeat("😀", 1000) + `"}`), messages(`{"type":"text","text":"` + strings.Repeat("😀", 1001) + `"}`), "Provided text is longer than 2000 symbols"},
	}
	for _, tt := range tests {
		if _, got := refusal(t, envelope(tt.channel, tt.fits), rules(tt.channel)); got != "" {
			t.Errorf("%s at the limit: %s", tt.name, got)
		}
		b, got := refusal(t, envelope(tt.channel, tt.over), rules(tt.channel))
		if got != tt.want || len(b.Messages)+len(b.Actions) > 0 {
			t.Errorf("%s over the limit: got %q, want %q; %+v", tt.name, got, tt.want, b)
		}
	}
}

// Holds "Per-channel matrix of 1.3-1.5" for messages and buttons.
func TestChannelMatrix(t *testing.T) {
	const card = `,"elements":[{"title":"T","subtitle":"S","image_url":"https://example.test/i.png"}]`
	url := `,"url":"https://example.test/f"`
	all := []manychat.Channel{manychat.Messenger, manychat.Instagram, manychat.WhatsApp, manychat.Telegram}
	tests := []struct {
		content string
		works   []manychat.Channel
	}{
		{messages(`{"type":"text","text":"hi"}`), all},
		{messages(`{"type":"image"` + url + `}`), all},
		{messages(`{"type":"video"` + url + `}`), []manychat.Channel{manychat.Messenger, manychat.Telegram}},
		{messages(`{"type":"audio"` + url + `}`), []manychat.Channel{manychat.Messenger, manychat.Telegram}},
		{messages(`{"type":"file"` + url + `}`), []manychat.Channel{manychat.Messenger, manychat.Telegram}},
		{messages(`{"type":"cards"` + card + `}`), []manychat.Channel{manychat.Messenger, manychat.Instagram}},
		{messages(`{"type":"list"}`), nil},
		{button(`"type":"url","url":"https://example.test"`), all},
		{button(`"type":"flow","target":"content1"`), all},
		{button(`"type":"node","target":"Start"`), []manychat.Channel{manychat.Messenger, manychat.Instagram, manychat.Telegram}},
		{button(`"type":"call","phone":"+10000000000"`), []manychat.Channel{manychat.Messenger}},
		{button(`"type":"buy","customer":{"shipping_address":true,"contact_name":true,"contact_phone":true},"product":{"label":"L","cost":100}`), []manychat.Channel{manychat.Messenger, manychat.Instagram, manychat.Telegram}},
		{button(`"type":"dynamic_block_callback","url":"https://example.test","method":"post"`), []manychat.Channel{manychat.Messenger}},
		{button(`"type":"share"`), nil},
	}
	for _, tt := range tests {
		var works []manychat.Channel
		for _, ch := range all {
			if b, reason := refusal(t, envelope(ch, tt.content), rules(ch)); reason == "" && len(b.Messages) == 1 {
				works = append(works, ch)
			}
		}
		if diff := cmp.Diff(tt.works, works); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.content, diff)
		}
	}
}

func button(keys string) string { return textWith(`,"buttons":[{"caption":"Go",` + keys + `}]`) }

// Holds "drop (not reject) quick replies on WhatsApp/Telegram; Instagram over 1000
// accepted but undelivered", and the other things that are dropped: each with a
// warning.
func TestWhatIsDroppedIsReported(t *testing.T) {
	const quick = `,"quick_replies":[{"type":"flow","caption":"Go","target":"content1"}]`
	off := func(r *block.Rules) { r.Callback = false }
	noImages := func(r *block.Rules) { r.WhatsAppImages = false }
	one := func(r *block.Rules) { r.Deliver = 1 }
	byRef := func(r *block.Rules) { r.IgnoreActions = true }
	anyType := func(r *block.Rules) { r.AnyType = true }
	none := func(*block.Rules) {}
	tests := []struct {
		name    string
		channel manychat.Channel
		content string
		edit    func(*block.Rules)
		shown   int
	}{
		{"quick replies on WhatsApp", manychat.WhatsApp, textWith("") + quick, none, 1},
		{"empty quick replies on Telegram", manychat.Telegram, textWith("") + `,"quick_replies":[]`, none, 1},
		{"quick replies without a message", manychat.Messenger, messages() + quick, none, 0},
		{"Instagram text over 1000", manychat.Instagram, messages(`{"type":"text","text":"` + strings.Repeat("x", 1001) + `"}`), none, 0},
		{"an image on WhatsApp", manychat.WhatsApp, messages(`{"type":"image","url":"https://example.test/i.png"}`), noImages, 0},
		{"buttons under an image on Instagram", manychat.Instagram, messages(`{"type":"image","url":"https://example.test/i.png","buttons":[]}`), none, 1},
		{"a long caption on Messenger", manychat.Messenger, textWith(`,"buttons":[{"type":"url","url":"https://example.test","caption":"` + strings.Repeat("c", 21) + `"}]`), none, 0},
		{"a long caption on WhatsApp", manychat.WhatsApp, textWith(`,"buttons":[{"type":"url","url":"https://example.test","caption":"` + strings.Repeat("c", 21) + `"}]`), none, 1},
		{"a long title", manychat.Messenger, messages(`{"type":"cards","elements":[{"title":"` + strings.Repeat("c", 81) + `","subtitle":"S","image_url":"https://example.test/i.png"}]}`), none, 1},
		{"buttons under a file on Messenger", manychat.Messenger, messages(`{"type":"file","url":"https://example.test/f.pdf","buttons":[{"type":"url","url":"https://example.test","caption":"Go"}]}`), none, 1},
		{"the second message", manychat.WhatsApp, messages(`{"type":"text","text":"1"}`, `{"type":"text","text":"2"}`), one, 1},
		{"a callback", manychat.WhatsApp, textWith("") + `,"external_message_callback":{"url":"https://example.test","method":"post"}`, off, 1},
		{"actions by user_ref", manychat.WhatsApp, textWith("") + `,"actions":[{"action":"add_tag","tag_name":"lead"}]`, byRef, 1},
		{"an unknown key", manychat.WhatsApp, textWith(`,"delay":3`), none, 1},
		{"a button to an unknown flow", manychat.WhatsApp, button(`"type":"flow","target":"content2"`), none, 1},
		{"webview_size off Messenger", manychat.WhatsApp, button(`"type":"url","url":"https://example.test","webview_size":"full"`), none, 1},
		{"another content.type, if allowed", manychat.Messenger, `"type":"whatsapp",` + textWith(""), anyType, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := rules(tt.channel)
			tt.edit(&r)
			b, reason := refusal(t, envelope(tt.channel, tt.content), r)
			if reason != "" || len(b.Messages) != tt.shown || len(b.Warnings) != 1 {
				t.Errorf("refused %q, %+v", reason, b)
			}
		})
	}
}

// Holds "Actions need an existing tag/field and matching type; unknown field ->
// reject whole request", with the value forms of 1.6.
func TestActions(t *testing.T) {
	tests := []struct{ action, want string }{
		{`"action":"add_tag","tag_name":"lead"`, ""},
		{`"action":"remove_tag","tag_name":"lead"`, ""},
		{`"action":"add_tag","tag_name":"none"`, "tag with same name not found"},
		{`"action":"unset_field_value","field_name":"text"`, ""},
		{`"action":"unset_field_value","field_name":"none"`, "field with same name not found"},
		{`"action":"set_field_value","field_name":"none","value":"x"`, "field with same name not found"},
		{`"action":"set_field_value","field_name":"text","value":"x"`, ""},
		{`"action":"set_field_value","field_name":"text","value":1`, `value of the field "text" must be of the type text`},
		{`"action":"set_field_value","field_name":"number","value":1.5`, ""},
		{`"action":"set_field_value","field_name":"number","value":"1"`, `value of the field "number" must be of the type number`},
		{`"action":"set_field_value","field_name":"boolean","value":true`, ""},
		{`"action":"set_field_value","field_name":"boolean","value":"true"`, `value of the field "boolean" must be of the type boolean`},
		{`"action":"set_field_value","field_name":"date","value":"2026-01-31"`, ""},
		{`"action":"set_field_value","field_name":"date","value":"31.1.2026"`, `value of the field "date" must be of the type date`},
		{`"action":"set_field_value","field_name":"datetime","value":"2026-01-31T10:00:00.000Z"`, ""},
		{`"action":"set_field_value","field_name":"datetime","value":"2026-01-31T10:00:00+03:00"`, `value of the field "datetime" must be of the type datetime`},
		{`"action":"set_field_value","field_name":"datetime","value":"2026-01-31T10:00:00Z"`, `value of the field "datetime" must be of the type datetime`},
		{`"action":"set_field_value","field_name":"text"`, "value of an action is required"},
		{`"action":"send_mail"`, `unknown action "send_mail"`},
		{`"tag_name":"lead"`, "action of an action is required"},
	}
	for _, tt := range tests {
		content := textWith("") + `,"actions":[{` + tt.action + `}]`
		if _, got := refusal(t, envelope(manychat.WhatsApp, content), rules(manychat.WhatsApp)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.action, got, tt.want)
		}
		if tt.want == "" {
			under := textWith(`,"buttons":[{"type":"flow","caption":"Go","target":"content1","actions":[{` + tt.action + `}]}]`)
			if b, got := refusal(t, envelope(manychat.WhatsApp, under), rules(manychat.WhatsApp)); got != "" || len(b.Messages[0].Buttons[0].Actions) != 1 {
				t.Errorf("under a button: %s: got %q", tt.action, got)
			}
		}
	}
}

// Holds docs/spec/13-sandbox.md, "The emulator": a response is validated as
// ManyChat would: version, types, https, callback.
func TestRefusedEnvelopes(t *testing.T) {
	cb := func(keys string) string { return textWith("") + `,"external_message_callback":{` + keys + `}` }
	tests := []struct{ data, want string }{
		{`[]`, "the response must be an object"},
		{`null`, "the response must be an object"},
		{`{"content":{"type":"whatsapp","messages":[]}}`, "version of the response is required"},
		{`{"version":"v1","content":{"type":"whatsapp","messages":[]}}`, `version must be "v2", not "v1"`},
		{`{"version":2,"content":{}}`, "version of the response must be a string"},
		{`{"version":"v2"}`, "content of the response is required"},
		{`{"version":"v2","content":[]}`, "content must be an object"},
		{`{"version":"v2","content":{"messages":[]}}`, "content.type is missing, which ManyChat reads as Messenger, but the contact is on whatsapp"},
		{`{"version":"v2","content":{"type":"instagram","messages":[]}}`, "content.type is instagram, but the contact is on whatsapp"},
		{string(envelope(manychat.WhatsApp, `"actions":[]`)), "messages of content is required"},
		{string(envelope(manychat.WhatsApp, `"messages":{}`)), "messages of content must be an array"},
		{string(envelope(manychat.WhatsApp, messages(`"hi"`))), "an element of messages must be an object"},
		{string(envelope(manychat.WhatsApp, messages(`{"type":"text","text":""}`))), "text of a message must not be empty"},
		{string(envelope(manychat.WhatsApp, messages(`{"type":"text","text":5}`))), "text of a message must be a string"},
		{string(envelope(manychat.WhatsApp, messages(`{"type":"image"}`))), "url of a message is required"},
		{string(envelope(manychat.WhatsApp, messages(`{"type":"image","url":"http://example.test/i.png"}`))), "url of a message must be an https URL"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"http://example.test","method":"post"`))), "url of external_message_callback must be an https URL"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"https://example.test"`))), "method of external_message_callback is required"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"https://example.test","method":"patch"`))), "method of external_message_callback must be get, post, put or delete"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"https://example.test","method":"post","payload":"x"`))), "payload must be an object"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"https://example.test","method":"post","headers":{"A":1}`))), "A of headers must be a string"},
		{string(envelope(manychat.WhatsApp, cb(`"url":"https://example.test","method":"post","timeout":0`))), "timeout of external_message_callback must be a number from 1 up"},
	}
	for _, tt := range tests {
		if _, got := refusal(t, []byte(tt.data), rules(manychat.WhatsApp)); got != tt.want {
			t.Errorf("%s:\n got %q\nwant %q", tt.data, got, tt.want)
		}
	}
	for _, data := range []string{"", "{", "<html>", `{"version":"v2"} x`} {
		_, err := block.Read([]byte(data), rules(manychat.WhatsApp))
		if rejection, ok := errors.AsType[*block.Rejection](err); err == nil || ok {
			t.Errorf("%q is no JSON, got %v", data, rejection)
		}
	}
}

// Holds the row `cards` of 1.3: title, subtitle and image_url are required. A picture is
// fetched, so its URL is https; action_url may be plain http.
func TestRefusedCards(t *testing.T) {
	tests := []struct{ card, want string }{
		{`"title":"T","subtitle":"S","image_url":"https://example.test/i.png","action_url":"http://example.test"`, ""},
		{`"subtitle":"S","image_url":"https://example.test/i.png"`, "title of a card is required"},
		{`"title":"T","image_url":"https://example.test/i.png"`, "subtitle of a card is required"},
		{`"title":"T","subtitle":"S"`, "image_url of a card is required"},
		{`"title":"T","subtitle":"S","image_url":"http://example.test/i.png"`, "image_url of a card must be an https URL"},
	}
	for _, tt := range tests {
		content := messages(`{"type":"cards","elements":[{` + tt.card + `}]}`)
		if _, got := refusal(t, envelope(manychat.Messenger, content), rules(manychat.Messenger)); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.card, got, tt.want)
		}
	}
}

// Holds 1.3, that a file has no buttons, and 1.5: quick replies hang under the last
// message.
func TestWhereButtonsHang(t *testing.T) {
	const quick = `,"quick_replies":[{"type":"flow","caption":"Go","target":"content1"}]`
	content := messages(`{"type":"text","text":"one"}`, `{"type":"file","url":"https://example.test/f.pdf","buttons":[{"type":"url","url":"https://example.test","caption":"Go"}]}`) + quick
	b, reason := refusal(t, envelope(manychat.Messenger, content), rules(manychat.Messenger))
	if reason != "" || len(b.Messages) != 2 {
		t.Fatalf("refused %q, %+v", reason, b)
	}
	if first := b.Messages[0]; len(first.QuickReplies) != 0 {
		t.Errorf("the first message has the quick replies %+v", first.QuickReplies)
	}
	if last := b.Messages[1]; len(last.QuickReplies) != 1 || len(last.Buttons) != 0 {
		t.Errorf("the last message has the quick replies %+v and the buttons %+v", last.QuickReplies, last.Buttons)
	}
}

// Holds "Accept empty messages? setting", the unknown keys of section 8 and 1.4:
// "node: not available through the public API".
func TestSettings(t *testing.T) {
	empty, unknown := envelope(manychat.WhatsApp, messages()), envelope(manychat.WhatsApp, messages()+`,"x":1`)
	r := rules(manychat.WhatsApp)
	if _, got := refusal(t, empty, r); got != "" {
		t.Errorf("empty messages: %s", got)
	}
	r.RefuseEmpty, r.RefuseUnknownKeys = true, true
	if _, got := refusal(t, empty, r); got != "messages must not be empty" {
		t.Errorf("got %q", got)
	}
	if _, got := refusal(t, unknown, r); got != `unknown key "x" in content` {
		t.Errorf("got %q", got)
	}
	r = rules(manychat.Messenger)
	r.Inline = false
	if _, got := refusal(t, envelope(manychat.Messenger, button(`"type":"node","target":"N"`)), r); got != `type "node" of a button is not available through the public API` {
		t.Errorf("got %q", got)
	}
}

func TestCallbackIsReadWhole(t *testing.T) {
	for timeout, want := range map[string]time.Duration{"": 24 * time.Hour, `,"timeout":90`: 90 * time.Second, `,"timeout":86401`: 24 * time.Hour} {
		content := textWith("") + fmt.Sprintf(`,"external_message_callback":{"url":"https://example.test/a","method":"post","headers":{"A":"b"},"payload":{"t":"{{x}}"}%s}`, timeout)
		b, _ := refusal(t, envelope(manychat.WhatsApp, content), rules(manychat.WhatsApp))
		cb := &phone.Callback{URL: "https://example.test/a", Method: "POST", Headers: map[string]string{"A": "b"}, Payload: []byte(`{"t":"{{x}}"}`), Timeout: want}
		if diff := cmp.Diff(cb, b.Callback); diff != "" {
			t.Errorf("%q (-want +got):\n%s", timeout, diff)
		}
	}
}
