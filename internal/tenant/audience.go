package tenant

import (
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Audience is whom the agent answers. The others are recorded and answered silently.
type Audience struct {
	Mode        AudienceMode           `json:"mode,omitempty" jsonschema:"default=all,enum=all,enum=only,enum=except" jsonschema_description:"all contacts, only the subscribers, or all except the subscribers."`
	Subscribers []contact.SubscriberID `json:"subscribers,omitempty" jsonschema:"uniqueItems=true,minLength=1,maxLength=32,pattern=^[0-9]+$" expect:"a ManyChat subscriber id: a string of 1 to 32 digits" jsonschema_description:"ManyChat ids of contacts, as strings of digits."`
}

// AudienceMode says what the list of subscribers means.
type AudienceMode string

// The modes of an audience.
const (
	AudienceAll    AudienceMode = "all"
	AudienceOnly   AudienceMode = "only"
	AudienceExcept AudienceMode = "except"
)

// Includes reports whether a contact is answered.
func (a Audience) Includes(id contact.SubscriberID) bool {
	switch a.Mode {
	case AudienceOnly:
		return slices.Contains(a.Subscribers, id)
	case AudienceExcept:
		return !slices.Contains(a.Subscribers, id)
	}
	return true
}
