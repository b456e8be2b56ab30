package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/said"
	"github.com/manychat-agent/manychat-agent/internal/store/talk"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// settleTurn ends a running turn. in_history asks bound once more: the row decides what
// enters history, whatever the caller believes.
const settleTurn = `
UPDATE turns SET state = $4, outcome = $5, path = $6, escalation_reason = $7, settled_at = $8, replies = $9,
    model = $10, prompt_version = $11, tokens_in = $12, tokens_cached = $13, tokens_out = $14, cost_micros = $15,
    timings = $16, confidence = $17, interventions = $18, actions = $19, text = $20,
    in_history = CASE WHEN bound = 1 THEN $21 ELSE 0 END, calls = $22, pending = $23
WHERE id = $1 AND state = 'running' AND owner = $2 AND attempt = $3`

// stampTurn takes whether actions follow the response.
const stampTurn = `
UPDATE turns SET responded_at = $2, state = CASE WHEN $3 = 1 THEN 'answering' ELSE 'settled' END,
    pending = CASE WHEN $3 = 1 THEN pending END
WHERE id = $1 AND state = 'answering' AND responded_at IS NULL
RETURNING bound`

const rerouteTurn = `
UPDATE turns SET state = 'settled', path = 'outbox', pending = NULL
WHERE id = $1 AND state = 'answering' AND responded_at IS NULL`

// Settle fills [turn.Store].
func (db *DB) Settle(ctx context.Context, s turn.Settlement) error {
	s.Turn.State = conversation.Settled
	if s.Turn.Path == conversation.Inline {
		s.Turn.State = conversation.Answering
	}
	if s.Turn.SettledAt.IsZero() {
		s.Turn.SettledAt = db.now()
	}
	args := settleArgs(s) // encoded here, not on the writer's time
	err := exec(ctx, db, func(tx *groupcommit.Tx) error { return settle(tx, s, args, db.now()) })
	if err != nil {
		return fmt.Errorf("settle turn %s: %w", s.Turn.ID, err)
	}
	return nil
}

func settle(tx *groupcommit.Tx, s turn.Settlement, args []any, now time.Time) error {
	if err := talk.HoldForWish(tx, s); err != nil {
		return err
	}
	c, err := lock(tx, s.Turn.ConversationID)
	if err != nil {
		return err
	}
	if s.Turn.Path != conversation.Silent && c.Taken(s.Turn.Seq, now, s.Tagged) {
		return turn.ErrPaused
	}
	if talk.Silenced(c, s) {
		return turn.ErrOptedOut
	}
	settled, err := database.Affected(tx.Exec(settleTurn, args...))
	if err != nil {
		return err
	}
	if settled == 0 {
		return turn.ErrNotOwner
	}
	if err := talk.Grant(tx, c, s, now); err != nil {
		return err
	}
	if err := callOff(tx, c, s, now); err != nil {
		return err
	}
	if err := sayHandoff(tx, c, s); err != nil {
		return err
	}
	if s.Turn.Path == conversation.Inline && s.Turn.Bound {
		if err := queue.Carry(tx, s); err != nil {
			return err
		}
		if err := reserveGap(tx, c, s, now); err != nil {
			return err
		}
	}
	if s.Turn.Reason != "" && s.PauseUntil.After(now) {
		if err := talk.Hold(tx, s, now); err != nil {
			return err
		}
	}
	if err := acts.GiveBack(tx, c.ID, s.Turn.ID, s.Turn.Actions); err != nil {
		return err
	}
	if s.OpeningOver {
		if err := acts.CloseOpening(tx, c.ID); err != nil {
			return err
		}
	}
	if len(s.Notices) > 0 {
		if _, err := tx.Exec(moveNotified, c.ID, column.Micros(s.Turn.SettledAt)); err != nil {
			return err
		}
	}
	return queueSettled(tx, s, now)
}

// queueSettled adds the rows of a turn that settles.
func queueSettled(tx *groupcommit.Tx, s turn.Settlement, now time.Time) error {
	for _, n := range s.Notices {
		n.Kind = outbox.HandoffNotice
		if err := queue.Add(tx, s.Turn.ID, n, now); err != nil {
			return err
		}
	}
	if s.Row == nil {
		return nil
	}
	r := *s.Row
	if s.Turn.Path == conversation.Inline && r.Part == 0 {
		r.Part = 1 // part 0 is the response's own text, should it have to be rerouted
	}
	return queue.Add(tx, s.Turn.ID, r, now)
}

