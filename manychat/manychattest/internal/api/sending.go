package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
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

func (c *call) sendContent() result {
	data := c.content()
	return c.update(func(s *account.State) result {
		return c.present(s, c.subscriber(s), data, false)
	})
}

func (c *call) sendContentByUserRef() result {
	data, ref := c.content(), c.userRef()
	return c.update(func(s *account.State) result {
		return c.present(s, c.byUserRef(s, ref), data, true)
	})
}

func (c *call) content() json.RawMessage {
	if !c.has("data") {
		c.stop(invalid("data is required"))
	}
	return c.values["data"]
}

// present shows content to a contact, or says why it cannot.
func (c *call) present(s *account.State, contact *account.Contact, data json.RawMessage, byRef bool) result {
	if contact == nil {
		return *c.problem
	}
	kind, ok := contentType(data)
	if !ok {
		return refuse((&block.Rejection{Reason: "unknown content type"}).Error())
	}
	if c.has("message_tag") {
		return messageTag(kind)
	}
	rules := c.cfg.Rules(s, contact, kind)
	rules.IgnoreActions = byRef
	b, err := block.Read(data, rules)
	c.log.Warnings = b.Warnings
	if rejection, rejected := errors.AsType[*block.Rejection](err); rejected {
		return refuse(rejection.Error())
	} else if err != nil {
		return invalid("data must be an object")
	}
	if res, refused := c.reachable(s, contact, kind); refused {
		return res
	}
	s.Deliver(contact, account.Reply{Via: phone.Content, Messages: b.Messages, Actions: b.Actions, Callback: b.Callback})
	return success(nil)
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
func messageTag(kind manychat.Channel) result {
	if kind == manychat.Instagram {
		return refuse("Unsupported message tag")
	}
	return invalid("Message tags are no longer supported")
}

// reachable checks the block, the channel and the window.
func (c *call) reachable(s *account.State, contact *account.Contact, kind manychat.Channel) (res result, refused bool) {
	switch {
	case contact.Blocked:
		return fail(200, "Subscriber has blocked the page"), true
	case kind != contact.Channel && kind != manychat.Messenger:
		return coded(codeChannel, fmt.Sprintf("Can not send message through %s channel", kind)), true
	case kind != contact.Channel:
		return windowClosed(kind, otherChannelHours), true
	case c.has("otn_topic_name"):
		return c.oneTimeNotification(s, contact)
	case s.WindowOpen(contact):
		return result{}, false
	}
	hours := otherChannelHours
	if !contact.LastInteraction.IsZero() {
		hours = int(s.Now().Sub(contact.LastInteraction).Hours())
	}
	return windowClosed(kind, hours), true
}

// oneTimeNotification spends the contact's token for the topic: one message past
// the window.
func (c *call) oneTimeNotification(s *account.State, contact *account.Contact) (res result, refused bool) {
	i := slices.Index(contact.OTNTopics, c.text("otn_topic_name"))
	if i < 0 {
		return coded(codeNoToken, "There is no one-time notification token for this topic"), true
	}
	contact.OTNTopics = slices.Delete(contact.OTNTopics, i, i+1)
	s.Touch(contact.ID)
	return result{}, false
}

func windowClosed(kind manychat.Channel, hours int) result {
	if kind == manychat.Instagram {
		return coded(codeWindowInstagram, fmt.Sprintf(
			"Message can not be sent without a Notification Reason: last interaction over %dh ago", hours))
	}
	return coded(codeWindow, fmt.Sprintf(
		"Message can not be sent without a message tag: last interaction over %dh ago", hours))
}

// sendFlow answers when the flow starts; nothing reports its end (3.4).
func (c *call) sendFlow() result {
	ns := c.text("flow_ns")
	res := c.update(func(s *account.State) result {
		contact := c.subscriber(s)
		switch {
		case contact == nil:
			return *c.problem
		case !c.cfg.Flows.Has(ns):
			return invalid("Wrong content provided.")
		case contact.Blocked:
			return fail(200, "Subscriber has blocked the page")
		}
		return success(nil)
	})
	if res.ok() {
		c.cfg.Flows.Start(c.log.Contact, ns)
	}
	return res
}
