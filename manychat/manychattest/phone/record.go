package phone

import "time"

// Exchange is one request that the emulator made because a contact wrote, and what
// came of it.
type Exchange struct {
	Contact  string        `json:"contact"`
	Trigger  Trigger       `json:"trigger"`
	Method   string        `json:"method,omitempty"`
	URL      string        `json:"url,omitempty"` // as configured, before Hosts
	Request  string        `json:"request,omitempty"`
	Status   int           `json:"status,omitempty"` // 0: no answer came
	Response string        `json:"response,omitempty"`
	Shown    []Item        `json:"shown,omitempty"`    // what the answer put on the phone
	Warnings []string      `json:"warnings,omitempty"` // what was dropped silently, and other risks
	Failure  Failure       `json:"failure,omitempty"`
	Reason   string        `json:"reason,omitempty"`    // of the failure, for a person
	FellBack bool          `json:"fell_back,omitempty"` // the fallback steps were played
	Started  time.Time     `json:"started"`
	Duration time.Duration `json:"duration"`
	// Duplicate is the second of two identical requests under the fault
	// "duplicate_inbound"; nil otherwise.
	Duplicate *Exchange `json:"duplicate,omitempty"`
}

// Trigger says what a contact's message set off.
type Trigger string

// The triggers.
const (
	TriggerCallback Trigger = "callback" // the armed external_message_callback
	TriggerEntry    Trigger = "entry"    // the entry flow
	TriggerButton   Trigger = "button"   // a button or quick reply, see [Button]
	TriggerNone     Trigger = "none"     // no request was made
	TriggerLost     Trigger = "lost"     // the fault "lost_inbound"
)

// Failure says why an answer was not used. It is empty when it was.
type Failure string

// The failures. In each of them the contact sees nothing of the answer.
const (
	FailureTimeout  Failure = "timeout"  // no whole answer within the timeout
	FailureNetwork  Failure = "network"  // no connection, or a broken one
	FailureStatus   Failure = "status"   // not 2xx
	FailureNotJSON  Failure = "not_json" // the body does not parse
	FailureRejected Failure = "rejected" // JSON, but not a Dynamic Block that ManyChat takes
)

// Call is one call of the public API, without its credentials.
type Call struct {
	At       time.Time `json:"at"`
	Method   string    `json:"method"`
	Path     string    `json:"path"`
	Query    string    `json:"query,omitempty"`
	Contact  string    `json:"contact,omitempty"`
	Body     string    `json:"body,omitempty"`
	Status   int       `json:"status,omitempty"` // 0: never answered
	Response string    `json:"response,omitempty"`
	Done     bool      `json:"done"`            // the emulator did what was asked, whatever it answered
	Fault    string    `json:"fault,omitempty"` // kind of the injected fault
	Warnings []string  `json:"warnings,omitempty"`
}

// EventType says what an [Event] tells of.
type EventType string

// The events.
const (
	EventItem             EventType = "item"    // Item was added to the chat
	EventContact          EventType = "contact" // the contact changed; without Contact: the account did
	EventCall             EventType = "call"    // Call was handled
	EventExchangeStarted  EventType = "exchange_started"
	EventExchangeFinished EventType = "exchange_finished" // Exchange is complete
	EventFlowStarted      EventType = "flow_started"
	EventFlowFinished     EventType = "flow_finished"
	EventWarning          EventType = "warning" // a flow could not show what it was told to
)

// Event is a change, for a page that follows the emulator live.
type Event struct {
	Type     EventType `json:"type"`
	At       time.Time `json:"at"`
	Contact  string    `json:"contact,omitempty"`
	Item     *Item     `json:"item,omitempty"`
	Call     *Call     `json:"call,omitempty"`
	Exchange *Exchange `json:"exchange,omitempty"`
	Flow     string    `json:"flow,omitempty"` // namespace
	Warning  string    `json:"warning,omitempty"`
}
