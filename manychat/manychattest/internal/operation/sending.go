package operation

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The codes of sendContent (2.5).
const (
	codeWindow          = 3011
	codeNoToken         = 3021
	codeWindowInstagram = 3031
	codeChannel         = 3040
)

// otherChannelHours is what the one observed refusal named for a contact who never
// wrote on the channel (1.1).
const otherChannelHours = 19521

// SendContent is POST /fb/sending/sendContent.
func (c *Call) SendContent() wire.Result {
	data := c.content()
	return c.update(func(s *account.State) wire.Result {
		return c.present(s, c.subscriber(s), data, false)
	})
}

// SendContentByUserRef is POST /fb/sending/sendContentByUserRef.
func (c *Call) SendContentByUserRef() wire.Result {
	data, ref := c.content(), c.userRef()
	return c.update(func(s *account.State) wire.Result {
		return c.present(s, c.byUserRef(s, ref), data, true)
	})
}

func (c *Call) content() json.RawMessage {
	if !c.Has("data") {
		c.Stop(wire.Invalid("data is required"))
	}
	return c.Values["data"]
}

// present shows content to a contact, or says why it cannot.
func (c *Call) present(s *account.State, contact *account.Contact, data json.RawMessage, byRef bool) wire.Result {
	if contact == nil {
		return *c.Problem
	}
	kind, ok := contentType(data)
	if !ok {
		return wire.Refuse((&block.Rejection{Reason: "unknown content type"}).Error())
	}
	if c.Has("message_tag") {
		return messageTag(kind)
	}
	rules := c.Rules(s, contact, kind)
	rules.IgnoreActions = byRef
	b, err := block.Read(data, rules)
	c.Warnings = b.Warnings
	if rejection, rejected := errors.AsType[*block.Rejection](err); rejected {
		return wire.Refuse(rejection.Error())
	} else if err != nil {
		return wire.Invalid("data must be an object")
	}
	if res, refused := c.reachable(s, contact, kind); refused {
		return res
	}
	s.Deliver(contact, account.Reply{Via: phone.ViaContent, Messages: b.Messages, Actions: b.Actions, Callback: b.Callback})
	return wire.Success(nil)
}

// contentType is the channel that content.type names; without one, ManyChat takes
// it for Messenger (1.1).
func contentType(data json.RawMessage) (manychat.Channel, bool) {
	var envelope struct {
		Content struct {
			Type string `json:"type"`
		} `json:"content"`
	}
	if json.Unmarshal(data, &envelope) != nil || envelope.Content.Type == "" {
		return manychat.Messenger, true // what is not an envelope is refused by the reader
	}
	kind := manychat.Channel(envelope.Content.Type)
	_, known := manychat.CapabilitiesOf(kind)
	return kind, known && kind.ContentType() == envelope.Content.Type
}

// messageTag is how every tag is refused (2.5).
func messageTag(kind manychat.Channel) wire.Result {
	if kind == manychat.Instagram {
		return wire.Refuse("Unsupported message tag")
	}
	return wire.Invalid("Message tags are no longer supported")
}

// reachable checks the block, the channel and the window.
func (c *Call) reachable(s *account.State, contact *account.Contact, kind manychat.Channel) (res wire.Result, refused bool) {
	switch {
	case contact.Blocked:
		return wire.Fail(200, "Subscriber has blocked the page"), true
	case kind != contact.Channel && kind != manychat.Messenger:
		return wire.Coded(codeChannel, fmt.Sprintf("Can not send message through %s channel", kind)), true
	case kind != contact.Channel:
		return windowClosed(kind, otherChannelHours), true
	case c.Has("otn_topic_name"):
		return c.oneTimeNotification(s, contact)
	case s.WindowOpen(contact):
		return wire.Result{}, false
	}
	hours := otherChannelHours
	if !contact.LastInteraction.IsZero() {
		hours = int(s.Now().Sub(contact.LastInteraction).Hours())
	}
	return windowClosed(kind, hours), true
}

// oneTimeNotification spends the contact's token for the topic: one message past
// the window.
func (c *Call) oneTimeNotification(s *account.State, contact *account.Contact) (res wire.Result, refused bool) {
	i := slices.Index(contact.OTNTopics, c.Text("otn_topic_name"))
	if i < 0 {
		return wire.Coded(codeNoToken, "There is no one-time notification token for this topic"), true
	}
	contact.OTNTopics = slices.Delete(contact.OTNTopics, i, i+1)
	s.Touch(contact.ID)
	return wire.Result{}, false
}

func windowClosed(kind manychat.Channel, hours int) wire.Result {
	if kind == manychat.Instagram {
		return wire.Coded(codeWindowInstagram, fmt.Sprintf(
			"Message can not be sent without a Notification Reason: last interaction over %dh ago", hours))
	}
	return wire.Coded(codeWindow, fmt.Sprintf(
		"Message can not be sent without a message tag: last interaction over %dh ago", hours))
}

// SendFlow answers when the flow starts; nothing reports its end (3.4).
func (c *Call) SendFlow() wire.Result {
	ns := c.Text("flow_ns")
	res := c.update(func(s *account.State) wire.Result {
		contact := c.subscriber(s)
		switch {
		case contact == nil:
			return *c.Problem
		case !c.Flows.Has(ns):
			return wire.Invalid("Wrong content provided.")
		case contact.Blocked:
			return wire.Fail(200, "Subscriber has blocked the page")
		}
		return wire.Success(nil)
	})
	if res.OK() {
		c.Flows.Start(c.Contact, ns)
	}
	return res
}
