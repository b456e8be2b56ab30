package operation

import (
	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// profile is the Subscriber object of getInfo (3.2). What a contact does not have
// is null, as for real WhatsApp contacts.
type profile struct {
	ID                string         `json:"id"`
	PageID            string         `json:"page_id"`
	UserRefs          []userRef      `json:"user_refs"`
	FirstName         *string        `json:"first_name"`
	LastName          *string        `json:"last_name"`
	Name              *string        `json:"name"`
	Gender            *string        `json:"gender"`
	ProfilePic        *string        `json:"profile_pic"`
	Locale            *string        `json:"locale"`
	Language          *string        `json:"language"`
	Timezone          *string        `json:"timezone"`
	LiveChatURL       string         `json:"live_chat_url"`
	LastInputText     *string        `json:"last_input_text"`
	OptInPhone        bool           `json:"optin_phone"`
	Phone             *string        `json:"phone"`
	OptInEmail        bool           `json:"optin_email"`
	Email             *string        `json:"email"`
	Subscribed        any            `json:"subscribed"`
	LastInteraction   any            `json:"last_interaction"`
	LastSeen          any            `json:"last_seen"`
	IsFollowupEnabled bool           `json:"is_followup_enabled"`
	IGUsername        *string        `json:"ig_username"`
	IGID              *int64         `json:"ig_id"`
	WhatsAppPhone     *string        `json:"whatsapp_phone"`
	OptInWhatsApp     bool           `json:"optin_whatsapp"`
	WhatsAppBSUID     *string        `json:"whatsapp_bsuid"`
	WhatsAppUsername  *string        `json:"whatsapp_username"`
	CustomFields      []profileField `json:"custom_fields"`
	Tags              []account.Tag  `json:"tags"`
}

type userRef struct {
	UserRef string `json:"user_ref"`
	OptedIn any    `json:"opted_in"`
}

type profileField struct {
	account.Field
	Value any `json:"value"`
}

func (c *Call) profile(s *account.State, o *account.Contact) profile {
	p := profile{
		ID: o.ID, PageID: c.PageID, UserRefs: []userRef{},
		FirstName: nullable(o.FirstName), LastName: nullable(o.LastName), Name: nullable(o.Name()),
		Gender: nullable(o.Gender), ProfilePic: nullable(o.ProfilePic), Locale: nullable(o.Locale),
		Language: nullable(o.Language), Timezone: nullable(o.Timezone),
		LiveChatURL:   account.LiveChatURL(c.PageID, o.ID),
		LastInputText: nullable(o.LastInput),
		OptInPhone:    o.OptInSMS, Phone: nullable(o.Phone), OptInEmail: o.OptInEmail, Email: nullable(o.Email),
		Subscribed: account.Instant(o.Subscribed), LastInteraction: account.Instant(o.LastInteraction),
		LastSeen: account.Instant(o.LastInteraction), IsFollowupEnabled: true,
		IGUsername: nullable(o.InstagramUsername), IGID: instagramID(o.Contact),
		WhatsAppPhone: nullable(o.WhatsAppPhone), OptInWhatsApp: o.Channel == manychat.WhatsApp,
		CustomFields: make([]profileField, 0, len(s.Fields)), Tags: make([]account.Tag, 0, len(o.Tags)),
	}
	if o.UserRef != "" {
		p.UserRefs = append(p.UserRefs, userRef{UserRef: o.UserRef, OptedIn: account.Instant(o.Subscribed)})
	}
	for _, f := range s.Fields {
		p.CustomFields = append(p.CustomFields, profileField{Field: f, Value: o.Fields[f.Name]})
	}
	for _, name := range o.Tags {
		if t, ok := s.Tag(name); ok {
			p.Tags = append(p.Tags, t)
		}
	}
	return p
}

func instagramID(c phone.Contact) *int64 {
	if c.InstagramID == 0 {
		return nil
	}
	return &c.InstagramID
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
