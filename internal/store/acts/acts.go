// Package acts keeps what turns do besides replying: the record of their actions, those
// that wait, and the rights to send flows. It fills [turn.Acts] together with package
// store, and the claims of package delivery.
package acts

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// settleActed locks the turn's row before its record is read.
const settleActed = `
UPDATE turns SET state = 'settled', pending = NULL
WHERE id = $1 AND state = 'answering' AND responded_at IS NOT NULL
RETURNING actions`

const noteRecord = `
UPDATE turns SET actions = $4
WHERE id = $1 AND state = 'running' AND owner = $2 AND attempt = $3
RETURNING conversation_id, bound, seq`

// Book is the database as actions see it.
type Book struct {
	db    *database.DB
	limit flowslots.Limit
}

// In returns the actions of a database, whose contacts are sent flows up to the limit.
func In(db *database.DB, limit flowslots.Limit) *Book { return &Book{db, limit} }

// ClaimFlow gives the right to send a flow to a contact, or [action.ErrSent], or
// [action.ErrFlowLimit], and counts it.
func (b *Book) ClaimFlow(ctx context.Context, c action.Claim) error {
	if c.At.IsZero() {
		c.At = b.db.Now()
	}
	err := b.write(ctx, func(tx *groupcommit.Tx) error {
		if err := claim(tx, c); err != nil {
			return err
		}
		return b.CountFlow(tx, c)
	})
	if err != nil {
		return fmt.Errorf("claim flow %s for turn %s: %w", c.Flow, c.TurnID, err)
	}
	return nil
}

// ReleaseFlow takes a right back whose flow certainly was not sent. It leaves the right of
// another turn alone.
func (b *Book) ReleaseFlow(ctx context.Context, c action.Claim) error {
	if err := b.write(ctx, func(tx *groupcommit.Tx) error { return giveBack(tx, c) }); err != nil {
		return fmt.Errorf("give back flow %s of turn %s: %w", c.Flow, c.TurnID, err)
	}
	return nil
}

// Acted notes what became of the actions behind a response, and settles the turn. The caller has
// locked its conversation.
func Acted(tx *groupcommit.Tx, turnID string, ended []action.Ended) error {
	var record []action.Record
	err := tx.QueryRow(settleActed, turnID).Scan(column.JSON(&record))
	if errors.Is(err, sql.ErrNoRows) {
		return turn.ErrNotOwner
	}
	if err != nil {
		return err
	}
	return end(tx, turnID, record, ended)
}

func (b *Book) write(ctx context.Context, fn func(tx *groupcommit.Tx) error) error {
	_, err := database.Write(ctx, b.db, func(tx *groupcommit.Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}

// Noted is what remains to be asked of a flow that was noted.
type Noted struct {
	// Claim is that of a flow that is about to be sent, and zero of any other: it is to be
	// counted.
	Claim action.Claim
	// Behind is the conversation whose queued replies it must follow; empty: it follows none.
	// Nobody waits for an unbound turn, and it waits for nobody.
	Behind string
}

// Note writes the record of a running turn, and claims its flow or gives it back. held says why
// nothing may be sent that has a place in the conversation's order; nil: it may.
func Note(tx *groupcommit.Tx, n turn.FlowNote, held func(seq int64) error) (left Noted, err error) {
	var bound bool
	var seq int64
	err = tx.QueryRow(noteRecord, n.TurnID, n.Owner, n.Attempt, column.List(n.Actions)).Scan(&n.Claim.ConversationID, &bound, &seq)
	if errors.Is(err, sql.ErrNoRows) {
		return left, turn.ErrNotOwner
	}
	if err != nil {
		return left, err
	}
	n.Claim.TurnID = n.TurnID
	switch flow := noted(n); {
	case flow.Status == action.Sending:
		if err := held(seq); err != nil {
			return left, err
		}
		if err := claim(tx, n.Claim); err != nil {
			return left, err
		}
		left.Claim = n.Claim
		if bound {
			left.Behind = n.Claim.ConversationID
		}
	case certainlyUnsent(flow):
		return left, giveBack(tx, n.Claim)
	}
	return left, nil
}

// noted is the entry that a note is about: the flow's last, which is the last of all unless
// flows are sent side by side.
func noted(n turn.FlowNote) (last action.Record) {
	for _, r := range slices.Backward(n.Actions) {
		if r.Tool == action.SendFlow && r.ID == n.Claim.Flow {
			return r
		}
	}
	if len(n.Actions) > 0 {
		last = n.Actions[len(n.Actions)-1]
	}
	return last
}
