// Package contact holds the words for a person who writes in: who they are at
// ManyChat, on which channel, and how far towards buying they are known to be.
// It is pure values; nothing here does I/O.
package contact

import (
	"errors"
	"log/slog"
)

// ErrSubscriberID is returned by [ParseSubscriberID] for anything but 1 to 32 digits.
var ErrSubscriberID = errors.New("subscriber id is not 1 to 32 digits")

// SubscriberID is ManyChat's id of a contact within one account. It is a string of
// digits and stays one: Messenger's ids exceed 2^53. It never appears in a log.
type SubscriberID string

// ParseSubscriberID accepts 1 to 32 ASCII digits and keeps every one of them.
func ParseSubscriberID(s string) (SubscriberID, error) {
	if len(s) < 1 || len(s) > 32 {
		return "", ErrSubscriberID
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return "", ErrSubscriberID
		}
	}
	return SubscriberID(s), nil
}

// LogValue keeps the id out of every log (C5).
func (SubscriberID) LogValue() slog.Value { return slog.StringValue("[subscriber]") }

// Channel is the messaging channel a contact writes on.
type Channel string

// The channels a tenant can be connected to.
const (
	WhatsApp  Channel = "whatsapp"
	Instagram Channel = "instagram"
	Messenger Channel = "messenger"
	Telegram  Channel = "telegram"
)

// Key names one conversation: a contact of a tenant on a channel.
type Key struct {
	TenantID     string
	Channel      Channel
	SubscriberID SubscriberID
}
