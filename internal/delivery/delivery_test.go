package delivery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/manychat"
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
		{"a copy of 5000 characters on WhatsApp", contact.WhatsApp, true, []string{strings.Repeat("word ", 1000)}, 1, 2},
		{"the same on Instagram", contact.Instagram, true, []string{strings.Repeat("word ", 1000)}, 5, 0},
		{"the same on Messenger", contact.Messenger, true, []string{strings.Repeat("word ", 1000)}, 3, 0},
		{"the same on Telegram", contact.Telegram, true, []string{strings.Repeat("word ", 1000)}, 3, 0},
		{"without a place to cut at", contact.Instagram, true, []string{strings.Repeat("x", 5000)}, 5, 0},
		{"one grapheme of 5000 characters", contact.Instagram, true, []string{"x" + strings.Repeat("\u0301", 4999)}, 5, 0},
		{"one link of 5000 characters", contact.Instagram, true, []string{"https://a.example/" + strings.Repeat("x", 4982)}, 5, 0},
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
	if got := shapeOf(t, contact.WhatsApp, true).Texts([]string{"one", " ", "two\n"}); !cmp.Equal(got, []string{"one\n\ntwo"}) {
		t.Errorf("joined texts are %q", got)
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
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": a model's Markdown is shown as
// the channel can, and what comes to nothing is not sent.
func TestStyled(t *testing.T) {
	messages := []string{"**Basic** is [here](https://shop.example/a_b)", "---", " ", "5 * 3"}
	tests := map[contact.Channel][]string{
		contact.WhatsApp:  {"*Basic* is here: https://shop.example/a_b", "5 * 3"},
		contact.Instagram: {"Basic is here: https://shop.example/a_b", "5 * 3"},
		contact.Messenger: {"Basic is here: https://shop.example/a_b", "5 * 3"},
		contact.Telegram:  {"Basic is here: https://shop.example/a_b", "5 * 3"},
	}
	for channel, want := range tests {
		if diff := cmp.Diff(want, shapeOf(t, channel, true).Styled(messages)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", channel, diff)
		}
	}
	if got := shapeOf(t, contact.WhatsApp, true).Styled([]string{"---"}); len(got) != 0 {
		t.Errorf("a rule alone is %q", got)
	}
}

// Holds docs/spec/02-inbound.md, "Request body": a request may name any channel, and a name
// that is none is answered too.
func TestShapes(t *testing.T) {
	shapes, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		channel contact.Channel
		want    manychat.Channel
	}{
		{contact.WhatsApp, "whatsapp"},
		{contact.Instagram, "instagram"},
		{contact.Messenger, ""},
		{contact.Telegram, "telegram"},
		{"carrier pigeon", "whatsapp"},
		{"", "whatsapp"},
	}
	for _, tt := range tests {
		response, err := shapes.For(tt.channel).Render([]string{"hi"}, nil)
		if err != nil || response.Content.Type != tt.want {
			t.Errorf("%q: type %q, error %v", tt.channel, response.Content.Type, err)
		}
	}
	if _, err := delivery.ShapeOf("carrier pigeon", true); err == nil {
		t.Error("an unknown channel has a shape")
	}
	var none delivery.Shapes
	shape := none.For(contact.WhatsApp)
	if _, err := shape.Render(shape.Texts([]string{"hi"}), nil); err == nil {
		t.Error("shapes that were not made render")
	}
}
