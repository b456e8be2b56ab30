package flow

import (
	"net/url"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Flow is a flow of the business's account, by what a contact sees of it.
type Flow struct {
	ID    string // what the business's files call it
	NS    string // namespace
	Steps []Step // none: nobody has said what it shows, and the phone shows a picture of its id
	Quiet bool   // it shows a contact nothing, like a flow that tells another system
}

// Step is one message of a [Flow]: a text, or a picture that the sandbox draws.
type Step struct {
	After   time.Duration // since the step before it, or the flow's start
	Text    string
	Picture Picture // empty: there is none
	Title   string  // written into the picture
	Caption string  // below the picture
}

// Play is what the emulator plays of it. A flow that nobody has described shows a picture
// with its id, so that a person sees which one arrived.
func (f Flow) Play() []manychattest.Step {
	steps := f.Steps
	switch {
	case f.Quiet:
		return nil
	case len(steps) == 0:
		steps = []Step{{Picture: Image, Title: f.ID}}
	}
	out := make([]manychattest.Step, len(steps))
	for i, s := range steps {
		out[i] = manychattest.Step{Delay: s.After, Text: s.Text}
		if s.Picture != "" {
			out[i].Media = &manychattest.Media{Kind: s.Picture.kind(), URL: s.Picture.url(s.Title), Caption: s.Caption}
		}
	}
	return out
}

// kind is what ManyChat would call a message with such a picture.
func (p Picture) kind() phone.Kind {
	switch p {
	case File:
		return phone.KindFile
	case Video:
		return phone.KindVideo
	}
	return phone.KindImage
}

// url is where the page gets the picture. All that it shows is in the address, so that
// a kept chat shows the same whatever has become of the flow.
func (p Picture) url(title string) string {
	return MediaPath + "/" + string(p) + ".svg?" + url.Values{"title": {title}}.Encode()
}
