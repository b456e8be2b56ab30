package phone

import "time"

// Flow is a flow of the account. Chats, calls and events name it by its namespace.
type Flow struct {
	Name  string `json:"name"`
	NS    string `json:"ns"` // namespace; empty: derived from the name
	Steps []Step `json:"steps"`
}

// Step is one block of a flow. It waits Delay, reads what it needs, and then does
// all the things that are set, in the order of the fields.
type Step struct {
	Delay     time.Duration `json:"delay,omitempty"`
	SetField  *Assignment   `json:"set_field,omitempty"`
	AddTag    string        `json:"add_tag,omitempty"`
	RemoveTag string        `json:"remove_tag,omitempty"`
	Text      string        `json:"text,omitempty"` // may hold variables
	Media     *Media        `json:"media,omitempty"`
	Cards     []Card        `json:"cards,omitempty"`
	Buttons   []Button      `json:"buttons,omitempty"` // under the text, or under the media when there is no text
	// Template marks an approved WhatsApp template: the only step that reaches a
	// contact outside the 24-hour window.
	Template bool `json:"template,omitempty"`
}

// Media is a media message of a flow. Caption may hold variables.
type Media struct {
	Kind    Kind   `json:"kind"`
	URL     string `json:"url"`
	Caption string `json:"caption,omitempty"`
}

// Assignment sets a custom field. Value may hold variables; it is converted to
// the field's type, and an empty result clears the field.
type Assignment struct {
	Field string `json:"field"`
	Value string `json:"value"`
}
