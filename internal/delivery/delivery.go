// Package delivery decides what goes out now and what goes out later: it styles what a
// model wrote for the channel, joins and splits a reply's messages, picks what a response
// can carry, and renders a Dynamic Block with its callback.
package delivery

import (
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery/style"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Shape is how a tenant's channel takes texts.
type Shape struct {
	caps manychat.Capabilities
	kind manychat.Channel
	join bool
}

// ShapeOf returns the shape of a channel. With join, messages of a reply become one
// text on a channel that has been seen to deliver only one (WHATSAPP_JOIN).
func ShapeOf(c contact.Channel, join bool) (Shape, error) {
	caps, ok := manychat.CapabilitiesOf(manychat.Channel(c))
	if !ok {
		return Shape{}, fmt.Errorf("channel %q is not one of ManyChat's", c)
	}
	return Shape{caps: caps, kind: manychat.Channel(c), join: join}, nil
}

// Styled turns the Markdown in what a model wrote into what the channel shows, message by
// message, before [Shape.Texts]. A message of which nothing is left to read is dropped, so
// there may be none: a reply that says nothing. What people wrote for the channel, such as
// a tenant's own copy, is not to pass through here.
func (s Shape) Styled(messages []string) []string {
	styled := make([]string, 0, len(messages))
	for _, m := range messages {
		if m = style.Render(m, s.caps.Bold); strings.TrimSpace(m) != "" {
			styled = append(styled, m)
		}
	}
	return styled
}

// Texts turns the messages of a reply into the texts that go out, in order: joined with
// blank lines between where the channel delivers only one, each within the channel's
// length.
func (s Shape) Texts(messages []string) []string {
	if s.caps.Delivered == 1 && s.join {
		return s.split(joined(messages))
	}
	texts := make([]string, 0, len(messages))
	for _, m := range messages {
		texts = append(texts, s.split(m)...)
	}
	return texts
}

func (s Shape) split(message string) []string {
	if s.caps.Bold {
		return splitMarked(message, s.caps.TextUnits)
	}
	return Split(message, s.caps.TextUnits)
}

// joined makes one text of messages, leaving out those that say nothing.
func joined(messages []string) string {
	var b strings.Builder
	size := 0
	for _, m := range messages {
		size += len(m) + len("\n\n")
	}
	b.Grow(size)
	for _, m := range messages {
		if m = strings.TrimSpace(m); m == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(m)
	}
	return b.String()
}

// Copy is what one response carries of a text of the tenant's own.
func (s Shape) Copy(text string) []string {
	now, _ := s.Cut(s.Texts([]string{text}))
	return now
}

// Cut divides texts into what one response carries and what follows it through the
// outbox.
func (s Shape) Cut(texts []string) (now, later []string) {
	most := s.caps.Messages
	if s.join {
		most = min(most, s.caps.Delivered)
	}
	if len(texts) <= most {
		return texts, nil
	}
	return texts[:most], texts[most:]
}
