package store

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// NoteFlow fills [turn.Acts]. A flow that the contact has already is refused before it is
// asked whether it could go out now.
func (db *DB) NoteFlow(ctx context.Context, n turn.FlowNote) error {
	if err := exec(ctx, db, func(tx *groupcommit.Tx) error { return db.noteFlow(tx, n, db.now()) }); err != nil {
		return fmt.Errorf("note flow %s of turn %s: %w", n.Claim.Flow, n.TurnID, err)
	}
	return nil
}

func (db *DB) noteFlow(tx *groupcommit.Tx, n turn.FlowNote, now time.Time) error {
	c, err := lockOf(tx, n.TurnID)
	if err != nil {
		return err
	}
	left, err := acts.Note(tx, n, func(seq int64) error {
		switch {
		case c.Taken(seq, now, n.Tagged):
			return turn.ErrPaused
		case c.Mute(n.Wish):
			return turn.ErrOptedOut
		}
		return nil
	})
	if err != nil {
		return err
	}
	if left.Behind != "" {
		ahead, err := queue.Queued(tx, left.Behind)
		if err != nil {
			return err
		}
		if ahead {
			return turn.ErrQueuedAhead
		}
	}
	if left.Claim.Flow == "" {
		return nil
	}
	return db.CountFlow(tx, left.Claim)
}

// Acted fills [turn.Acts].
func (db *DB) Acted(ctx context.Context, turnID string, ended []action.Ended) error {
	err := exec(ctx, db, func(tx *groupcommit.Tx) error {
		if err := queue.LockConversation(tx, turnID); err != nil {
			return err
		}
		return acts.Acted(tx, turnID, ended)
	})
	if err != nil {
		return fmt.Errorf("write what became of the actions of turn %s: %w", turnID, err)
	}
	return nil
}
