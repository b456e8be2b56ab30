package manychat

// ManyChat's flow builder caps a gallery and its cards at these numbers.
const (
	maxCards     = 10
	maxCardUnits = 80 // title and subtitle, in UTF-16 code units
)

func (v *validator) messages(path string, messages []Message) {
	if messages == nil {
		v.addf(path, "is null; a silent response has an empty array")
	}
	v.atMost(path, len(messages), v.caps.Messages)
	for i, m := range messages {
		v.message(at(path, i), m)
	}
}

func (v *validator) message(path string, m Message) {
	if !v.caps.Shows(m.Type) {
		v.addf(path+".type", "is not a message type of this channel")
		return
	}
	switch m.Type {
	case TextMessage:
		v.text(path+".text", m.Text, v.caps.TextUnits)
	case CardsMessage:
		v.cards(path, m)
	default:
		v.https(path+".url", m.URL)
	}
	if len(m.Buttons) > 0 && !v.takesButtons(m.Type) {
		v.addf(path+".buttons", "must be left out under %s messages on this channel", m.Type)
		return
	}
	v.buttons(path+".buttons", m.Buttons)
}

// takesButtons reports whether buttons may stand under a message; those of a gallery
// stand under its cards.
func (v *validator) takesButtons(t MessageType) bool {
	switch t {
	case TextMessage:
		return true
	case ImageMessage, VideoMessage, AudioMessage:
		return v.caps.MediaButtons
	}
	return false
}

func (v *validator) cards(path string, m Message) {
	if len(m.Elements) == 0 {
		v.addf(path+".elements", "is empty")
	}
	v.atMost(path+".elements", len(m.Elements), maxCards)
	if m.ImageAspectRatio != "" {
		v.oneOf(path+".image_aspect_ratio", m.ImageAspectRatio, Horizontal, Square)
	}
	for i, card := range m.Elements {
		v.card(at(path+".elements", i), card)
	}
}

func (v *validator) card(path string, card Card) {
	v.text(path+".title", card.Title, maxCardUnits)
	v.text(path+".subtitle", card.Subtitle, maxCardUnits)
	v.https(path+".image_url", card.ImageURL)
	if card.ActionURL != "" {
		v.https(path+".action_url", card.ActionURL)
	}
	v.buttons(path+".buttons", card.Buttons)
}
