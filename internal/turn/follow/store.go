package follow

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Store is what a follow-up writes. Every method is one transaction.
type Store interface {
	// ClaimNudge takes a due nudge, and reads what its turn starts from. The turn is running
	// under its owner from then on, bound, and has the contact's lane, which it never waits for.
	// When something calls the nudge off that is known by then, or it is unwanted, it ends so and
	// no turn runs. [nudge.ErrGone] when it is not pending, or not due, any more, and
	// [turn.ErrNotOwner] when the contact is not held any more.
	ClaimNudge(ctx context.Context, c Claim) (Claimed, error)
	// Settle is [turn.Store.Settle], which notes how the nudge ended, too. Whatever calls the
	// nudge off meanwhile ends its turn, so that [turn.ErrNotOwner] is all there is to say.
	Settle(ctx context.Context, s turn.Settlement) error
	// NoteTag is [person.Store.NoteTag].
	NoteTag(ctx context.Context, who contact.Key, active bool) error
}

// Claim are the terms of [Store.ClaimNudge].
type Claim struct {
	NudgeID        string
	ConversationID string
	TurnID         string // of the turn to be
	Owner          string
	Unanswered     bool // the agent does not answer the contact any more
	Unwanted       bool // the tenant's files do not have the delay any more
	Window         turn.Window
}

// Claimed is what a claim found.
type Claimed struct {
	Runs      bool          // the turn has begun
	CalledOff nudge.Reason  // why it has not; empty: it is unwanted
	Recorded  turn.Recorded // what the turn starts from
	Facts     nudge.Facts   // as they were
}
