package block

import (
	"slices"
	"unicode/utf16"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// messageChannels is the table of the platform notes, 1.3. WhatsApp images are a
// setting, see [Rules].
var messageChannels = map[phone.Kind][]manychat.Channel{
	phone.KindText:  {manychat.Messenger, manychat.Instagram, manychat.WhatsApp, manychat.Telegram},
	phone.KindImage: {manychat.Messenger, manychat.Instagram, manychat.WhatsApp, manychat.Telegram},
	phone.KindVideo: {manychat.Messenger, manychat.Telegram},
	phone.KindAudio: {manychat.Messenger, manychat.Telegram},
	phone.KindFile:  {manychat.Messenger, manychat.Telegram},
	phone.KindCards: {manychat.Messenger, manychat.Instagram},
}

// instagramText is what Meta accepts; ManyChat accepts more and nothing arrives.
const instagramText = 1000

func (r *reader) messages(c object) []phone.Item {
	if !c.has("messages") {
		r.refuse("messages of content is required")
		return nil
	}
	list := c.list("messages", "Too many messages", maxMessages)
	if len(list) == 0 && r.rules.RefuseEmpty {
		r.refuse("messages must not be empty")
	}
	var shown []phone.Item
	for _, o := range list {
		o.place = "a message"
		if m, ok := r.message(o); ok {
			shown = append(shown, m)
		}
	}
	if n := r.rules.Deliver; n > 0 && len(shown) > n {
		r.warn("only the first %d of %d messages reach a phone on %s this way", n, len(shown), r.rules.Channel)
		shown = shown[:n]
	}
	return shown
}

// message reads one message; ok is false when it is accepted but never arrives.
func (r *reader) message(o object) (m phone.Item, ok bool) {
	m.Kind = phone.Kind(o.text("type"))
	channels, known := messageChannels[m.Kind]
	switch {
	case !known:
		r.refuse("unknown message type %q", m.Kind)
		return m, false
	case !slices.Contains(channels, r.rules.Channel):
		r.refuse("message type %q is not supported on %s", m.Kind, r.rules.Channel)
		return m, false
	}
	before := len(r.warnings)
	switch m.Kind {
	case phone.KindText:
		ok = r.textMessage(o, &m)
	case phone.KindCards:
		ok = r.gallery(o, &m)
	default:
		ok = r.mediaMessage(o, &m)
	}
	m.Warnings = slices.Clone(r.warnings[before:])
	return m, ok
}

func (r *reader) textMessage(o object, m *phone.Item) bool {
	o.only("type", "text", "buttons")
	m.Text = o.text("text")
	if m.Text == "" {
		r.refuse("text of a message must not be empty")
	}
	if units(m.Text) > maxText {
		r.refuse("Provided text is longer than %d symbols", maxText)
	}
	m.Buttons = r.buttons(o)
	if !r.captionsFit(m.Buttons) {
		return false
	}
	if r.rules.Channel == manychat.Instagram && units(m.Text) > instagramText {
		r.warn("a text over %d characters is accepted but not delivered on Instagram", instagramText)
		return false
	}
	return true
}

func (r *reader) mediaMessage(o object, m *phone.Item) bool {
	o.only("type", "url", "buttons")
	m.URL = o.secureURL("url")
	if m.Kind != phone.KindFile && r.rules.Channel == manychat.Messenger {
		m.Buttons = r.buttons(o)
	} else if o.has("buttons") {
		r.warn("buttons under %s are documented for Messenger only: they are ignored", m.Kind)
	}
	if m.Kind == phone.KindImage && r.rules.Channel == manychat.WhatsApp && !r.rules.WhatsAppImages {
		r.warn("an image is accepted but not known to reach WhatsApp this way")
		return false
	}
	return r.captionsFit(m.Buttons)
}

func (r *reader) gallery(o object, m *phone.Item) bool {
	o.only("type", "elements", "image_aspect_ratio")
	switch ratio := o.optionalText("image_aspect_ratio"); ratio {
	case "", "horizontal", "square":
	default:
		r.refuse("image_aspect_ratio must be horizontal or square, not %q", ratio)
	}
	cards := o.list("elements", "Too many cards", maxCards)
	if len(cards) == 0 {
		r.refuse("elements of a cards message is required")
	}
	fit := true
	for _, c := range cards {
		card := r.card(c)
		fit = r.captionsFit(card.Buttons) && fit
		m.Cards = append(m.Cards, card)
	}
	return fit
}

func (r *reader) card(o object) phone.Card {
	o.place = "a card"
	o.only("title", "subtitle", "image_url", "action_url", "buttons")
	c := phone.Card{
		Title: o.text("title"), Subtitle: o.text("subtitle"),
		ImageURL: o.secureURL("image_url"), ActionURL: o.optionalText("action_url"),
		Buttons: r.buttons(o),
	}
	if units(c.Title) > maxCardText || units(c.Subtitle) > maxCardText {
		r.warn("the title and subtitle of a card hold at most %d characters in the builder", maxCardText)
	}
	return c
}

// units counts UTF-16 code units.
func units(s string) int {
	n := 0
	for _, c := range s {
		n += utf16.RuneLen(c)
	}
	return n
}
