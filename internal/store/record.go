package store

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// insertAgentRow takes whether the turn is a duplicate, which is over at once.
const insertAgentRow = `
INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at,
    state, owner, attempt, offering, first_name, outcome, path, settled_at)
VALUES ($1, $1, $2, $3, 'agent', $4, $5, 0, '', $6, $7, $8, $9, $10, $11, $12, $13, $14)`

const insertContactRow = `
INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, counted, merges)
VALUES ($1, $2, $3, $4, 'contact', $5, $6, $7, $8, $9, $10, $11)`

// selectOpen reads the contact's unfinished turns that are bound as a message is.
const selectOpen = `
SELECT id, state FROM turns
WHERE conversation_id = $1 AND bound = CAST($2 AS BIGINT) AND ` + unfinished + `
ORDER BY seq LIMIT CAST($3 AS BIGINT)`

// selectLast reads the contact's last messages, and of each whether its answer is still to
// come.
const selectLast = `
SELECT m.text, m.received_at, coalesce(b.responded_at, a.responded_at) IS NULL
    AND coalesce(b.state, a.state) IN ('waiting', 'running', 'answering')
FROM turns m JOIN turns a ON a.id = m.turn_id LEFT JOIN turns b ON b.id = a.merged_into
WHERE m.conversation_id = $1 AND m.bound = CAST($2 AS BIGINT) AND m.role = 'contact' AND m.counted = 1
ORDER BY m.seq DESC LIMIT 16`

// mergeTurn ends a waiting turn, whose message another one answers.
const mergeTurn = `
UPDATE turns SET state = 'merged', outcome = 'merged', path = 'silent', merged_into = $2, settled_at = $3
WHERE id = $1 AND state = 'waiting'`

// moveMerged lets what was merged into a turn that is merged itself point at the answer.
const moveMerged = `
UPDATE turns SET merged_into = $2 WHERE merged_into = $1`

// hideMerged makes the messages of a set one entry of history, the newest's.
const hideMerged = `
UPDATE turns SET in_history = 0
WHERE role = 'contact' AND in_history = 1 AND turn_id IN (SELECT id FROM turns WHERE merged_into = $1)`

// showMerged makes them entries of their own again, behind a message that has no text to be
// one with.
const showMerged = `
UPDATE turns SET in_history = 1, merges = 0
WHERE role = 'contact' AND text <> '' AND turn_id IN (SELECT id FROM turns WHERE merged_into = $1)`

// openLimit bounds how many unfinished turns of a contact are looked at.
const openLimit = 256

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
	if e.Nudged {
		if err := nudges.Cancel(tx, e.ID, nudge.ContactReplied, now); err != nil {
			return r, err
		}
		e.Nudged = false
	}
	arrived, generation, err := e.judge(tx, a, now)
	if err != nil {
		return r, err
	}
	r.Conversation, r.Binding = e.Conversation, arrived.Binding
	if !arrived.Binding.Reads() { // it reads nothing about the contact either
		r.Conversation.Offering, r.Conversation.Chosen = a.Offering, false
	}
	r.Turn = conversation.Turn{
		ID: a.TurnID, ConversationID: e.ID, Key: a.Key, Seq: e.seq, Owner: a.Owner,
		Bound: arrived.Binding.Reads(), Text: a.Text, FirstName: a.FirstName,
		ReceivedAt: time.UnixMicro(a.ReceivedAt.UnixMicro()).UTC(),
	}
	unfinished, err := place(tx, &r.Turn, now)
	if err != nil {
		return r, err
	}
	if r.Turn.State == conversation.Waiting && r.Turn.Bound {
		r.Behind = len(unfinished) > 0
		r.Merged = mergeable(a, unfinished)
		if r.QueuedAhead, err = queue.Queued(tx, e.ID); err != nil {
			return r, err
		}
	}
	if err := insertTurn(tx, r, a.Offering); err != nil {
		return r, err
	}
	if arrived.Issued {
		if r.TokenRow, err = tokens.Queue(tx, a.TurnID, generation, now); err != nil {
			return r, err
		}
	}
	switch {
	case r.Turn.State == conversation.Running:
		err = readStart(tx, &r, a.Window)
	case a.Owner == "":
		r.QueuedAhead, err = queue.Queued(tx, e.ID)
	}
	return r, err
}

