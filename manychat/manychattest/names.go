package manychattest

import (
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The words of the emulator, from package phone.
type (
	Contact  = phone.Contact  // a person of the account
	Input    = phone.Input    // what a contact sends
	ChatItem = phone.Item     // one bubble of a chat
	Exchange = phone.Exchange // a request that a contact's message set off, and what came of it
	Call     = phone.Call     // one call of the public API
	Event    = phone.Event    // a change, for whoever follows the account live
	Flow     = phone.Flow     // a flow of the account
	Step     = phone.Step     // one block of a flow
	Media    = phone.Media    // a media message of a flow
	Page     = phone.Page     // how the account presents itself
)

// Faults are what goes wrong; package fault lists the kinds.
type Faults = fault.Set

// Fault is one of the [Faults].
type Fault = fault.Fault
