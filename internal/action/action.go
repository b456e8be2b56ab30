// Package action holds the words for what the agent does in the ManyChat account
// besides replying: the closed set of kinds, an action as it was staged, and the
// record of what became of it. Nothing here performs anything.
package action

// Kind names a tool, or a record kind that only the server writes.
type Kind string

// The kinds of docs/spec/07-tools.md. SendEvent and NotifyHandoff are record
// kinds: no model can ask for them.
const (
	SendFlow      Kind = "send_flow"
	AddTag        Kind = "add_tag"
	RemoveTag     Kind = "remove_tag"
	SetField      Kind = "set_field"
	WriteNote     Kind = "write_note"
	ScheduleNudge Kind = "schedule_nudge"
	GetContact    Kind = "get_contact"
	SendEvent     Kind = "send_event"
	NotifyHandoff Kind = "notify_handoff"
)

// Status says what became of an action.
type Status string

// Performed means that ManyChat accepted the request, not that the contact saw it.
const (
	Staged         Status = "staged"
	Sending        Status = "sending"
	Performed      Status = "performed"
	Failed         Status = "failed"
	Discarded      Status = "discarded"
	DroppedOverCap Status = "dropped_over_cap"
	DeadLettered   Status = "dead_lettered"
)

// Origin says which rule of the server sent a flow that the model did not call.
type Origin string

// The origins of a server-sent flow.
const (
	FromOpening Origin = "opening"
	FromStage   Origin = "stage"
)

// Record is one entry of a turn's actions column: configured ids and values only,
// never a flow namespace, a tag or field name or a contact's words, so that it
// needs no redaction.
type Record struct {
	Tool         Kind   `json:"tool"`
	ID           string `json:"id,omitempty"`
	Value        string `json:"value,omitempty"`  // set_field: the configured value id
	Length       int    `json:"length,omitempty"` // write_note: code points written
	Status       Status `json:"status"`
	Error        string `json:"error,omitempty"`
	Origin       Origin `json:"origin,omitempty"`
	ContactAsked bool   `json:"contactAsked,omitempty"`
}
