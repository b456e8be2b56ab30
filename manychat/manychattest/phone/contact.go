package phone

import (
	"encoding/json"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Contact is a person of the account, as an operator sees them.
type Contact struct {
	// ID is the subscriber id: digits, carried as a string because Messenger ids
	// exceed 2^53. Left empty on a new contact, the emulator allots one: nine or
	// ten digits, or seventeen on Messenger.
	ID      string           `json:"id"`
	Channel manychat.Channel `json:"channel"` // empty on a new contact: the account's

	FirstName  string `json:"first_name,omitempty"`
	LastName   string `json:"last_name,omitempty"`
	Gender     string `json:"gender,omitempty"`
	ProfilePic string `json:"profile_pic,omitempty"`
	Locale     string `json:"locale,omitempty"`
	Language   string `json:"language,omitempty"`
	Timezone   string `json:"timezone,omitempty"` // like UTC-07

	Phone             string `json:"phone,omitempty"`
	Email             string `json:"email,omitempty"`
	WhatsAppPhone     string `json:"whatsapp_phone,omitempty"`
	InstagramID       int64  `json:"ig_id,omitempty"`
	InstagramUsername string `json:"ig_username,omitempty"`
	UserRef           string `json:"user_ref,omitempty"` // a digit string, may be negative

	// OTNTopics are the one-time-notification topics the contact gave a token for.
	OTNTopics []string `json:"otn_topics,omitempty"`

	OptInSMS   bool `json:"optin_phone,omitempty"`
	OptInEmail bool `json:"optin_email,omitempty"`

	LastInput       string    `json:"last_input_text,omitempty"`
	LastInteraction time.Time `json:"last_interaction,omitzero"` // of the contact; opens the 24-hour window
	Subscribed      time.Time `json:"subscribed,omitzero"`       // empty on a new contact: now

	Tags []string `json:"tags,omitempty"`
	// Fields holds custom field values by field name: string (also for dates),
	// float64 or bool. A missing key is an empty field.
	Fields map[string]any `json:"fields,omitempty"`

	Inactive bool `json:"inactive,omitempty"` // every send answers "Subscriber is not active"
	Blocked  bool `json:"blocked,omitempty"`  // every send answers 200 with an error status

	// Callback is the armed external_message_callback, nil when there is none. It
	// is armed by a response, never by the caller: a new contact ignores it.
	Callback *Callback `json:"callback,omitempty"`
}

// Name is the full name, as findByName compares it.
func (c Contact) Name() string {
	switch {
	case c.FirstName == "":
		return c.LastName
	case c.LastName == "":
		return c.FirstName
	}
	return c.FirstName + " " + c.LastName
}

// Callback is a request that ManyChat makes later: an external_message_callback,
// or the one behind a dynamic_block_callback button. Payload is JSON whose strings
// may hold variables.
type Callback struct {
	URL     string            `json:"url"`
	Method  string            `json:"method"`
	Headers map[string]string `json:"headers,omitempty"`
	Payload json.RawMessage   `json:"payload,omitempty"`
	Timeout time.Duration     `json:"timeout,omitempty"`   // how long it stays armed, at most a day
	Expires time.Time         `json:"expires_at,omitzero"` // set when it is armed
}

// FieldType is the type of a custom field or bot field.
type FieldType string

// The field types of ManyChat's OpenAPI file.
const (
	Text     FieldType = "text"
	Number   FieldType = "number"
	Boolean  FieldType = "boolean"
	Date     FieldType = "date"     // YYYY-MM-DD
	DateTime FieldType = "datetime" // see the two forms in package manychattest
)

// Valid reports whether t is one of the constants.
func (t FieldType) Valid() bool {
	switch t {
	case Text, Number, Boolean, Date, DateTime:
		return true
	}
	return false
}