// mergeable are the turns that wait and that a message's turn answers too.
func mergeable(a turn.Arrival, unfinished []unfinishedTurn) (ids []string) {
	for _, u := range unfinished {
		if a.Merge && u.state == conversation.Waiting {
			ids = append(ids, u.id)
		}
	}
	return ids
}

// place says what a message's turn is to begin as, and which of the contact's turns that are
// bound as it is are not over.
func place(tx *groupcommit.Tx, t *conversation.Turn, now time.Time) (unfinished []unfinishedTurn, err error) {
	t.State, t.Attempt = conversation.Running, 1
	unfinished, err = open(tx, *t)
	if err != nil {
		return nil, err
	}
	if len(unfinished) > 0 {
		same, err := same(tx, *t)
		if err != nil {
			return nil, err
		}
		if same {
			t.State, t.Attempt, t.Outcome, t.Path, t.SettledAt = conversation.Settled, 0, conversation.Duplicate, conversation.Silent, now
			return nil, nil
		}
	}
	if t.Owner == "" || t.Bound && len(unfinished) > 0 {
		t.State, t.Attempt = conversation.Waiting, 0
	}
	return unfinished, nil
}

// unfinishedTurn is a turn of a contact that is not over.
type unfinishedTurn struct {
	id    string
	state conversation.State
}

func open(tx *groupcommit.Tx, t conversation.Turn) ([]unfinishedTurn, error) {
	rows, err := tx.Query(selectOpen, t.ConversationID, column.Flag(t.Bound), openLimit)
	return database.Collect(rows, err, func(r database.Row) (u unfinishedTurn, err error) {
		err = r.Scan(&u.id, &u.state)
		return u, err
	})
}

// same reports whether the contact has just written what a message says and waits for the
// answer.
func same(tx *groupcommit.Tx, t conversation.Turn) (found bool, err error) {
	if t.Text == "" {
		return false, nil
	}
	rows, err := tx.Query(selectLast, t.ConversationID, column.Flag(t.Bound))
	_, err = database.Collect(rows, err, func(r database.Row) (none struct{}, err error) {
		var text string
		var at time.Time
		var open bool
		err = r.Scan(&text, column.Instant(&at), &open)
		since := t.ReceivedAt.Sub(at)
		found = found || open && text == t.Text && since >= 0 && since < turn.DuplicateWithin
		return none, err
	})
	return found, err
}

// insertTurn writes the agent row, which the contact row names, and the contact row at
// the place before it, and merges what the turn answers besides.
func insertTurn(tx *groupcommit.Tx, r turn.Recorded, offering string) error {
	t, at := r.Turn, column.Micros(r.Turn.ReceivedAt)
	_, err := tx.Exec(insertAgentRow, t.ID, t.Key.TenantID, t.ConversationID, t.Seq, column.Flag(t.Bound), at, string(t.State),
		column.Optional(t.Owner), t.Attempt, offering, t.FirstName, column.Optional(t.Outcome), column.Optional(t.Path), column.Micros(t.SettledAt))
	if err != nil {
		return err
	}
	id, err := database.NewID()
	if err != nil {
		return err
	}
	counted := t.Outcome != conversation.Duplicate
	_, err = tx.Exec(insertContactRow, id, t.ID, t.Key.TenantID, t.ConversationID, t.Seq-1, column.Flag(t.Bound),
		column.Flag(t.Bound && t.Text != "" && counted), t.Text, at, column.Flag(counted), len(r.Merged))
	if err != nil || len(r.Merged) == 0 {
		return err
	}
	return merge(tx, r)
}

// merge makes earlier waiting turns part of a turn.
func merge(tx *groupcommit.Tx, r turn.Recorded) error {
	for _, id := range r.Merged {
		if _, err := tx.Exec(mergeTurn, id, r.Turn.ID, column.Micros(r.Turn.ReceivedAt)); err != nil {
			return err
		}
		if _, err := tx.Exec(moveMerged, id, r.Turn.ID); err != nil {
			return err
		}
	}
	entries := hideMerged
	if r.Turn.Text == "" {
		entries = showMerged
	}
	_, err := tx.Exec(entries, r.Turn.ID)
	return err
}
