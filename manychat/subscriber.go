package manychat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Subscriber is what ManyChat knows of a contact. For real contacts most strings are
// null at ManyChat; they are empty here. Times are left as ManyChat writes them, W3C
// date-times.
type Subscriber struct {
	ID              ID            `json:"id"`
	PageID          ID            `json:"page_id"`
	FirstName       string        `json:"first_name"`
	LastName        string        `json:"last_name"`
	Name            string        `json:"name"`
	Gender          string        `json:"gender"`
	Locale          string        `json:"locale"`
	Language        string        `json:"language"`
	Timezone        string        `json:"timezone"` // such as UTC-07
	LiveChatURL     string        `json:"live_chat_url"`
	LastInputText   string        `json:"last_input_text"` // also repeats the previous text after a sticker
	Phone           string        `json:"phone"`
	Email           string        `json:"email"`
	WhatsAppPhone   string        `json:"whatsapp_phone"`
	IGUsername      string        `json:"ig_username"`
	OptinWhatsApp   bool          `json:"optin_whatsapp"`
	Subscribed      string        `json:"subscribed"`
	LastSeen        string        `json:"last_seen"`
	LastInteraction string        `json:"last_interaction"`
	CustomFields    []CustomField `json:"custom_fields"`
	Tags            []Tag         `json:"tags"`
}

// CustomField is one field of a contact.
type CustomField struct {
	ID          ID     `json:"id"`
	Name        string `json:"name"`
	Type        string `json:"type"` // text, number, date, datetime or boolean
	Description string `json:"description"`
	Value       any    `json:"value"` // string, [json.Number], bool or nil
}

// Tag is one tag of a contact.
type Tag struct {
	ID   ID     `json:"id"`
	Name string `json:"name"`
}

// Field returns the value of the named custom field, whose case ManyChat does not tell
// apart; ok is false when the contact has no such field.
func (s Subscriber) Field(name string) (value any, ok bool) {
	for _, f := range s.CustomFields {
		if strings.EqualFold(f.Name, name) {
			return f.Value, true
		}
	}
	return nil, false
}

// HasTag reports whether the contact has the tag. ManyChat does tell VIP from vip.
func (s Subscriber) HasTag(name string) bool {
	for _, t := range s.Tags {
		if t.Name == name {
			return true
		}
	}
	return false
}

// ID is one of ManyChat's ids, whole: it may exceed 2^53. ManyChat writes ids as
// strings in some places and as numbers in others; an ID reads both.
type ID string

// UnmarshalJSON reads a string, a number, or null as the empty ID.
func (id *ID) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(id))
	}
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return fmt.Errorf("manychat: an id is a string or a number: %w", err)
	}
	*id = ID(n)
	return nil
}

// decodeSubscriber reads the data of getInfo; a contact without an id is none. What has another
// type than expected, such as an object where a list is empty, is passed over: most of it
// is of no use to anyone.
func decodeSubscriber(data []byte) (Subscriber, bool) {
	var s Subscriber
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	err := dec.Decode(&s)
	var odd *json.UnmarshalTypeError // the rest was decoded all the same
	if err != nil && !errors.As(err, &odd) || s.ID == "" {
		return Subscriber{}, false
	}
	return s, true
}