// reserveGap fails with a [turn.TooSoonError] when a text went out less than the gap
// before the turn settles. Otherwise the contact's last text is this one from now on,
// before its response is written: of several that settle at once only one goes out
// now. A time later than the transaction's is a clock that was set back; one between the
// two was written while the settlement was on its way. An unbound turn neither waits
// nor is waited for.
func reserveGap(tx *groupcommit.Tx, c conversation.Conversation, s turn.Settlement, now time.Time) error {
	at := s.Turn.SettledAt.Round(0) // by the time of day, which last-sent times are kept in
	now = now.Round(0)
	if now.Before(at.Add(-s.Gap)) {
		at = now // the clock was set back while the settlement was on its way
	}
	if sent := c.LastSentAt; !sent.After(latest(at, now)) && sent.Add(s.Gap).After(at) {
		return &turn.TooSoonError{LastSent: sent}
	}
	return queue.MoveLastSent(tx, c.ID, s.Turn.SettledAt, now)
}

// sayHandoff notes that a bound contact is told of a handoff, or fails with
// [turn.ErrQuiet] when that was said a moment ago. Handoffs that settle at once are
// told apart here: only the first is said.
func sayHandoff(tx *groupcommit.Tx, c conversation.Conversation, s turn.Settlement) error {
	if s.Turn.Reason == "" || s.Turn.Path == conversation.Silent || !s.Turn.Bound {
		return nil
	}
	if since := s.Turn.SettledAt.Sub(c.HandoffSaidAt); s.Quiet > 0 && since >= 0 && since < s.Quiet {
		return turn.ErrQuiet
	}
	_, err := tx.Exec(moveHandoffSaid, c.ID, column.Micros(s.Turn.SettledAt))
	return err
}

func settleArgs(s turn.Settlement) []any {
	t, text := s.Turn, said.Joined(s.Turn.Replies)
	if t.State != conversation.Answering || len(s.Pending) == 0 {
		s.Pending = nil
	}
	return []any{
		t.ID, t.Owner, t.Attempt,
		string(t.State), column.Optional(t.Outcome), column.Optional(t.Path), column.Optional(t.Reason), column.Micros(t.SettledAt), column.List(t.Replies),
		t.Model, t.PromptVersion, t.Spend.TokensIn, t.Spend.TokensCached, t.Spend.TokensOut, t.Spend.CostMicros,
		column.Object(t.Timings), t.Confidence, column.List(t.Interventions), column.List(t.Actions),
		text, column.Flag(text != "" && said.Remembered(t.Outcome)), column.List(t.Calls), column.List(s.Pending),
	}
}

// Stamp fills [turn.Store].
func (db *DB) Stamp(ctx context.Context, s turn.Stamp) error {
	now := db.now()
	err := exec(ctx, db, func(tx *groupcommit.Tx) error { return stamp(tx, s, now) })
	if err != nil {
		return fmt.Errorf("stamp turn %s: %w", s.TurnID, err)
	}
	return nil
}

func stamp(tx *groupcommit.Tx, s turn.Stamp, now time.Time) error {
	_, err := lock(tx, s.ConversationID)
	if errors.Is(err, turn.ErrNotOwner) {
		return nil // the contact was erased meanwhile
	}
	if err != nil {
		return err
	}
	bound := true
	if s.TurnID != "" {
		err := tx.QueryRow(stampTurn, s.TurnID, column.Micros(s.At), column.Flag(s.Acts)).Scan(&bound)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // stamped already, or its reply went another way
		}
		if err != nil {
			return err
		}
		if err := queue.Carried(tx, s); err != nil {
			return err
		}
	}
	if s.Silent || !bound {
		return nil
	}
	return queue.MoveLastSent(tx, s.ConversationID, s.At, now)
}

// Reroute fills [turn.Store].
func (db *DB) Reroute(ctx context.Context, turnID string, row outbox.Row) error {
	now := db.now()
	err := exec(ctx, db, func(tx *groupcommit.Tx) error {
		if _, err := lock(tx, row.ConversationID); err != nil {
			return err
		}
		return reroute(tx, turnID, row, now)
	})
	if err != nil {
		return fmt.Errorf("reroute turn %s: %w", turnID, err)
	}
	return nil
}

func reroute(tx *groupcommit.Tx, turnID string, row outbox.Row, now time.Time) error {
	changed, err := database.Affected(tx.Exec(rerouteTurn, turnID))
	if err != nil {
		return err
	}
	if changed == 0 {
		return turn.ErrNotOwner
	}
	if _, err := tx.Exec(forgetReserved, turnID); err != nil {
		return err
	}
	if err := queue.Uncarry(tx, row.ConversationID, turnID); err != nil {
		return err
	}
	return queue.Add(tx, turnID, row, now)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
