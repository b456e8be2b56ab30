// Package operation does what the operations of the public API say, on the state of
// an account. Each is a method of [Call]; the table of paths is package api's.
package operation

import (
	"encoding/json"
	"strconv"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Config is what operations work with; every field is required.
type Config struct {
	Account *account.Account
	PageID  string
	Page    phone.Page
	Flows   Flows
	// Rules are those for data that goes to a contact on the channel.
	Rules func(*account.State, *account.Contact, manychat.Channel) block.Rules
}

// Flows are the account's flows.
type Flows interface {
	// List is every flow.
	List() []phone.Flow
	// Has reports whether there is a flow with the namespace.
	Has(ns string) bool
	// Start plays the flow to the contact and returns at once. Call it outside an
	// account update.
	Start(contact, ns string)
}

// Call is one call with its parameters. A problem with them is kept in Problem and
// is then the answer, whatever the operation returns.
type Call struct {
	*Config
	wire.In
	Path     string
	Contact  string   // subscriber id, when the call names one
	Warnings []string // what content said that a phone does not show
}

// subscriber finds the contact that the call is about.
func (c *Call) subscriber(s *account.State) *account.Contact {
	id := wire.IDText(c.Values["subscriber_id"])
	if id == "" {
		c.Stop(wire.Invalid("subscriber_id is required"))
		return nil
	}
	contact, err := s.Contact(id)
	switch {
	case err != nil:
		c.Stop(wire.NoSubscriber())
		return nil
	case contact.Inactive:
		c.Stop(wire.Refuse("Subscriber is not active"))
		return nil
	}
	return contact
}

// Names are the fields and flows that the call names, for the faults that hide one.
func (c *Call) Names() []string {
	var records []map[string]json.RawMessage
	if json.Unmarshal(c.Values["fields"], &records) != nil {
		records = nil // refused later
	}
	var names []string
	c.Account.View(func(s *account.State) {
		for _, values := range append(records, c.Values) {
			names = append(names, wire.IDText(values["field_name"]), wire.IDText(values["flow_ns"]))
			if id, err := strconv.ParseInt(wire.IDText(values["field_id"]), 10, 64); err == nil {
				f, _ := s.FieldByID(id)
				names = append(names, f.Name)
			}
		}
	})
	return names
}
