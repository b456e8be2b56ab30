// Package outbox delivers replies that did not leave in a response: rows and their
// states, order and pacing per contact, the retry schedule, the worker that makes
// two calls per message, and dead letters.
package outbox

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
)

// Errors of a [Store] and of whoever acts on single rows.
var (
	// ErrNotOwner says that a row is no longer this owner's; nothing was changed.
	ErrNotOwner = errors.New("the outbox row belongs to another process")
	// ErrNotFound says that there is no row with the id.
	ErrNotFound = errors.New("no outbox row has this id")
	// ErrState says that the row is in a state in which the request makes no sense.
	ErrState = errors.New("the outbox row is not in a state that allows this")
)

// Kind says what a row delivers.
type Kind string

// The kinds of rows; at most one row per turn, kind and part.
const (
	Reply         Kind = "reply"
	ContactToken  Kind = "contact_token"
	HandoffNotice Kind = "handoff_notice"
)

// Kinds lists the kinds that a worker delivers, in the order in which they are claimed: nobody's late reply waits
// for the token of somebody new.
func Kinds() []Kind { return []Kind{Reply, HandoffNotice, ContactToken} }

// Status is where a row stands; docs/states.md draws the machine.
type Status string

// Delivered means that ManyChat accepted every request of the row.
const (
	Pending    Status = "pending"
	Delivering Status = "delivering"
	Delivered  Status = "delivered"
	Dead       Status = "dead"
	Withheld   Status = "withheld"
	Discarded  Status = "discarded"
)

// Final reports whether nothing happens to the row any more by itself.
func (s Status) Final() bool { return s != Pending && s != Delivering }

// Reason says why a row died.
type Reason string

// The reasons of a dead letter.
const (
	ReasonRejected  Reason = "rejected"  // ManyChat refused it; last_error names what
	ReasonUnknown   Reason = "unknown"   // a trigger's outcome was unknown twice
	ReasonExhausted Reason = "exhausted" // every attempt failed
	ReasonStale     Reason = "stale"     // older than OUTBOX_MAX_AGE_MIN
)

// The parts of a handoff notice.
const (
	TagPart     = 0
	FlowPart    = 1 // may speak to the contact, and so follows the reply
	WebhookPart = 2
)

// Row is one delivery. Seq is the place of its turn in the contact's order and Part
// its place among the turn's rows of its kind.
type Row struct {
	ID             string
	ConversationID string
	Key            contact.Key
	TurnID         string
	Kind           Kind
	Seq            int64
	Part           int
	Payload        Payload
	Status         Status
	Reason         Reason
	Attempts       int
	NextAttemptAt  time.Time
	LastError      string // redacted
	Owner          string
	CreatedAt      time.Time // when it was last queued: a retry by hand starts its age over
	DeliveredAt    time.Time
	// Counted is where the claim counted the flow that the row is about to send, as the store
	// keeps it; a release gives the count back. Zero: it counted none, or the flow may have
	// been sent.
	Counted int64
}

// SendsFlow reports whether the next attempt at the row sends the contact a flow.
func (r Row) SendsFlow() bool {
	switch r.Kind {
	case Reply:
		return !r.said()
	case HandoffNotice:
		return len(r.Payload.Actions) > 0 && r.Payload.Actions[0].ID == action.NoticeFlow
	}
	return false
}

// Payload is what a row carries. Of a reply: its texts, how many of them ManyChat has
// accepted, and the staged actions that follow them. Of a handoff notice: the one action
// that is the row's part of it. Of a token: the generation that it delivers, never the token.
type Payload struct {
	Generation int64 `json:"generation,omitempty"`

	Texts []string `json:"texts"`
	Sent  int      `json:"sent"`
	// Unknown counts the triggers of the text in hand whose answer was lost, and of a notice's
	// flow every start that did not certainly fail, before it is made.
	Unknown int              `json:"unknown,omitempty"`
	Actions []action.Pending `json:"actions,omitempty"`
	// PlaysUntil is when the flow ends that the reply follows; zero: it follows none.
	PlaysUntil time.Time `json:"playsUntil,omitzero"`
	// SaidAt is when the last text of a reply went out that has actions.
	SaidAt time.Time `json:"saidAt,omitzero"`
	// NudgeUntil is until when the texts of a nudge may go out, and only while its contact has not
	// written; zero: it is no nudge's.
	NudgeUntil time.Time `json:"nudgeUntil,omitzero"`
	// Acting is set before the first of a reply's actions, so that they are made once.
	Acting bool `json:"acting,omitempty"`
}

// Recallable reports whether a row is a nudge's of which something is unsaid: it is given up when
// the contact writes, and whenever it may not go out any more.
func (r Row) Recallable() bool { return !r.Payload.NudgeUntil.IsZero() && !r.said() }

// Store keeps the rows. Every method is one transaction; a write that finds the row
// not delivering under the named owner changes nothing and returns [ErrNotOwner].
type Store interface {
	// Claim takes due rows for owner, of each kind as many as there is room for, in the order
	// of [Kinds] and of each kind in due order, and counts an attempt
	// on each. A reply row is due when its time has come, no earlier reply row of its
	// contact is pending or delivering, its own turn is not answering, and the
	// contact's last text is at least gap ago. At most one reply row per contact is claimed.
	// The flow that a row is about to send is counted for its contact's limit an hour; a row
	// whose contact is at it is not claimed, and due when the contact no longer is.
	Claim(ctx context.Context, c Claim) ([]Row, error)
	// Progress stores the payload's Sent, Unknown, Acting and SaidAt; when sent is not zero it is also
	// the conversation's new last-sent time. It fails with [ErrNotOwner] as above.
	Progress(ctx context.Context, row Row, sent time.Time) error
	// Release ends the owner's work on a row: to the row's Status, Reason, LastError,
	// Attempts, NextAttemptAt and DeliveredAt. A row that dies marks its conversation as needing a
	// person. Of the turn's record, what ended names comes to what it says; of a row that is
	// dead from now on the other actions are dead-lettered, and of one that is withheld or
	// discarded they are discarded. What a performed write of a marked field says moves the
	// conversation's sale. What a note says is kept of a row that goes on, and of a
	// notice that is dead or withheld, which may be sent yet.
	// The flow that the row's Counted is of was certainly not sent. A nudge's row that would be
	// pending is discarded when the contact has written since.
	Release(ctx context.Context, row Row, ended []action.Ended) error
	// NextDue is the earliest instant at which a pending row of one of the kinds may become
	// claimable by time alone; ok is false when no such row is pending.
	NextDue(ctx context.Context, gap time.Duration, kinds []Kind) (at time.Time, ok bool, err error)
}

// Claim are the terms of [Store.Claim].
type Claim struct {
	// Owner is the process and the number of the claim, so that a write of an earlier
	// hold which arrives late, or is tried again, never ends a later one.
	Owner string
	Now   time.Time
	Gap   time.Duration // MANYCHAT_REPLY_GAP_MS
	Room  map[Kind]int  // how many rows of a kind to take; none of one that it does not hold
	// Abandon gives rows back first that nobody works on: those of owners that begin with it,
	// but for InHand. Empty: none. A flow that was counted for one of them stays counted.
	Abandon string
	InHand  []Hold
}

// Hold is a claimed row and the owner of its claim.
type Hold struct{ Owner, ID string }
