package nudges

import (
	"database/sql"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
)

// selectNudge reads a nudge, whether anybody wrote since it was planned or a turn of the
// contact is not over, and what a turn of it is told of the request before.
const selectNudge = `
SELECT n.state, n.message_at, n.due_at, n.created_at, coalesce(s.first_name, ''),
    s.id IS NULL OR s.seq < (SELECT c.last_seq FROM conversations c WHERE c.id = n.conversation_id) OR EXISTS (
        SELECT 1 FROM turns o WHERE o.conversation_id = n.conversation_id AND o.bound = 1 AND o.state IN ('waiting', 'running', 'answering'))
FROM nudges n LEFT JOIN turns s ON s.id = n.turn_id
WHERE n.id = $1`

const beginNudge = `
UPDATE nudges SET state = 'running', nudge_id = $2 WHERE id = $1`

const endNudge = `
UPDATE nudges SET state = $2, reason = $3, ended_at = $4 WHERE id = $1`

// takePlace takes two places in the contact's order, as a message does.
const takePlace = `
UPDATE conversations SET last_seq = last_seq + 2, nudged = 1 WHERE id = $1 RETURNING last_seq`

const insertNudgeTurn = `
INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at,
    state, owner, attempt, first_name, nudge)
VALUES ($1, $1, $2, $3, 'agent', $4, 1, 0, '', $5, 'running', $6, 1, $7, 1)`

const settleNudge = `
UPDATE nudges SET state = $3, reason = $4, ended_at = $5
WHERE conversation_id = $1 AND state IN ('pending', 'running') AND state = 'running' AND nudge_id = $2`

// Claim takes a due nudge, whose turn runs from then on and has the contact's lane, or calls it
// off. The caller has locked the conversation c, and reads the turn behind it. [nudge.ErrGone]
// when the nudge is not pending, or not due, any more.
func Claim(tx *groupcommit.Tx, c conversation.Conversation, k follow.Claim, now time.Time) (follow.Claimed, error) {
	f := nudge.Facts{
		Now: now, HandoffAt: c.HandoffSaidAt, Paused: c.Paused(now) || k.Unanswered, OptedOut: !c.OptedOutAt.IsZero(), Stage: c.Stage,
	}
	var state, firstName string
	var dueAt time.Time
	err := tx.QueryRow(selectNudge, k.NudgeID).Scan(&state, column.Instant(&f.MessageAt), column.Instant(&dueAt),
		column.Instant(&f.PlannedAt), &firstName, &f.Wrote)
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && (state != "pending" || dueAt.After(now)):
		return follow.Claimed{}, nudge.ErrGone
	case err != nil:
		return follow.Claimed{}, err
	}
	claimed := follow.Claimed{Facts: f}
	if reason, off := f.CalledOff(); off {
		claimed.CalledOff = reason
		_, err := tx.Exec(endNudge, k.NudgeID, "cancelled", string(reason), column.Micros(now))
		return claimed, err
	}
	if k.Unwanted {
		_, err := tx.Exec(endNudge, k.NudgeID, "skipped", nil, column.Micros(now))
		return claimed, err
	}
	claimed.Runs = true
	return claimed, begin(tx, k, conversation.Turn{ID: k.TurnID, Key: c.Key, ConversationID: c.ID, Owner: k.Owner, FirstName: firstName, ReceivedAt: now})
}

// begin makes the turn that a nudge becomes.
func begin(tx *groupcommit.Tx, k follow.Claim, t conversation.Turn) error {
	if err := tx.QueryRow(takePlace, t.ConversationID).Scan(&t.Seq); err != nil {
		return err
	}
	_, err := tx.Exec(insertNudgeTurn, t.ID, t.Key.TenantID, t.ConversationID, t.Seq, column.Micros(t.ReceivedAt), t.Owner, t.FirstName)
	if err != nil {
		return err
	}
	_, err = tx.Exec(beginNudge, k.NudgeID, k.TurnID)
	return err
}

// Settled notes how a nudge ended whose turn has just settled.
func Settled(tx *groupcommit.Tx, s turn.Settlement, now time.Time) error {
	state := "skipped"
	switch {
	case s.Turn.Outcome == conversation.NudgeSent:
		state = "sent"
	case s.CalledOff != "":
		state = "cancelled"
	}
	_, err := tx.Exec(settleNudge, s.Turn.ConversationID, s.Turn.ID, state, column.Optional(s.CalledOff), column.Micros(now))
	return err
}

// Lose ends the turn of a nudge whose process is gone: it is not run again, so that nothing is
// sent twice (docs/spec/03-turn.md, "Crash recovery").
func Lose(tx *groupcommit.Tx, t conversation.Turn, now time.Time) error {
	if _, err := tx.Exec(endTurn, t.ID, column.Micros(now)); err != nil {
		return err
	}
	return Settled(tx, turn.Settlement{Turn: t}, now)
}
