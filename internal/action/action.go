// Package action holds the words for what the agent does in the ManyChat account
// besides replying: the closed set of kinds, an action as it was staged, the record of
// what became of it, and the trace of the calls that asked for it. Nothing here performs
// anything.
package action

import (
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
)

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
	Sending        Status = "sending" // a flow whose request may be under way
	Performed      Status = "performed"
	Failed         Status = "failed"
	Discarded      Status = "discarded"
	DroppedOverCap Status = "dropped_over_cap"
	DeadLettered   Status = "dead_lettered"
)

// OutcomeUnknown is the error of a failed action that ManyChat may have carried out all
// the same: its answer was lost. A flow that failed so counts as sent.
const OutcomeUnknown = "outcome unknown"

// NotStarted is the error of a failed action of which nothing was sent, since its time was
// over.
const NotStarted = "not started in time"

// FlowLimit is the error of a flow that was not sent because the contact's flows of the hour
// are used up.
const FlowLimit = "not started: flow limit"

// Origin says which rule of the server sent a flow that the model did not call.
type Origin string

// The origins of a server-sent flow.
const (
	FromOpening Origin = "opening"
	FromStage   Origin = "stage"
)

// The parts of a handoff notice, which stand for the id of a [NotifyHandoff] record.
const (
	NoticeTag     = "tag"
	NoticeFlow    = "flow"
	NoticeWebhook = "webhook"
)

// Record is one entry of a turn's actions column: configured ids and values only,
// never a flow namespace, a tag or field name or a contact's words, so that it
// needs no redaction.
type Record struct {
	Tool   Kind   `json:"tool"`
	ID     string `json:"id,omitempty"`
	Value  string `json:"value,omitempty"`  // set_field: the configured value id
	Length int    `json:"length,omitempty"` // write_note: code points written
	Status Status `json:"status"`
	Error  string `json:"error,omitempty"`
	Origin Origin `json:"origin,omitempty"`
	// Mark is of a field that has a part in the sale: once the write is performed, the
	// conversation has moved with it.
	Mark         contact.Mark `json:"mark,omitempty"`
	ContactAsked bool         `json:"contactAsked,omitempty"`
	At           time.Time    `json:"at,omitzero"` // when ManyChat answered; zero: it was not asked, or did not answer
}

// CountsAsSent reports whether the record is of a flow that the contact has, or may have.
func (r Record) CountsAsSent() bool {
	return r.Tool == SendFlow && (r.Status == Performed || r.Status == Sending || r.Status == Failed && r.Error == OutcomeUnknown)
}

// Interrupted is the record when whoever worked on it is gone: what was being sent may have
// arrived.
func (r Record) Interrupted() Record {
	if r.Status == Sending {
		r.Status, r.Error = Failed, OutcomeUnknown
	}
	return r
}

// Pending is an action that waits to be performed: behind its reply's response, or in the
// outbox row that delivers the reply.
type Pending struct {
	Place int    `json:"place"` // in the turn's record
	Tool  Kind   `json:"tool"`
	ID    string `json:"id"`
	Value string `json:"value,omitempty"`
	// ContactAsked is of a payment link, which a contact gets again for the asking.
	ContactAsked bool `json:"contactAsked,omitempty"`
	// Origin is of a flow that a rule of the server sends.
	Origin Origin `json:"origin,omitempty"`
	// FollowOn is of what the server does behind the action in the place before, and only when
	// that one was performed.
	FollowOn bool `json:"followOn,omitempty"`
	// Text is what a note says, cleaned. It is kept here alone, until it is written.
	Text string `json:"text,omitempty"`
}

// Ended is what became of a [Pending] action.
type Ended struct {
	Place  int
	Status Status
	Error  string    // of a failed one; safe to keep: no name, no text, no contact
	At     time.Time // when ManyChat answered; zero: it was not asked, or did not answer
}

// Apply notes in a turn's record what became of its actions, and returns the entries that
// this ended. One that has ended already stays as it is.
func Apply(record []Record, ended []Ended) (over []Record) {
	for _, e := range ended {
		if e.Place < 0 || e.Place >= len(record) || record[e.Place].Status != Staged {
			continue
		}
		record[e.Place].Status, record[e.Place].Error, record[e.Place].At = e.Status, e.Error, e.At
		over = append(over, record[e.Place])
	}
	return over
}

// Call is one call of a tool as a turn's trace keeps it. A note's text, an unknown id and
// whatever else a model made up are not in it.
type Call struct {
	Step         int    `json:"step"` // of the loop, from 1
	Tool         Kind   `json:"tool"` // empty: no tool has the name that was called
	ID           string `json:"id,omitempty"`
	Value        string `json:"value,omitempty"`
	Length       int    `json:"length,omitempty"`
	ContactAsked bool   `json:"contactAsked,omitempty"`
	Answer       Answer `json:"answer"`
	Reason       string `json:"reason,omitempty"`
}

// Answer is what a call was told.
type Answer string

// The answers.
const (
	AnsweredStaged    Answer = "staged"
	AnsweredNotStaged Answer = "not staged"
	AnsweredSent      Answer = "sent"
	AnsweredNotSent   Answer = "not sent"
	AnsweredRead      Answer = "read"
	AnsweredUnread    Answer = "not read"
	AnsweredBad       Answer = "bad call"
)

// EventClaim is what the right to fire an event is claimed under, beside those to flows: an
// event and a flow may have one id.
func EventClaim(id string) string { return "event:" + id }

// Claim is the right to send one flow to one contact, which the database gives once
// (docs/spec/08-sales.md, "Flows once").
type Claim struct {
	ConversationID string
	TurnID         string
	Flow           string    // its configured id
	Since          time.Time // a send before it does not count; zero: any does
	Repeatable     bool      // no send counts
	At             time.Time
}

// ErrFlowLimit says that the contact was sent as many flows within the hour as ManyChat
// allows; nothing was sent.
var ErrFlowLimit = errors.New("the contact's flows of the hour are used up")

// ErrSent says that the contact has, or may have, the flow already.
var ErrSent = errors.New("the flow was sent to the contact already")
