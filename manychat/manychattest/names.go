package manychattest

import (
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// The words of the emulator; package phone says what each of them holds.
type (
	Contact  = phone.Contact
	Input    = phone.Input
	ChatItem = phone.Item
	Exchange = phone.Exchange
	Call     = phone.Call
	Event    = phone.Event
	Flow     = phone.Flow
	Step     = phone.Step
	Media    = phone.Media
	Page     = phone.Page
)

// Faults are what goes wrong; package fault lists the kinds.
type Faults = fault.Set

// Fault is one of the [Faults].
type Fault = fault.Fault
