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
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

const insertAgentRow = `
INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at,
    state, owner, attempt, offering, first_name)
VALUES ($1, $1, $2, $3, 'agent', $4, $5, 0, '', $6, 'running', $7, 1, $8, $9)`

const insertContactRow = `
INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at)
VALUES ($1, $2, $3, $4, 'contact', $5, $6, $7, $8, $9)`

// settleTurn ends a running turn. in_history asks bound once more: the row decides what
// enters history, whatever the caller believes.
const settleTurn = `
UPDATE turns SET state = $4, outcome = $5, path = $6, escalation_reason = $7, settled_at = $8, replies = $9,
    model = $10, prompt_version = $11, tokens_in = $12, tokens_cached = $13, tokens_out = $14, cost_micros = $15,
    timings = $16, confidence = $17, interventions = $18, actions = $19, text = $20,
    in_history = CASE WHEN bound = 1 THEN $21 ELSE 0 END, calls = $22, pending = $23
WHERE id = $1 AND state = 'running' AND owner = $2 AND attempt = $3
RETURNING conversation_id`

// stampTurn takes whether actions follow the response.
const stampTurn = `
UPDATE turns SET responded_at = $2, state = CASE WHEN $3 = 1 THEN 'answering' ELSE 'settled' END,
    pending = CASE WHEN $3 = 1 THEN pending END
WHERE id = $1 AND state = 'answering' AND responded_at IS NULL
RETURNING bound`

const rerouteTurn = `
UPDATE turns SET state = 'settled', path = 'outbox', pending = NULL
WHERE id = $1 AND state = 'answering' AND responded_at IS NULL`

// Record fills [turn.Store].
func (db *DB) Record(ctx context.Context, a turn.Arrival) (turn.Recorded, error) {
	now := db.now()
	r, err := inTx(ctx, db, func(tx *groupcommit.Tx) (turn.Recorded, error) { return record(tx, a, now) })
	if err != nil {
		return turn.Recorded{}, fmt.Errorf("record a message: %w", err)
	}
	return r, nil
}

func record(tx *groupcommit.Tx, a turn.Arrival, now time.Time) (r turn.Recorded, err error) {
	e, err := enter(tx, a.Key, now)
	if err != nil {
		return r, err
	}
	arrived, generation, err := e.judge(tx, a, now)
	if err != nil {
		return r, err
	}
	r.Conversation, r.Binding = e.Conversation, arrived.Binding
	if !arrived.Binding.Reads() { // it reads nothing about the contact either
		r.Conversation.Offering = a.Offering
	}
	r.Turn = conversation.Turn{
		ID: a.TurnID, ConversationID: e.ID, Key: a.Key, Seq: e.seq, State: conversation.Running, Owner: a.Owner,
		Attempt: 1, Bound: arrived.Binding.Reads(), Text: a.Text, FirstName: a.FirstName,
		ReceivedAt: time.UnixMicro(a.ReceivedAt.UnixMicro()).UTC(),
	}
	if err := insertTurn(tx, r.Turn, a.Offering); err != nil {
		return r, err
	}
	if arrived.Issued {
		if r.TokenRow, err = tokens.Queue(tx, a.TurnID, generation, now); err != nil {
			return r, err
		}
	}
	err = readStart(tx, &r, window{since: a.HistorySince, limit: a.HistoryLimit, recent: a.RecentLimit})
	return r, err
}

// readStart reads what a turn starts from.
func readStart(tx *groupcommit.Tx, r *turn.Recorded, w window) (err error) {
	if r.History, err = history(tx, *r, w); err != nil {
		return err
	}
	if r.Recent, err = recent(tx, r.Turn, w.recent); err != nil {
		return err
	}
	if r.Sent, err = acts.Sent(tx, r.Turn.ConversationID, w.since); err != nil {
		return err
	}
	r.QueuedAhead, err = queue.Queued(tx, r.Turn.ConversationID)
	return err
}

