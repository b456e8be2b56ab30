// Package block reads a Dynamic Block v2 the way ManyChat does: all or nothing,
// with a note for everything it silently leaves out.
package block

import (
	"encoding/json"
	"fmt"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The limits that hold on every channel (platform notes, 1.2).
const (
	maxMessages     = 10
	maxActions      = 5
	maxQuickReplies = 11
	maxCards        = 10
	maxText         = 2000 // UTF-16 units; what ManyChat counts is not known, this is strict
	maxCaption      = 20
	maxCardText     = 80
	maxCallback     = 86400 // seconds
)

// Rules say against what a block is read.
type Rules struct {
	Channel manychat.Channel // the contact's
	Account Vocabulary
	Inline  bool // the reply of a Dynamic Block or callback; else data of the public API

	Callback          bool // external_message_callback works on the channel
	WhatsAppImages    bool // images reach WhatsApp by this route
	IgnoreActions     bool // sendContentByUserRef performs none
	AnyType           bool // content.type need not match the channel
	RefuseEmpty       bool // an empty messages array is refused
	RefuseUnknownKeys bool
	Deliver           int // messages that arrive; the rest is dropped. 0: all
}

// Vocabulary is what a block may name.
type Vocabulary interface {
	// HasTag reports whether the account defines the tag.
	HasTag(name string) bool
	// FieldType is the type of a custom field; ok is false when there is none.
	FieldType(name string) (t phone.FieldType, ok bool)
	// HasFlow reports whether the account has a flow with this namespace.
	HasFlow(ns string) bool
}

// Block is what is left to show and do after reading.
type Block struct {
	Messages []phone.Item // Kind, Text, URL, Cards, Buttons, QuickReplies and Warnings are set
	Actions  []phone.Action
	Callback *phone.Callback // to arm; nil when there is none
	Warnings []string        // what was dropped, or will hurt on a phone
}

// Rejection is why ManyChat refuses a whole block. Its text is the one that the
// public API answers where that was observed.
type Rejection struct{ Reason string }

func (r *Rejection) Error() string { return "Wrong dynamic message format: " + r.Reason }

// Read reads a response body. The error is a *[Rejection], or a JSON syntax error
// when the data is no JSON at all.
func Read(data []byte, rules Rules) (Block, error) {
	if err := syntax(data); err != nil {
		return Block{}, err
	}
	r := &reader{rules: rules}
	b := r.envelope(data)
	if r.refused != nil {
		return Block{}, r.refused
	}
	b.Warnings = r.warnings
	return b, nil
}

func syntax(data []byte) error {
	var raw json.RawMessage
	return json.Unmarshal(data, &raw)
}

// reader keeps the first refusal and goes on reading, so that the code below needs
// no error plumbing.
type reader struct {
	rules    Rules
	warnings []string
	refused  *Rejection
}

func (r *reader) refuse(format string, args ...any) {
	if r.refused == nil {
		r.refused = &Rejection{Reason: fmt.Sprintf(format, args...)}
	}
}

func (r *reader) warn(format string, args ...any) {
	r.warnings = append(r.warnings, fmt.Sprintf(format, args...))
}

func (r *reader) envelope(data []byte) Block {
	root := r.object("the response", data)
	root.only("version", "content")
	if v := root.text("version"); v != manychat.Version {
		r.refuse(`version must be "v2", not %q`, v)
	}
	c := root.child("content")
	c.only("type", "messages", "actions", "quick_replies", "external_message_callback")
	r.contentType(c)
	var b Block
	b.Messages = r.messages(c)
	if b.Actions = r.actions(c, maxActions); r.rules.IgnoreActions && len(b.Actions) > 0 {
		r.warn("actions are not processed by sendContentByUserRef")
		b.Actions = nil
	}
	r.quickReplies(c, b.Messages)
	b.Callback = r.callback(c)
	return b
}

// contentType compares content.type with the contact's channel. For the public API
// the sender has done that already, with its own error codes.
func (r *reader) contentType(c object) {
	t := c.optionalText("type")
	if !r.rules.Inline || t == r.rules.Channel.ContentType() {
		return
	}
	if t == "" {
		t = "missing, which ManyChat reads as Messenger"
	}
	if r.rules.AnyType {
		r.warn("content.type is %s, but the contact is on %s", t, r.rules.Channel)
		return
	}
	r.refuse("content.type is %s, but the contact is on %s", t, r.rules.Channel)
}

func (r *reader) callback(c object) *phone.Callback {
	o := c.optionalChild("external_message_callback")
	if o.missing() {
		return nil
	}
	o.only("url", "method", "headers", "payload", "timeout")
	cb := r.request(o)
	cb.Timeout = seconds(o.optionalNumber("timeout", maxCallback))
	if !r.rules.Callback {
		r.warn("external_message_callback is documented for Messenger only: it is ignored on %s", r.rules.Channel)
		return nil
	}
	return cb
}
