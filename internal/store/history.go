package store

import (
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// selectHistory reads backwards from a turn's own message. Which rows count was decided
// when they were written, so the index holds no others and the limit bounds the read;
// rows before the window are dropped afterwards, because a condition here would read on
// through everything older. Contact rows date from their arrival, agent rows from when
// they settled.
const selectHistory = `
SELECT role, text, coalesce(settled_at, received_at), actions, CASE WHEN merges > 0 THEN turn_id ELSE '' END FROM turns
WHERE conversation_id = $1 AND seq < $2 AND seq >= $3 AND in_history = 1
ORDER BY seq DESC LIMIT CAST($4 AS BIGINT)`

// selectRecent is bounded by its limit alone, like selectHistory.
const selectRecent = `
SELECT received_at FROM turns
WHERE conversation_id = $1 AND bound = CAST($2 AS BIGINT) AND seq < $3 AND role = 'contact' AND counted = 1
ORDER BY seq DESC LIMIT CAST($4 AS BIGINT)`

// history is what a bound turn may remember, oldest first; an unbound one gets nothing.
// The messages that it answers begin at the place first.
func history(tx *groupcommit.Tx, r turn.Recorded, first int64, w turn.Window) ([]conversation.Entry, error) {
	if !r.Turn.Bound || w.HistoryLimit <= 0 {
		return nil, nil
	}
	var sets []string // of each entry the turn that answered it together with others; empty: alone
	rows, err := tx.Query(selectHistory, r.Turn.ConversationID, first, r.Conversation.HistoryFrom, w.HistoryLimit)
	entries, err := database.Collect(rows, err, func(r database.Row) (e conversation.Entry, err error) {
		var set string
		err = r.Scan(&e.Role, &e.Text, column.Instant(&e.At), column.JSON(&e.Actions), &set)
		sets = append(sets, set)
		return e, err
	})
	for i, set := range sets {
		if err == nil && set != "" {
			entries[i].Text, err = together(tx, set, entries[i].Text)
		}
	}
	slices.Reverse(entries)
	return slices.DeleteFunc(entries, func(e conversation.Entry) bool { return e.At.Before(w.HistorySince) }), err
}

// together is one entry of the messages that a turn answered, its own last.
func together(tx *groupcommit.Tx, turnID, own string) (string, error) {
	set := turn.Recorded{Turn: conversation.Turn{ID: turnID, Text: own}}
	_, err := readMerged(tx, &set)
	return set.Text(), err
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
