package store

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
)

// ClaimNudge fills [follow.Store].
func (db *DB) ClaimNudge(ctx context.Context, k follow.Claim) (follow.Claimed, error) {
	now := db.now()
	claimed, err := inTx(ctx, db, func(tx *groupcommit.Tx) (follow.Claimed, error) { return claimNudge(tx, k, now) })
	if err != nil {
		return follow.Claimed{}, fmt.Errorf("claim nudge %s: %w", k.NudgeID, err)
	}
	return claimed, nil
}

func claimNudge(tx *groupcommit.Tx, k follow.Claim, now time.Time) (follow.Claimed, error) {
	c, err := lock(tx, k.ConversationID)
	if err != nil {
		return follow.Claimed{}, err
	}
	claimed, err := nudges.Claim(tx, c, k, now)
	if err != nil || !claimed.Runs {
		return claimed, err
	}
	if claimed.Recorded, err = started(tx, c, k.TurnID); err != nil {
		return claimed, err
	}
	return claimed, readStart(tx, &claimed.Recorded, k.Window)
}

// callOff calls off the nudge of a contact whom a person takes over, or notes how the nudge
// ended whose turn settles.
func callOff(tx *groupcommit.Tx, c conversation.Conversation, s turn.Settlement, now time.Time) error {
	switch {
	case s.Turn.Nudge:
		return nudges.Settled(tx, s, now)
	case s.Turn.Reason != "" && c.Nudged:
		return nudges.Cancel(tx, c.ID, nudge.Escalated, now)
	}
	return nil
}
