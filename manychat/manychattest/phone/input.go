package phone

// Input is what a contact sends. The zero Kind is a text.
type Input struct {
	Kind Kind   `json:"kind,omitempty"`
	Text string `json:"text,omitempty"` // the text, a caption, or the caption tapped
	// Data is the media itself, served under the URL the message gets. Empty: a
	// small valid placeholder of the kind.
	Data []byte `json:"data,omitempty"`
}
