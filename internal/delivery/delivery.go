// Package delivery decides what goes out now and what goes out later: it joins and
// splits a reply's messages for the channel, picks what a response can carry, and
// renders a Dynamic Block with its callback.
package delivery

import (
	"fmt"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/contact"
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

// Texts turns the messages of a reply into the texts that go out, in order: joined
// where the channel delivers only one, each within the channel's length.
func (s Shape) Texts(messages []string) []string {
	if s.caps.Delivered == 1 && s.join {
		messages = []string{strings.Join(messages, "\n\n")}
	}
	var texts []string
	for _, m := range messages {
		texts = append(texts, Split(m, s.caps.TextUnits)...)
	}
	return texts
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

// Callback is what ManyChat is asked to do with the contact's next message.
type Callback struct {
	URL     string            // this service's message endpoint, https
	Secret  string            // the one that the caller presented
	Payload map[string]string // body keys to ManyChat variables
}

// callbackSeconds is ManyChat's longest and default timeout of a callback
// (docs/spec/02-inbound.md).
const callbackSeconds = 86400

// Render builds the response that carries texts, none for a silent one, and
// registers the callback unless it is nil. It fails rather than return a response
// that ManyChat would drop.
func (s Shape) Render(texts []string, cb *Callback) (manychat.Response, error) {
	r := manychat.Response{Version: manychat.Version}
	r.Content.Type = manychat.Channel(s.kind.ContentType())
	r.Content.Messages = make([]manychat.Message, 0, len(texts))
	for _, t := range texts {
		r.Content.Messages = append(r.Content.Messages, manychat.Text(t))
	}
	if cb != nil {
		r.Content.Callback = &manychat.Callback{
			URL:     cb.URL,
			Method:  "post",
			Headers: map[string]string{"Authorization": "Bearer " + cb.Secret, "Content-Type": "application/json"},
			Payload: cb.Payload,
			Timeout: callbackSeconds,
		}
	}
	if err := r.Validate(s.kind); err != nil {
		return manychat.Response{}, fmt.Errorf("render a %s response: %w", s.kind, err)
	}
	return r, nil
}
