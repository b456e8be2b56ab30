package phone

import "time"

// From says who wrote an [Item].
type From string

// The two sides of a chat.
const (
	FromContact  From = "contact"
	FromBusiness From = "business"
)

// Via says how a business [Item] came to the phone. It is empty on the contact's own.
type Via string

// The three routes to a phone.
const (
	ViaInline  Via = "inline"  // in the HTTP response to a Dynamic Block or a callback
	ViaFlow    Via = "flow"    // by a step of a flow
	ViaContent Via = "content" // by sendContent or sendContentByUserRef
)

// Kind is the kind of a message, in either direction.
type Kind string

// The kinds a phone shows. Voice, sticker, reaction and tap come only from a
// contact; audio, file and cards only from the business.
const (
	KindText     Kind = "text"
	KindImage    Kind = "image"
	KindVideo    Kind = "video"
	KindAudio    Kind = "audio"
	KindFile     Kind = "file"
	KindCards    Kind = "cards"
	KindVoice    Kind = "voice"
	KindSticker  Kind = "sticker"
	KindReaction Kind = "reaction"
	KindTap      Kind = "tap" // a tap on a button or a quick reply, named by its caption
)

// Item is one bubble of a chat. Items of a contact are in the order the phone
// shows them.
type Item struct {
	ID           int64     `json:"id"` // rises through the account
	Contact      string    `json:"contact"`
	From         From      `json:"from"`
	Via          Via       `json:"via,omitempty"`
	Kind         Kind      `json:"kind"`
	Text         string    `json:"text,omitempty"` // the text, a caption, or the caption tapped
	URL          string    `json:"url,omitempty"`  // of media
	Cards        []Card    `json:"cards,omitempty"`
	Buttons      []Button  `json:"buttons,omitempty"`
	QuickReplies []Button  `json:"quick_replies,omitempty"`
	Flow         string    `json:"flow,omitempty"` // namespace, when a flow showed it
	Template     bool      `json:"template,omitempty"`
	At           time.Time `json:"at"`
	Warnings     []string  `json:"warnings,omitempty"`
}

// Card is an element of a gallery.
type Card struct {
	Title     string   `json:"title"`
	Subtitle  string   `json:"subtitle,omitempty"`
	ImageURL  string   `json:"image_url,omitempty"`
	ActionURL string   `json:"action_url,omitempty"`
	Buttons   []Button `json:"buttons,omitempty"`
}

// Button is a button or a quick reply.
type Button struct {
	Type     string    `json:"type"`
	Caption  string    `json:"caption"`
	URL      string    `json:"url,omitempty"`
	Target   string    `json:"target,omitempty"` // flow namespace or node name
	Phone    string    `json:"phone,omitempty"`
	Callback *Callback `json:"callback,omitempty"` // of a dynamic_block_callback
	Actions  []Action  `json:"actions,omitempty"`
}

// Action changes a tag or a custom field of the contact.
type Action struct {
	Action string `json:"action"` // add_tag, remove_tag, set_field_value, unset_field_value
	Tag    string `json:"tag_name,omitempty"`
	Field  string `json:"field_name,omitempty"`
	Value  any    `json:"value,omitempty"` // string, float64 or bool
}
