package api

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const maxFound = 100

func (c *call) contactInfo() (res result) {
	c.cfg.Account.View(func(s *account.State) {
		if contact := c.subscriber(s); contact != nil {
			res = success(c.profile(s, contact))
		}
	})
	return res
}

func (c *call) contactInfoByUserRef() (res result) {
	ref := c.userRef()
	c.cfg.Account.View(func(s *account.State) {
		if contact := c.byUserRef(s, ref); contact != nil {
			res = success(c.profile(s, contact))
		}
	})
	return res
}

// findByName compares the full name with case (3.1).
func (c *call) findByName() (res result) {
	name := c.text("name")
	if c.failed() {
		return *c.problem
	}
	c.cfg.Account.View(func(s *account.State) {
		res = c.profiles(s, slices.DeleteFunc(s.All(), func(o *account.Contact) bool { return o.Name() != name }))
	})
	return res
}

// findByCustomField lists the newest field update first (2.2).
func (c *call) findByCustomField() (res result) {
	id, value := c.id("field_id"), c.text("field_value")
	if c.failed() {
		return *c.problem
	}
	c.cfg.Account.View(func(s *account.State) {
		f, ok := s.FieldByID(id)
		if !ok || (f.Type != phone.Text && f.Type != phone.Number) {
			res = invalid("Wrong field")
			return
		}
		found := slices.DeleteFunc(s.All(), func(o *account.Contact) bool {
			v, set := o.Fields[f.Name]
			return !set || placeholder.Format(v) != value
		})
		slices.SortFunc(found, func(a, b *account.Contact) int {
			return cmp.Compare(b.FieldOrder[f.Name], a.FieldOrder[f.Name])
		})
		res = c.profiles(s, found)
	})
	return res
}

// findBySystemField answers null when nobody matches; what ManyChat answers then is
// not known.
func (c *call) findBySystemField() (res result) {
	email, number := c.optional("email"), c.optional("phone")
	if (email == "") == (number == "") {
		return invalid("one of email and phone is required")
	}
	c.cfg.Account.View(func(s *account.State) {
		res = success(json.RawMessage("null"))
		for _, o := range s.All() {
			if (email != "" && o.Email == email) || (number != "" && o.Phone == number) {
				res = success(c.profile(s, o))
				return
			}
		}
	})
	return res
}

func (c *call) profiles(s *account.State, contacts []*account.Contact) result {
	profiles := []profile{}
	for _, o := range contacts[:min(len(contacts), maxFound)] {
		profiles = append(profiles, c.profile(s, o))
	}
	return success(profiles)
}

// userRef is the user_ref parameter: a number that may be negative and exceed 2^53.
func (c *call) userRef() string {
	ref := idText(c.values["user_ref"])
	if _, err := strconv.ParseInt(ref, 10, 64); err != nil {
		c.stop(invalid("user_ref must be an integer"))
	}
	return ref
}

// The codes of user_ref (2.5).
const (
	codeRefUnknown = 2011
	codeRefPending = 2012
)

func (c *call) byUserRef(s *account.State, ref string) *account.Contact {
	if c.failed() {
		return nil
	}
	for _, o := range s.All() {
		if o.UserRef == ref {
			return o
		}
	}
	if slices.Contains(s.UserRefs, ref) {
		c.stop(coded(codeRefPending, "User ref is not linked to a subscriber yet"))
	} else {
		c.stop(coded(codeRefUnknown, "User ref is not registered"))
	}
	return nil
}
