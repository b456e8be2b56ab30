package manychattest

import (
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"slices"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/mediafile"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// ErrUnknownContact is returned for a subscriber id that no contact has.
var ErrUnknownContact = account.ErrUnknown

// DefineField adds a custom field to the account and returns its id, the number in
// {{cuf_<id>}}. Defining the same field again changes nothing; another type or an
// empty name is an error.
func (s *Server) DefineField(name string, t phone.FieldType) (id int64, err error) {
	err = s.account.Update(func(st *account.State) error {
		if f, ok := st.FieldFold(name); ok && f.Name == name && f.Type == t {
			id = f.ID
			return nil
		}
		f, err := st.AddField(name, t, nil)
		id = f.ID
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("defining the custom field %q: %w", name, err)
	}
	return id, nil
}

// DefineBotField adds an account-wide field and returns its id, the number in
// {{gaf_<id>}}.
func (s *Server) DefineBotField(name string, t phone.FieldType) (id int64, err error) {
	err = s.account.Update(func(st *account.State) error {
		if f := st.BotField(name); f != nil && f.Name == name && f.Type == t {
			id = f.ID
			return nil
		}
		f, err := st.AddBotField(name, t, nil)
		if f != nil {
			id = f.ID
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("defining the bot field %q: %w", name, err)
	}
	return id, nil
}

// DefineTag adds a tag to the account and returns its id. Defining it again
// changes nothing.
func (s *Server) DefineTag(name string) (id int64, err error) {
	err = s.account.Update(func(st *account.State) error {
		t, err := st.AddTag(name)
		if errors.Is(err, account.ErrExists) {
			t, _ = st.Tag(name)
			err = nil
		}
		id = t.ID
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("defining the tag %q: %w", name, err)
	}
	return id, nil
}

// DefineFlow adds a flow, or replaces the one with the same namespace, and returns
// the namespace. One that is left empty is made from the name, in ManyChat's form.
func (s *Server) DefineFlow(f Flow) (ns string) {
	if f.NS == "" {
		h := fnv.New32a()
		_, _ = h.Write([]byte(f.Name)) // a hash takes every write
		f.NS = fmt.Sprintf("content20260101000000_%06d", h.Sum32()%1_000_000)
	}
	s.flows.Put(f)
	return f.NS
}

// Flows are the flows of the account, in the order they were defined.
func (s *Server) Flows() []Flow { return s.flows.List() }

// PlayFlow starts a flow for a contact, as an operator would by hand. It reports
// an unknown contact or flow.
func (s *Server) PlayFlow(subscriberID, ns string) error {
	f, ok := s.flows.Get(ns)
	if !ok {
		return fmt.Errorf("there is no flow with the namespace %q", ns)
	}
	if _, err := s.Contact(subscriberID); err != nil {
		return err
	}
	s.player.Play(subscriberID, f)
	return nil
}

// AddContact adds a contact and returns the subscriber id, allotted when c.ID is
// empty. Tags and fields of c must be defined. The window is closed until the
// contact writes or c.LastInteraction says otherwise.
func (s *Server) AddContact(c Contact) (id string, err error) {
	if c.Channel == "" {
		c.Channel = s.cfg.Channel
	}
	if _, ok := manychat.CapabilitiesOf(c.Channel); !ok {
		return "", fmt.Errorf("adding a contact: unknown channel %q", c.Channel)
	}
	err = s.account.Update(func(st *account.State) error {
		added, err := st.AddContact(c)
		if err == nil {
			id = added.ID
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("adding a contact: %w", err)
	}
	return id, nil
}

// RegisterUserRef makes a user_ref known that no contact is linked to yet (code
// 2012). One that a contact has is given as [Contact].UserRef.
func (s *Server) RegisterUserRef(ref string) {
	_ = s.account.Update(func(st *account.State) error { // the function returns no error
		st.UserRefs = append(st.UserRefs, ref)
		st.Touch("")
		return nil
	})
}

// EditContact changes a contact, as an operator does on the contact's card. The
// id, the channel and the callback stay what they are. edit must not call the
// server.
func (s *Server) EditContact(subscriberID string, edit func(*Contact)) error {
	err := s.account.Update(func(st *account.State) error { return st.Edit(subscriberID, edit) })
	if err != nil {
		return fmt.Errorf("editing contact %s: %w", subscriberID, err)
	}
	return nil
}

// Contact returns a copy of a contact, or [ErrUnknownContact].
func (s *Server) Contact(subscriberID string) (c Contact, err error) {
	s.account.View(func(st *account.State) {
		var found *account.Contact
		if found, err = st.Contact(subscriberID); err == nil {
			c = account.Copy(found.Contact)
		}
	})
	return c, err
}

// Contacts returns copies of all contacts, by id.
func (s *Server) Contacts() (list []Contact) {
	s.account.View(func(st *account.State) {
		for _, c := range st.All() {
			list = append(list, account.Copy(c.Contact))
		}
	})
	return list
}

// Chat is what the contact's phone shows, oldest first; nil for an unknown one.
func (s *Server) Chat(subscriberID string) (items []ChatItem) {
	s.account.View(func(st *account.State) {
		if c, err := st.Contact(subscriberID); err == nil {
			items = slices.Clone(c.Chat)
		}
	})
	return items
}

// MediaHandler serves the media of contacts under any path that ends in the file
// name, without authentication, as ManyChat's storage does. A media URL has the
// host manybot-files.s3.eu-central-1.amazonaws.com on WhatsApp and Telegram and
// lookaside.fbsbx.com on Messenger and Instagram: point those here.
func (s *Server) MediaHandler() http.Handler {
	return mediafile.Handler(func(name string) (data []byte, ok bool) {
		s.account.View(func(st *account.State) { data, ok = st.Media[name] })
		if !ok {
			data, ok = mediafile.Standin(name)
		}
		return data, ok
	})
}
