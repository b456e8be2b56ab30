package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/journal"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// selectEarlier asks for a turn of the contact that is to be over before another starts.
const selectEarlier = `
SELECT EXISTS (SELECT 1 FROM turns WHERE conversation_id = $1 AND bound = 1 AND seq < $2 AND ` + unfinished + `)`

const selectWaiting = `
SELECT EXISTS (SELECT 1 FROM turns WHERE conversation_id = $1 AND ` + unfinished + ` AND state = 'waiting')`

const startTurn = `
UPDATE turns SET state = 'running', attempt = attempt + 1
WHERE id = $1 AND state = 'waiting' AND owner = $2`

const selectStarted = `
SELECT ` + journal.Columns + `, a.offering FROM turns a` + journal.Join + `
WHERE a.id = $1 AND a.role = 'agent'`

// selectMerged reads the other messages that a turn answers.
const selectMerged = `
SELECT m.text, m.seq FROM turns a JOIN turns m ON m.turn_id = a.id AND m.role = 'contact'
WHERE a.merged_into = $1 ORDER BY a.seq`

// Start fills [turn.Lane].
func (db *DB) Start(ctx context.Context, s turn.Start) (turn.Recorded, error) {
	r, err := inTx(ctx, db, func(tx *groupcommit.Tx) (turn.Recorded, error) { return begin(tx, s) })
	if err != nil {
		return turn.Recorded{}, fmt.Errorf("start turn %s: %w", s.TurnID, err)
	}
	return r, nil
}

func begin(tx *groupcommit.Tx, s turn.Start) (r turn.Recorded, err error) {
	c, err := lock(tx, s.ConversationID)
	if err != nil {
		return r, err
	}
	if r, err = started(tx, c, s.TurnID); err != nil {
		return r, err
	}
	switch t := r.Turn; {
	case t.State == conversation.Merged:
		return r, turn.ErrMerged
	case t.State != conversation.Waiting || t.Owner != s.Owner:
		return r, turn.ErrNotOwner
	case t.Bound:
		var earlier bool
		if err := tx.QueryRow(selectEarlier, s.ConversationID, t.Seq).Scan(&earlier); err != nil {
			return r, err
		}
		if earlier {
			return r, turn.ErrWaits
		}
	}
	changed, err := database.Affected(tx.Exec(startTurn, s.TurnID, s.Owner))
	if err != nil {
		return r, err
	}
	if changed == 0 { // nobody's, whatever the caller calls nobody
		return r, turn.ErrNotOwner
	}
	r.Turn.State, r.Turn.Attempt = conversation.Running, r.Turn.Attempt+1
	return r, readStart(tx, &r, s.Window)
}

// started reads a turn as it was recorded: with the offering that its request named.
func started(tx *groupcommit.Tx, c conversation.Conversation, turnID string) (r turn.Recorded, err error) {
	r.Conversation = c
	var named string
	r.Turn, err = journal.Scan(tx.QueryRow(selectStarted, turnID), &named)
	if errors.Is(err, sql.ErrNoRows) {
		err = turn.ErrNotOwner
	}
	if named != "" || !r.Turn.Bound {
		r.Conversation.Offering, r.Conversation.Chosen = named, false
	}
	return r, err
}

// Waits reports whether a turn waits in a conversation for an earlier one.
func (db *DB) Waits(ctx context.Context, conversationID string) (found bool, err error) {
	err = db.Read().QueryRowContext(ctx, selectWaiting, conversationID).Scan(&found)
	return found, err
}

// Ahead fills [turn.Lane].
func (db *DB) Ahead(ctx context.Context, conversationID string) (rows []outbox.Row, err error) {
	if rows, err = db.Outbox.Ahead(ctx, conversationID); err != nil {
		return nil, fmt.Errorf("read the replies that are queued: %w", err)
	}
	return rows, nil
}

// readStart reads what a turn starts from: of its contact's past what came before the
// messages that it answers.
func readStart(tx *groupcommit.Tx, r *turn.Recorded, w turn.Window) (err error) {
	first, err := readMerged(tx, r)
	if err != nil {
		return err
	}
	if r.History, err = history(tx, *r, first, w); err != nil {
		return err
	}
	if r.Recent, err = recent(tx, r.Turn, w.RecentLimit); err != nil {
		return err
	}
	if r.Sent, err = acts.Sent(tx, r.Turn.ConversationID, w); err != nil {
		return err
	}
	if r.QueuedAhead, err = queue.Queued(tx, r.Turn.ConversationID); err != nil {
		return err
	}
	return readSale(tx, r)
}

// readSale reads what is known of the contact as a buyer. An unbound turn knows what its request
// says.
func readSale(tx *groupcommit.Tx, r *turn.Recorded) (err error) {
	r.Sale = r.Conversation.Sale
	switch {
	case !r.Turn.Bound:
		r.Sale = contact.Sale{Offering: r.Conversation.Offering}
	case r.QueuedAhead:
		r.Sale, err = acts.Awaited(tx, r.Turn, r.Sale)
	}
	return err
}

// readMerged reads the messages that a turn answers besides its own. first is the place of
// the first of them all.
func readMerged(tx *groupcommit.Tx, r *turn.Recorded) (first int64, err error) {
	first = r.Turn.Seq - 1
	rows, err := tx.Query(selectMerged, r.Turn.ID)
	r.Earlier, err = database.Collect(rows, err, func(row database.Row) (text string, err error) {
		var seq int64
		err = row.Scan(&text, &seq)
		first = min(first, seq)
		return text, err
	})
	return first, err
}
