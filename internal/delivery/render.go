package delivery

import (
	"fmt"

	"github.com/manychat-agent/manychat-agent/manychat"
)

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
// that ManyChat would drop; texts that [Shape.Texts] and [Shape.Cut] made always fit.
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
