package store

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/said"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// selectHistory reads backwards from a turn's own message. Which rows count was decided
// when they were written, so the index holds no others and the limit bounds the read;
// rows before the window are dropped afterwards, because a condition here would read on
// through everything older. Contact rows date from their arrival, agent rows from when
// they settled.
const selectHistory = `
SELECT role, text, coalesce(settled_at, received_at), actions FROM turns
WHERE conversation_id = $1 AND seq < $2 AND seq >= $3 AND in_history = 1
ORDER BY seq DESC LIMIT $4`

// selectRecent is bounded by its limit alone, like selectHistory.
const selectRecent = `
SELECT received_at FROM turns
WHERE conversation_id = $1 AND bound = $2 AND seq < $3 AND role = 'contact'
ORDER BY seq DESC LIMIT $4`

const selectSaid = `
SELECT replies, coalesce(outcome, '') FROM turns WHERE id = $1 AND role = 'agent'`

const selectReplyRows = `
SELECT payload, sent, status FROM outbox
WHERE turn_id = $1 AND kind = 'reply' ORDER BY part`

const updateSaid = `
UPDATE turns SET text = $2, in_history = CASE WHEN bound = 1 THEN $3 ELSE 0 END
WHERE id = $1 AND role = 'agent'`

// window is how much history a turn reads.
type window struct {
	since  time.Time
	limit  int // entries
	recent int // arrivals of messages, for limits
}

// history is what a bound turn may remember, oldest first; an unbound one gets nothing.
// Its own message is at the place before the turn's.
func history(tx *groupcommit.Tx, r turn.Recorded, w window) ([]conversation.Entry, error) {
	if !r.Turn.Bound || w.limit <= 0 {
		return nil, nil
	}
	rows, err := tx.Query(selectHistory, r.Turn.ConversationID, r.Turn.Seq-1, r.Conversation.HistoryFrom, w.limit)
	entries, err := database.Collect(rows, err, func(r database.Row) (e conversation.Entry, err error) {
		err = r.Scan(&e.Role, &e.Text, column.Instant(&e.At), column.JSON(&e.Actions))
		return e, err
	})
	slices.Reverse(entries)
	return slices.DeleteFunc(entries, func(e conversation.Entry) bool { return e.At.Before(w.since) }), err
}

// recent are the arrivals of the messages before a turn's own that are bound as it is,
// newest first.
func recent(tx *groupcommit.Tx, t conversation.Turn, limit int) ([]time.Time, error) {
	if limit <= 0 {
		return nil, nil
	}
	rows, err := tx.Query(selectRecent, t.ConversationID, column.Flag(t.Bound), t.Seq-1, limit)
	return database.Collect(rows, err, func(r database.Row) (at time.Time, err error) {
		err = r.Scan(column.Instant(&at))
		return at, err
	})
}

// refreshSaid brings what a turn adds to history up to date after one of its rows
// entered or left a final state.
func refreshSaid(tx *groupcommit.Tx, turnID string) error {
	var replies []string
	var outcome conversation.Outcome
	if err := tx.QueryRow(selectSaid, turnID).Scan(column.JSON(&replies), &outcome); err != nil {
		return err
	}
	rows, err := replyRows(tx, turnID)
	if err != nil {
		return err
	}
	text := said.Joined(said.Of(replies, rows))
	_, err = tx.Exec(updateSaid, turnID, text, column.Flag(text != "" && said.Remembered(outcome)))
	return err
}

// replyRows reads texts, progress and status of a turn's reply rows, in order.
func replyRows(tx *groupcommit.Tx, turnID string) ([]outbox.Row, error) {
	rows, err := tx.Query(selectReplyRows, turnID)
	return database.Collect(rows, err, func(r database.Row) (o outbox.Row, err error) {
		err = r.Scan(column.JSON(&o.Payload), &o.Payload.Sent, &o.Status)
		return o, err
	})
}
