package operation

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

const maxFound = 100

// ContactInfo is GET /fb/subscriber/getInfo.
func (c *Call) ContactInfo() (res wire.Result) {
	c.Account.View(func(s *account.State) {
		if contact := c.subscriber(s); contact != nil {
			res = wire.Success(c.profile(s, contact))
		}
	})
	return res
}

// ContactInfoByUserRef is GET /fb/subscriber/getInfoByUserRef.
func (c *Call) ContactInfoByUserRef() (res wire.Result) {
	ref := c.userRef()
	c.Account.View(func(s *account.State) {
		if contact := c.byUserRef(s, ref); contact != nil {
			res = wire.Success(c.profile(s, contact))
		}
	})
	return res
}

// FindByName compares the full name with case (3.1).
func (c *Call) FindByName() (res wire.Result) {
	name := c.Text("name")
	if c.Failed() {
		return *c.Problem
	}
	c.Account.View(func(s *account.State) {
		res = c.profiles(s, slices.DeleteFunc(s.All(), func(o *account.Contact) bool { return o.Name() != name }))
	})
	return res
}

// FindByCustomField lists the newest field update first (2.2).
func (c *Call) FindByCustomField() (res wire.Result) {
	id, value := c.ID("field_id"), c.Text("field_value")
	if c.Failed() {
		return *c.Problem
	}
	c.Account.View(func(s *account.State) {
		f, ok := s.FieldByID(id)
		if !ok || (f.Type != phone.Text && f.Type != phone.Number) {
			res = wire.Invalid("Wrong field")
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

// FindBySystemField answers null when nobody matches; what ManyChat answers then is
// not known.
func (c *Call) FindBySystemField() (res wire.Result) {
	email, number := c.Optional("email"), c.Optional("phone")
	if (email == "") == (number == "") {
		return wire.Invalid("one of email and phone is required")
	}
	c.Account.View(func(s *account.State) {
		res = wire.Success(json.RawMessage("null"))
		for _, o := range s.All() {
			if (email != "" && o.Email == email) || (number != "" && o.Phone == number) {
				res = wire.Success(c.profile(s, o))
				return
			}
		}
	})
	return res
}

func (c *Call) profiles(s *account.State, contacts []*account.Contact) wire.Result {
	profiles := []profile{}
	for _, o := range contacts[:min(len(contacts), maxFound)] {
		profiles = append(profiles, c.profile(s, o))
	}
	return wire.Success(profiles)
}

// userRef is the user_ref parameter: a number that may be negative and exceed 2^53.
func (c *Call) userRef() string {
	ref := wire.IDText(c.Values["user_ref"])
	if _, err := strconv.ParseInt(ref, 10, 64); err != nil {
		c.Stop(wire.Invalid("user_ref must be an integer"))
	}
	return ref
}

// The codes of user_ref (2.5).
const (
	codeRefUnknown = 2011
	codeRefPending = 2012
)

func (c *Call) byUserRef(s *account.State, ref string) *account.Contact {
	if c.Failed() {
		return nil
	}
	for _, o := range s.All() {
		if o.UserRef == ref {
			return o
		}
	}
	if slices.Contains(s.UserRefs, ref) {
		c.Stop(wire.Coded(codeRefPending, "User ref is not linked to a subscriber yet"))
	} else {
		c.Stop(wire.Coded(codeRefUnknown, "User ref is not registered"))
	}
	return nil
}
