package account

import (
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Window is how long after the contact's last message free-form messages pass.
const Window = 24 * time.Hour

// WindowOpen reports whether a free-form message reaches the contact now. Telegram
// has no window.
func (s *State) WindowOpen(c *Contact) bool {
	if c.Channel == manychat.Telegram {
		return true
	}
	return !c.LastInteraction.IsZero() && s.now.Sub(c.LastInteraction) < Window
}

// Reply is a checked block on its way to a contact.
type Reply struct {
	Via      phone.Via
	Messages []phone.Item
	Actions  []phone.Action
	Callback *phone.Callback
}

// Deliver shows the messages, performs the actions and arms the callback. It
// returns the messages as they were kept.
func (s *State) Deliver(c *Contact, r Reply) []phone.Item {
	shown := make([]phone.Item, 0, len(r.Messages))
	for _, m := range r.Messages {
		m.From, m.Via = phone.FromBusiness, r.Via
		shown = append(shown, s.Show(c, m))
	}
	s.Perform(c, r.Actions)
	if r.Callback != nil {
		cb := *r.Callback
		cb.Expires = s.now.Add(cb.Timeout)
		c.Callback = &cb
		s.Touch(c.ID)
	}
	return shown
}

// TakeCallback disarms the contact's callback and returns it; nil when none is
// armed or it has expired.
func (s *State) TakeCallback(c *Contact) *phone.Callback {
	cb := c.Callback
	if cb == nil {
		return nil
	}
	c.Callback = nil
	s.Touch(c.ID)
	if !s.now.Before(cb.Expires) {
		return nil
	}
	return cb
}
