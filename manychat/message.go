package manychat

// MessageType is the value of a message's type key.
type MessageType string

// The message types of Dynamic Block v2. Which channel shows which is in
// [Capabilities].
const (
	TextMessage  MessageType = "text"
	ImageMessage MessageType = "image"
	VideoMessage MessageType = "video"
	AudioMessage MessageType = "audio"
	FileMessage  MessageType = "file"
	CardsMessage MessageType = "cards"
)

// The values of [Message].ImageAspectRatio; ManyChat takes Horizontal when the key
// is left out.
const (
	Horizontal = "horizontal"
	Square     = "square"
)

// Message is one bubble, or one gallery of cards, that the contact sees. Its Type
// says which of the other fields ManyChat reads: Text for text, URL for image, video,
// audio and file, Elements and ImageAspectRatio for cards. Buttons go under a text
// and, on Messenger, under an image, a video and an audio.
type Message struct {
	Type             MessageType `json:"type"`
	Text             string      `json:"text,omitempty"`
	URL              string      `json:"url,omitempty"` // https; at most 25 MB behind it
	Elements         []Card      `json:"elements,omitempty"`
	ImageAspectRatio string      `json:"image_aspect_ratio,omitempty"`
	Buttons          []Button    `json:"buttons,omitempty"`
}

// Card is one element of a gallery. Title, Subtitle and ImageURL are required.
type Card struct {
	Title     string   `json:"title"`
	Subtitle  string   `json:"subtitle"`
	ImageURL  string   `json:"image_url"`
	ActionURL string   `json:"action_url,omitempty"`
	Buttons   []Button `json:"buttons,omitempty"`
}

// Text returns a text message, with buttons under it if any are given.
func Text(text string, buttons ...Button) Message {
	return Message{Type: TextMessage, Text: text, Buttons: buttons}
}

// Image returns an image message.
func Image(url string) Message {
	return Message{Type: ImageMessage, URL: url}
}

// Cards returns a gallery.
func Cards(cards ...Card) Message {
	return Message{Type: CardsMessage, Elements: cards}
}