// insertTurn writes the agent row, which the contact row names, and the contact row at
// the place before it.
func insertTurn(tx *groupcommit.Tx, t conversation.Turn, offering string) error {
	at := column.Micros(t.ReceivedAt)
	_, err := tx.Exec(insertAgentRow, t.ID, t.Key.TenantID, t.ConversationID, t.Seq, column.Flag(t.Bound), at, column.Optional(t.Owner), offering, t.FirstName)
	if err != nil {
		return err
	}
	id, err := database.NewID()
	if err != nil {
		return err
	}
	_, err = tx.Exec(insertContactRow, id, t.ID, t.Key.TenantID, t.ConversationID, t.Seq-1, column.Flag(t.Bound),
		column.Flag(t.Bound && t.Text != ""), t.Text, at)
	return err
}

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
	var conversationID string
	err := tx.QueryRow(settleTurn, args...).Scan(&conversationID)
	if errors.Is(err, sql.ErrNoRows) {
		return turn.ErrNotOwner
	}
	if err != nil {
		return err
	}
	if err := sayHandoff(tx, conversationID, s); err != nil {
		return err
	}
	if s.Turn.Path == conversation.Inline && s.Turn.Bound {
		ahead, err := queue.Queued(tx, conversationID)
		if err != nil {
			return err
		}
		if ahead {
			return turn.ErrQueuedAhead
		}
		if err := reserveGap(tx, conversationID, s, now); err != nil {
			return err
		}
	}
	if err := acts.GiveBack(tx, conversationID, s.Turn.ID, s.Turn.Actions); err != nil {
		return err
	}
	if len(s.Notices) > 0 {
		if _, err := tx.Exec(moveNotified, conversationID, column.Micros(s.Turn.SettledAt)); err != nil {
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
func reserveGap(tx *groupcommit.Tx, conversationID string, s turn.Settlement, now time.Time) error {
	if !s.Turn.Bound {
		return nil
	}
	var sent time.Time
	if err := tx.QueryRow(selectLastSent, conversationID).Scan(column.Instant(&sent)); err != nil {
		return err
	}
	if !sent.After(latest(s.Turn.SettledAt, now)) && sent.Add(s.Gap).After(s.Turn.SettledAt) {
		return &turn.TooSoonError{LastSent: sent}
	}
	return queue.MoveLastSent(tx, conversationID, s.Turn.SettledAt)
}

// sayHandoff notes that a bound contact is told of a handoff, or fails with
// [turn.ErrQuiet] when that was said a moment ago. Handoffs that settle at once are
// told apart here: only the first is said.
func sayHandoff(tx *groupcommit.Tx, conversationID string, s turn.Settlement) error {
	if s.Turn.Reason == "" || s.Turn.Path == conversation.Silent || !s.Turn.Bound {
		return nil
	}
	if s.Quiet > 0 {
		var said time.Time
		if err := tx.QueryRow(selectHandoffSaid, conversationID).Scan(column.Instant(&said)); err != nil {
			return err
		}
		if since := s.Turn.SettledAt.Sub(said); since >= 0 && since < s.Quiet {
			return turn.ErrQuiet
		}
	}
	_, err := tx.Exec(moveHandoffSaid, conversationID, column.Micros(s.Turn.SettledAt))
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
	err := exec(ctx, db, func(tx *groupcommit.Tx) error { return stamp(tx, s) })
	if err != nil {
		return fmt.Errorf("stamp turn %s: %w", s.TurnID, err)
	}
	return nil
}

func stamp(tx *groupcommit.Tx, s turn.Stamp) error {
	bound := true
	if s.TurnID != "" {
		err := tx.QueryRow(stampTurn, s.TurnID, column.Micros(s.At), column.Flag(s.Acts)).Scan(&bound)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // stamped already, or its reply went another way
		}
		if err != nil {
			return err
		}
	}
	if s.Silent || !bound {
		return nil
	}
	return queue.MoveLastSent(tx, s.ConversationID, s.At)
}

// Reroute fills [turn.Store].
func (db *DB) Reroute(ctx context.Context, turnID string, row outbox.Row) error {
	now := db.now()
	err := exec(ctx, db, func(tx *groupcommit.Tx) error {
		if err := reroute(tx, turnID, row, now); err != nil {
			return err
		}
		_, err := tx.Exec(forgetReserved, turnID)
		return err
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
	return queue.Add(tx, turnID, row, now)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
