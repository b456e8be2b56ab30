package delivery_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
)

func shapeOf(t *testing.T, c contact.Channel, join bool) delivery.Shape {
	t.Helper()
	s, err := delivery.ShapeOf(c, join)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Holds docs/spec/05-delivery.md, "A deferred reply is two calls per message", and
// docs/spec/02-inbound.md, "Response: Dynamic Block v2": what a response carries and
// what follows it.
func TestTextsAndCut(t *testing.T) {
	long := strings.Repeat("word ", 500) // 2500 units
	tests := []struct {
		name     string
		channel  contact.Channel
		join     bool
		messages []string
		now      int
		later    int
	}{
		{"joined on WhatsApp", contact.WhatsApp, true, []string{"one", "two", "three"}, 1, 0},
		{"not joined when switched off", contact.WhatsApp, false, []string{"one", "two", "three"}, 3, 0},
		{"overflow of a long reply", contact.WhatsApp, true, []string{long, long}, 1, 2},
		{"Instagram keeps messages and splits at 1000", contact.Instagram, true, []string{"one", long}, 4, 0},
		{"ten on the wire", contact.Telegram, true, strings.Split(strings.Repeat("x ", 12), " ")[:12], 10, 2},
		{"nothing", contact.WhatsApp, true, nil, 0, 0},
		{"white space", contact.WhatsApp, true, []string{" ", "\n"}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := shapeOf(t, tt.channel, tt.join)
			now, later := s.Cut(s.Texts(tt.messages))
			if len(now) != tt.now || len(later) != tt.later {
				t.Errorf("%d now and %d later, want %d and %d", len(now), len(later), tt.now, tt.later)
			}
			if _, err := s.Render(now, nil); err != nil {
				t.Errorf("ManyChat would drop the response: %v", err)
			}
		})
	}
	if got := shapeOf(t, contact.WhatsApp, true).Texts([]string{"one", "two"}); !cmp.Equal(got, []string{"one\n\ntwo"}) {
		t.Errorf("joined texts are %q", got)
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2".
func TestRender(t *testing.T) {
	cb := &delivery.Callback{URL: "https://agent.example/m", Secret: "presented", Payload: map[string]string{"text": "{{last_input_text}}"}}
	const callback = `,"external_message_callback":{"url":"https://agent.example/m","method":"post",` +
		`"headers":{"Authorization":"Bearer presented","Content-Type":"application/json"},"payload":{"text":"{{last_input_text}}"},"timeout":86400}`
	tests := []struct {
		name    string
		channel contact.Channel
		texts   []string
		cb      *delivery.Callback
		want    string
	}{
		{"WhatsApp", contact.WhatsApp, []string{"hi"}, cb, `{"version":"v2","content":{"type":"whatsapp","messages":[{"type":"text","text":"hi"}]` + callback + `}}`},
		{"Messenger has no type", contact.Messenger, []string{"hi"}, cb, `{"version":"v2","content":{"messages":[{"type":"text","text":"hi"}]` + callback + `}}`},
		{"silent", contact.Instagram, nil, cb, `{"version":"v2","content":{"type":"instagram","messages":[]` + callback + `}}`},
		{"without a callback", contact.Telegram, []string{"a", "b"}, nil, `{"version":"v2","content":{"type":"telegram","messages":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			response, err := shapeOf(t, tt.channel, true).Render(tt.texts, tt.cb)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(response)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/01-principles.md, C3: a response that ManyChat would drop is never
// written.
func TestRenderRefuses(t *testing.T) {
	tests := []struct {
		name  string
		texts []string
		cb    *delivery.Callback
	}{
		{"a text too long", []string{strings.Repeat("x", 2001)}, nil},
		{"an empty text", []string{""}, nil},
		{"too many texts", make([]string, 11), nil},
		{"a callback without TLS", []string{"hi"}, &delivery.Callback{URL: "http://agent.example/m"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := shapeOf(t, contact.WhatsApp, true).Render(tt.texts, tt.cb); err == nil {
				t.Error("it was rendered")
			}
		})
	}
	if _, err := delivery.ShapeOf("carrier pigeon", true); err == nil {
		t.Error("an unknown channel has a shape")
	}
}
