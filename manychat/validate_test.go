package manychat_test

import (
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": every limit of the
// channel is exact, counted in UTF-16 units, on every channel.
func TestValidateLimits(t *testing.T) {
	flow := manychat.FlowButton("Go", "content20260101000000_123456")
	card := manychat.Card{Title: "a", Subtitle: "b", ImageURL: "https://media.example.com/a.jpg"}
	tests := []struct {
		name  string
		limit func(manychat.Capabilities) int
		fill  func(c *manychat.Content, n int)
	}{
		{"messages", func(k manychat.Capabilities) int { return k.Messages }, func(c *manychat.Content, n int) {
			c.Messages = repeat(manychat.Text("x"), n)
		}},
		{"actions", func(k manychat.Capabilities) int { return k.Actions }, func(c *manychat.Content, n int) {
			c.Actions = repeat(manychat.AddTag("lead"), n)
		}},
		{"quick replies", func(k manychat.Capabilities) int { return k.QuickReplies }, func(c *manychat.Content, n int) {
			c.QuickReplies = repeat(manychat.FlowQuickReply("Go", "content20260101000000_123456"), n)
		}},
		{"buttons", func(k manychat.Capabilities) int { return k.ButtonsPerText }, func(c *manychat.Content, n int) {
			c.Messages = []manychat.Message{manychat.Text("x", repeat(flow, n)...)}
		}},
		{"button actions", func(k manychat.Capabilities) int { return k.Actions }, func(c *manychat.Content, n int) {
			b := flow
			b.Actions = repeat(manychat.AddTag("lead"), n)
			c.Messages = []manychat.Message{manychat.Text("x", b)}
		}},
		{"text", func(k manychat.Capabilities) int { return k.TextUnits }, func(c *manychat.Content, n int) {
			c.Messages = []manychat.Message{manychat.Text(unitsOf(n))}
		}},
		{"caption", func(k manychat.Capabilities) int { return k.CaptionUnits }, func(c *manychat.Content, n int) {
			c.Messages = []manychat.Message{manychat.Text("x", manychat.FlowButton(unitsOf(n), "content20260101000000_123456"))}
		}},
		{"cards", func(k manychat.Capabilities) int {
			if !k.Cards {
				return 0
			}
			return 10
		}, func(c *manychat.Content, n int) {
			if n > 0 {
				c.Messages = []manychat.Message{manychat.Cards(repeat(card, n)...)}
			}
		}},
		{"callback timeout", func(manychat.Capabilities) int { return 86400 }, func(c *manychat.Content, n int) {
			c.Callback = callback()
			c.Callback.Timeout = n
		}},
	}
	for _, channel := range manychat.Channels() {
		caps, _ := manychat.CapabilitiesOf(channel)
		for _, tt := range tests {
			t.Run(string(channel)+"/"+tt.name, func(t *testing.T) {
				limit := tt.limit(caps)
				r := manychat.NewResponse(channel)
				tt.fill(&r.Content, limit)
				if err := r.Validate(channel); err != nil {
					t.Errorf("at the limit of %d: %v", limit, err)
				}
				tt.fill(&r.Content, limit+1)
				if r.Validate(channel) == nil {
					t.Errorf("one over the limit of %d: no error", limit)
				}
			})
		}
	}
}

func repeat[T any](v T, n int) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// unitsOf returns n UTF-16 units in as few runes as it can.
func unitsOf(n int) string {
	return strings.Repeat("x", n%2) + strings.Repeat("😀", n/2)
}

func TestValidateEnvelope(t *testing.T) {
	ok := manychat.NewResponse(manychat.WhatsApp, manychat.Text("x"))
	tests := []struct {
		name    string
		channel manychat.Channel
		change  func(*manychat.Response)
		want    string
	}{
		{"version", manychat.WhatsApp, func(r *manychat.Response) { r.Version = "" }, `version: must be "v2"`},
		{"type missing", manychat.WhatsApp, func(r *manychat.Response) { r.Content.Type = "" }, `content.type: must be "whatsapp"`},
		{"type of another", manychat.Telegram, func(*manychat.Response) {}, `content.type: must be "telegram"`},
		{"type on Messenger", manychat.Messenger, func(r *manychat.Response) { r.Content.Type = "messenger" }, "content.type: must be left out on messenger"},
		{"null messages", manychat.WhatsApp, func(r *manychat.Response) { r.Content.Messages = nil }, "content.messages: is null; a silent response has an empty array"},
		{"negative timeout", manychat.WhatsApp, func(r *manychat.Response) {
			r.Content.Callback = callback()
			r.Content.Callback.Timeout = -1
		}, "content.external_message_callback.timeout: must be from 1 to 86400 seconds, or left out"},
		{"unknown channel", "sms", func(*manychat.Response) {}, "content.type: is for an unknown channel; want one of [whatsapp instagram messenger telegram]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ok
			tt.change(&r)
			if got := problemLines(t, r.Validate(tt.channel)); got != tt.want {
				t.Errorf("problems:\n%s\nwant:\n%s", got, tt.want)
			}
		})
	}
}

// Holds docs/spec/01-principles.md, C5: an error of Validate is logged, so it quotes
// nothing that the response says.
func TestInvalidErrorQuotesNothing(t *testing.T) {
	const private = "Ada-Lovelace"
	r := manychat.NewResponse(manychat.WhatsApp,
		manychat.Text(strings.Repeat(private, 200), manychat.URLButton(private+private, "http://"+private+".example.com")))
	r.Content.Actions = []manychat.Action{manychat.SetField(private, []string{private})}
	err := r.Validate(manychat.WhatsApp)
	if err == nil || strings.Contains(err.Error(), private) {
		t.Errorf("Validate: %v", err)
	}
}

func TestUTF16Len(t *testing.T) {
	for s, want := range map[string]int{"": 0, "abc": 3, "é": 1, "你好": 2, "😀": 2, "👍🏽": 4, "\xff": 1} {
		if got := manychat.UTF16Len(s); got != want {
			t.Errorf("UTF16Len(%q) = %d, want %d", s, got, want)
		}
	}
}
