package sandbox

import (
	"fmt"
	"net/url"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Flow is a flow of the business's account, by what a contact sees of it.
type Flow struct {
	ID    string // what the business's files call it
	NS    string // namespace
	Steps []Step // none: nobody has said what it shows, and the phone shows its id
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

// define makes what the business's files name exist in the account. The reply flow comes
// last: nothing can stand in for it.
func (a *Account) define(c AccountConfig) error {
	for _, field := range append([]string{c.ReplyField, c.TokenField}, c.Fields...) {
		if _, err := a.DefineField(field, phone.Text); err != nil {
			return fmt.Errorf("emulated account: %w", err)
		}
	}
	for _, tag := range c.Tags {
		if _, err := a.DefineTag(tag); err != nil {
			return fmt.Errorf("emulated account: %w", err)
		}
	}
	for _, f := range c.Flows {
		a.DefineFlow(manychattest.Flow{Name: f.ID, NS: f.NS, Steps: f.steps()})
	}
	a.DefineFlow(manychattest.Flow{
		Name: "AI reply", NS: c.ReplyFlow,
		Steps: []manychattest.Step{{Text: "{{" + c.ReplyField + "}}"}},
	})
	return nil
}

// steps are what the emulator plays. A flow that nobody has described shows its id, as a
// text and as a card, so that a person sees which one arrived.
func (f Flow) steps() []manychattest.Step {
	steps := f.Steps
	switch {
	case f.Quiet:
		return nil
	case len(steps) == 0:
		steps = []Step{{Text: f.ID}, {Picture: File, Title: f.ID}}
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
