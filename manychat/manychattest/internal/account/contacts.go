package account

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Ids are the next ids of each kind.
type Ids struct {
	Tag       int64 `json:"tag"`
	Field     int64 `json:"field"`
	Contact   int64 `json:"contact"`
	Messenger int64 `json:"messenger"`
	Write     int64 `json:"write"` // counts field writes, newest highest
}

// firstIds start where real ones were seen: nine digits on WhatsApp and Instagram,
// seventeen on Messenger (platform notes, 2.4).
func firstIds() Ids {
	return Ids{Tag: 11, Field: 1001, Contact: 900000001, Messenger: 24000000000000001, Write: 1}
}

func (*Ids) take(next *int64) int64 {
	id := *next
	*next++
	return id
}

// ErrUnknown is returned for a subscriber id that no contact has.
var ErrUnknown = errors.New("there is no such contact")

// AddContact adds a contact, allots the id when it is empty, and checks the tags
// and fields against what the account defines.
func (s *State) AddContact(c phone.Contact) (*Contact, error) {
	if c.ID == "" {
		c.ID = s.newID(c.Channel)
	}
	if err := s.checkContact(c); err != nil {
		return nil, err
	}
	if _, taken := s.Contacts[c.ID]; taken {
		return nil, fmt.Errorf("contact %s %w", c.ID, ErrExists)
	}
	if c.Subscribed.IsZero() {
		c.Subscribed = s.now
	}
	c.Callback = nil
	added := &Contact{Contact: Copy(c)}
	added.ensureMaps()
	s.Contacts[c.ID] = added
	s.Touch(c.ID)
	return added, nil
}

func (s *State) newID(ch manychat.Channel) string {
	next := &s.Ids.Contact
	if ch == manychat.Messenger {
		next = &s.Ids.Messenger
	}
	for {
		id := strconv.FormatInt(s.Ids.take(next), 10)
		if _, taken := s.Contacts[id]; !taken {
			return id
		}
	}
}

func (s *State) checkContact(c phone.Contact) error {
	if !digits(c.ID) {
		return fmt.Errorf("the subscriber id %q is not a string of digits", c.ID)
	}
	for _, t := range c.Tags {
		if _, ok := s.Tag(t); !ok {
			return fmt.Errorf("the tag %q is not defined", t)
		}
	}
	for name, v := range c.Fields {
		f, ok := s.Field(name)
		if !ok {
			return fmt.Errorf("the custom field %q is not defined", name)
		}
		if !fits(f.Type, v) {
			return fmt.Errorf("custom field %q: %w %q", name, ErrBadValue, f.Type)
		}
	}
	return nil
}

// Edit changes a contact by f. The id, the channel and the callback stay.
func (s *State) Edit(id string, f func(*phone.Contact)) error {
	c, err := s.Contact(id)
	if err != nil {
		return err
	}
	edited := Copy(c.Contact)
	f(&edited)
	edited.ID, edited.Channel, edited.Callback = c.ID, c.Channel, c.Callback
	if err := s.checkContact(edited); err != nil {
		return err
	}
	c.Contact = Copy(edited)
	c.ensureMaps()
	s.Touch(id)
	return nil
}

// Contact finds a contact.
func (s *State) Contact(id string) (*Contact, error) {
	if c, ok := s.Contacts[id]; ok {
		return c, nil
	}
	return nil, ErrUnknown
}

// All lists the contacts by id.
func (s *State) All() []*Contact {
	list := make([]*Contact, 0, len(s.Contacts))
	for _, id := range slices.Sorted(maps.Keys(s.Contacts)) {
		list = append(list, s.Contacts[id])
	}
	return list
}

// Show appends an item to the contact's chat and returns it as it was kept.
func (s *State) Show(c *Contact, item phone.Item) phone.Item {
	s.LastItem++
	item.ID, item.Contact, item.At = s.LastItem, c.ID, s.now
	c.Chat = append(c.Chat, item)
	s.changes = append(s.changes, Change{Contact: c.ID, Item: &item})
	return item
}

// SetTag adds or removes a tag of a contact.
func (s *State) SetTag(c *Contact, name string, on bool) {
	has := slices.Contains(c.Tags, name)
	switch {
	case on && !has:
		c.Tags = append(c.Tags, name)
	case !on && has:
		c.Tags = slices.DeleteFunc(c.Tags, func(n string) bool { return n == name })
	}
	s.Touch(c.ID)
}

// SetValue writes a field of a contact; nil clears it.
func (s *State) SetValue(c *Contact, field string, value any) {
	if value == nil {
		delete(c.Fields, field)
		delete(c.FieldOrder, field)
	} else {
		c.Fields[field] = value
		c.FieldOrder[field] = s.Ids.take(&s.Ids.Write)
	}
	s.Touch(c.ID)
}

// Perform applies actions that were checked against the account before.
func (s *State) Perform(c *Contact, actions []phone.Action) {
	for _, a := range actions {
		switch a.Action {
		case "add_tag":
			s.SetTag(c, a.Tag, true)
		case "remove_tag":
			s.SetTag(c, a.Tag, false)
		case "set_field_value":
			s.SetValue(c, a.Field, a.Value)
		case "unset_field_value":
			s.SetValue(c, a.Field, nil)
		}
	}
}

func (c *Contact) ensureMaps() {
	if c.Fields == nil {
		c.Fields = map[string]any{}
	}
	if c.FieldOrder == nil {
		c.FieldOrder = map[string]int64{}
	}
}

// Copy is a contact that shares nothing changeable with the original.
func Copy(c phone.Contact) phone.Contact {
	c.Tags = slices.Clone(c.Tags)
	c.Fields = maps.Clone(c.Fields)
	if c.Callback != nil {
		cb := *c.Callback
		c.Callback = &cb
	}
	return c
}

func digits(s string) bool {
	for _, r := range s {
		if r < '0' || r > '9' {
			return false
		}
	}
	return s != ""
}
