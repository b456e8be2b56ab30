// Package nudge decides about contacts who went quiet: when a follow-up that the agent planned
// is due, and what calls it off (docs/spec/09-nudge.md). It looks for due nudges and has a turn
// of them run, which is [Turns]' to do.
package nudge

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Reason says why a nudge was called off.
type Reason string

// The reasons of docs/spec/09-nudge.md.
const (
	ContactReplied Reason = "contact_replied" // the contact wrote, or a turn of theirs is not over
	Escalated      Reason = "escalated"       // a person takes over
	LinkSent       Reason = "link_sent"       // the contact has the link to pay
	WindowClosing  Reason = "window_closing"  // WhatsApp soon takes no text any more
	HumanActive    Reason = "human_active"    // the contact carries the tag of a person who is active
	ReadFailed     Reason = "read_failed"     // nobody knows whether they do
	CapReached     Reason = "cap_reached"     // the day's budget, or the contact's cap, is used up
	Paused         Reason = "paused"          // a person has the conversation, or the agent does not answer the contact
	OptedOut       Reason = "opted_out"       // the contact asked not to be written to
)

// Reasons lists the reasons in the order in which they are looked for.
func Reasons() (all []Reason) {
	for _, r := range rules() {
		all = append(all, r.reason)
	}
	return all
}

// Errors of a [Store], and of whoever takes a nudge.
var (
	// ErrOver says that a nudge is not planned since the conversation went on: the contact wrote
	// again, a person has them, or they asked not to be written to. Nothing was changed.
	ErrOver = errors.New("the conversation went on since the nudge was staged")
	// ErrLate says that the nudge would have been due by now: the reply that it follows was
	// delivered late, and the contact is not quiet yet. Nothing was changed.
	ErrLate = errors.New("the nudge would be due already")
	// ErrGone says that a nudge is not pending any more, or not due; nothing was changed.
	ErrGone = errors.New("the nudge is not to be taken")
)

// Plan is a nudge to be: the turn that staged it answered the contact's last message.
type Plan struct {
	ConversationID string
	TurnID         string
	Delay          string        // its configured id
	After          time.Duration // from the contact's last message
}

// DelayOf is the delay with an id in a tenant's files, which may have changed since it was chosen.
func DelayOf(t *tenant.Tools, id string) (d tenant.Delay, found bool) {
	if t == nil || t.Nudge == nil {
		return d, false
	}
	if i := slices.IndexFunc(t.Nudge.Delays, func(d tenant.Delay) bool { return d.ID == id }); i >= 0 {
		return t.Nudge.Delays[i], true
	}
	return d, false
}

// Due is a nudge whose time has come.
type Due struct {
	ID             string
	ConversationID string
	Key            contact.Key
	Delay          string // its configured id
}

// Store keeps what is planned. Every method is one transaction.
type Store interface {
	// Schedule plans the one nudge of a conversation, in place of one that is pending. It fails
	// with [ErrOver] or [ErrLate].
	Schedule(ctx context.Context, p Plan) error
	// Due are a tenant's nudges that are due, the soonest first.
	Due(ctx context.Context, tenantID string, limit int) ([]Due, error)
}

// Turns run the turns that nudges become.
type Turns interface {
	// Follow takes a due nudge and runs its turn to the end, unless something calls it off or
	// somebody else has taken it. The end of ctx cuts it short. Its error says that the database
	// did not answer: the nudge is as it was.
	Follow(ctx context.Context, d Due) error
}
