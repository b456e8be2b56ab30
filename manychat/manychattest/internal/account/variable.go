package account

import (
	"strconv"
	"strings"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Variables resolves the variables of one contact: system names, {{cuf_<id>}} of
// custom fields, {{gaf_<id>}} of bot fields and, when byName is set, custom fields
// by their name.
func (s *State) Variables(c *Contact, byName bool) func(name string) (any, bool) {
	return func(name string) (any, bool) {
		if v, ok := system(c, name); ok {
			return v, true
		}
		if id, ok := numbered(name, "cuf_"); ok {
			f, known := s.FieldByID(id)
			return c.Fields[f.Name], known
		}
		if id, ok := numbered(name, "gaf_"); ok {
			if f := s.BotFieldByID(id); f != nil {
				return f.Value, true
			}
			return nil, false
		}
		if f, known := s.Field(name); known && byName {
			return c.Fields[f.Name], true
		}
		return nil, false
	}
}

func numbered(name, prefix string) (int64, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	if !ok {
		return 0, false
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	return id, err == nil
}

func system(c *Contact, name string) (any, bool) {
	switch name {
	case "user_id", "contact.id":
		return c.ID, true
	case "first_name":
		return c.FirstName, true
	case "last_name":
		return c.LastName, true
	case "full_name":
		return c.Name(), true
	case "email":
		return c.Email, true
	case "phone":
		return c.Phone, true
	case "whatsapp_phone":
		return c.WhatsAppPhone, true
	case "ig_username":
		return c.InstagramUsername, true
	case "gender":
		return c.Gender, true
	case "locale":
		return c.Locale, true
	case "language":
		return c.Language, true
	case "timezone":
		return c.Timezone, true
	case "last_input_text":
		return c.LastInput, true
	}
	return nil, false
}

// FullContactData is the object that ManyChat builds itself for a request body
// (platform notes, 1.8): ids as numbers, custom fields as an object of typed
// values. pageID is the account's.
func (s *State) FullContactData(c *Contact, pageID string) map[string]any {
	fields := make(map[string]any, len(s.Fields))
	for _, f := range s.Fields {
		fields[f.Name] = c.Fields[f.Name]
	}
	data := map[string]any{
		"id": number(c.ID), "key": "user:" + c.ID, "page_id": number(pageID),
		"status": "active", "first_name": text(c.FirstName), "last_name": text(c.LastName),
		"name": text(c.Name()), "gender": text(c.Gender), "profile_pic": text(c.ProfilePic),
		"locale": text(c.Locale), "language": text(c.Language), "timezone": text(c.Timezone),
		"live_chat_url":   LiveChatURL(pageID, c.ID),
		"last_input_text": text(c.LastInput), "last_growth_tool": nil,
		"subscribed": Instant(c.Subscribed), "last_interaction": Instant(c.LastInteraction),
		"last_seen": Instant(c.LastInteraction), "custom_fields": fields,
	}
	switch c.Channel {
	case manychat.WhatsApp:
		data["whatsapp_phone"] = text(c.WhatsAppPhone)
	case manychat.Instagram:
		data["ig_id"], data["ig_username"] = c.InstagramID, text(c.InstagramUsername)
		data["ig_last_interaction"] = Instant(c.LastInteraction)
		data["ig_last_seen"] = Instant(c.LastInteraction)
	}
	return data
}

// LiveChatURL is the address of a contact's conversation in ManyChat's inbox.
func LiveChatURL(pageID, contact string) string {
	return "https://app.manychat.com/fb" + pageID + "/chat/" + contact
}

// Instant is a time in the W3C form of the public API; nil for the zero time.
func Instant(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.Format("2006-01-02T15:04:05-07:00")
}

func text(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// number is an id as a JSON number, every digit kept.
func number(id string) any {
	if n, err := strconv.ParseInt(id, 10, 64); err == nil {
		return n
	}
	return id
}
