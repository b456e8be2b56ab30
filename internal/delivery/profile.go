package delivery

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Read reads a contact at ManyChat, and keeps of what is there only what the tenant's
// files name. Its error says nothing of the contact.
func (p *Performer) Read(ctx context.Context, who contact.Key, tools *tenant.Tools) (contact.Profile, error) {
	if tools == nil {
		return contact.Profile{}, errors.New("the contact is not read: " + Unconfigured)
	}
	ctx, cancel := context.WithTimeout(ctx, inTurn)
	defer cancel()
	s, err := p.cfg.Profiles.GetInfo(ctx, string(who.SubscriberID))
	if err != nil {
		p.cfg.Log.Warn("the contact could not be read", "tool", action.GetContact, cause(err))
		return contact.Profile{}, errors.New("the contact could not be read: " + brief(err))
	}
	return profileOf(s, tools), nil
}

// HasTag reads at ManyChat whether a contact carries a tag. Its error says nothing of the
// contact.
func (p *Performer) HasTag(ctx context.Context, who contact.Key, tag string) (bool, error) {
	s, err := p.cfg.Profiles.GetInfo(ctx, string(who.SubscriberID))
	if err != nil {
		return false, errors.New("the contact could not be read: " + brief(err))
	}
	return s.HasTag(tag), nil
}

// profileOf is what the tenant's files name of a contact.
func profileOf(s manychat.Subscriber, tools *tenant.Tools) contact.Profile {
	profile := contact.Profile{Tags: []string{}, Fields: map[string]string{}, Notes: map[string]string{}}
	tag := func(id, name string) {
		if s.HasTag(name) {
			profile.Tags = append(profile.Tags, id)
		}
	}
	field := func(id, name string, values []string) {
		switch value := textOf(s, name); {
		case slices.Contains(values, value):
			profile.Fields[id] = value
		case value != "":
			profile.Fields[id] = contact.OtherValue
		}
	}
	for _, t := range tools.Tags {
		tag(t.ID, t.Tag)
	}
	for _, t := range tools.Readable.Tags {
		tag(t.ID, t.Tag)
	}
	for _, f := range tools.Fields {
		field(f.ID, f.Field, f.Values)
	}
	for _, f := range tools.Readable.Fields {
		field(f.ID, f.Field, f.Values)
	}
	for _, n := range tools.Notes {
		if text := textOf(s, n.Field); text != "" {
			profile.Notes[n.ID] = text
		}
	}
	return profile
}

// textOf is what a contact's custom field says, as a text; empty: nothing.
func textOf(s manychat.Subscriber, name string) string {
	value, _ := s.Field(name)
	switch v := value.(type) {
	case string:
		return strings.TrimSpace(v)
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
