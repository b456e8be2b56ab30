package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/store/process"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/said"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

const deleteOtherProcesses = `
DELETE FROM processes WHERE tenant_id = $1 AND id <> $2`

// unfinished repeats the condition of the indexes over unfinished turns.
const unfinished = process.Unfinished

// requeueAll gives back what predecessors had in hand, the attempts not counted.
const requeueAll = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1
WHERE tenant_id = $1 AND status = 'delivering' AND owner NOT LIKE 'response/%'`

// selectLeft reads the turns of anybody else, for a process that is alone on its database.
const selectLeft = `
SELECT id, conversation_id, seq FROM turns
WHERE tenant_id = $1 AND ` + unfinished + ` AND (owner IS NULL OR owner <> $2)
ORDER BY received_at, seq LIMIT CAST($3 AS BIGINT)`

const selectUnowned = `
SELECT id, conversation_id, seq FROM turns
WHERE tenant_id = $1 AND ` + unfinished + ` AND owner IS NULL
ORDER BY received_at, seq LIMIT CAST($2 AS BIGINT)`

const selectOrphans = `
SELECT id, conversation_id, seq FROM turns
WHERE tenant_id = $1 AND ` + unfinished + ` AND owner = $2
ORDER BY received_at, seq LIMIT CAST($3 AS BIGINT)`

const selectLost = `
SELECT id, conversation_id, seq FROM turns WHERE id = $1 AND ` + unfinished + ` AND owner = $2`

// settleStamped ends a turn whose response left before the crash. Its actions are lost:
// which of them were performed nobody knows, so their record stays as it is.
const settleStamped = `
UPDATE turns SET state = 'settled', pending = NULL
WHERE id = $1 AND state = 'answering' AND responded_at IS NOT NULL`

const selectUnstamped = `
SELECT replies, pending FROM turns WHERE id = $1`

// takeTurn starts a running turn once more; a start that was handed back is still the same.
const takeTurn = `
UPDATE turns SET attempt = attempt + CASE WHEN state = 'running' AND owner IS NOT NULL THEN 1 ELSE 0 END, owner = $2
WHERE id = $1 AND state IN ('waiting', 'running')
RETURNING owner, attempt`

// takeLimit is how many turns one transaction takes over.
const takeLimit = 100

// TakeOver fills [sweep.Store].
func (db *DB) TakeOver(ctx context.Context, t sweep.TakeOver) (turns []turn.Recorded, more bool, err error) {
	now := db.now()
	if t.Limit <= 0 {
		t.Limit = takeLimit
	}
	found, err := inTx(ctx, db, func(tx *groupcommit.Tx) (taken, error) { return takeOver(tx, t, now) })
	if err != nil {
		return nil, false, fmt.Errorf("take over unfinished turns: %w", err)
	}
	return found.turns, found.more, nil
}

// taken is what one transaction took over.
type taken struct {
	turns []turn.Recorded
	more  bool // there may be others
}

func takeOver(tx *groupcommit.Tx, t sweep.TakeOver, now time.Time) (l taken, err error) {
	if t.Dead, err = process.Dead(tx, t); err != nil {
		return l, err
	}
	if err := bury(tx, t); err != nil { // first: who is buried cannot say any more that it lives
		return l, err
	}
	orphans, err := left(tx, t)
	if err != nil {
		return l, err
	}
	l.more = len(orphans) >= t.Limit
	l.turns, err = takeAll(tx, t, orphans, now)
	return l, err
}

// orphan is a turn that nobody works on.
type orphan struct {
	id, conversationID string
	seq                int64
}

// left are the orphans of a take-over, at most its limit.
func left(tx *groupcommit.Tx, t sweep.TakeOver) (all []orphan, err error) {
	room := func() int { return t.Limit - len(all) }
	read := func(query string, args ...any) {
		if err != nil || room() <= 0 {
			return
		}
		rows, failed := tx.Query(query, args...)
		some, failed := database.Collect(rows, failed, func(r database.Row) (o orphan, err error) {
			err = r.Scan(&o.id, &o.conversationID, &o.seq)
			return o, err
		})
		all, err = append(all, some...), failed
	}
	if t.All {
		read(selectLeft, t.TenantID, t.ID, t.Limit)
		return all, err
	}
	for _, dead := range t.Dead {
		read(selectOrphans, t.TenantID, dead, room())
	}
	read(selectUnowned, t.TenantID, room())
	for _, id := range t.Lost {
		read(selectLost, id, t.ID)
	}
	return all, err
}

// bury gives back what the dead were delivering, and forgets them.
func bury(tx *groupcommit.Tx, t sweep.TakeOver) error {
	if t.All {
		if _, err := tx.Exec(requeueAll, t.TenantID); err != nil {
			return err
		}
		_, err := tx.Exec(deleteOtherProcesses, t.TenantID, t.ID)
		return err
	}
	for _, dead := range t.Dead {
		if err := process.Bury(tx, t.TenantID, dead); err != nil {
			return err
		}
	}
	return nil
}

// takeAll takes the orphans contact by contact, so that two processes never wait for each
// other, and each contact's earlier ones first.
func takeAll(tx *groupcommit.Tx, t sweep.TakeOver, orphans []orphan, now time.Time) (taken []turn.Recorded, err error) {
	slices.SortFunc(orphans, func(a, b orphan) int {
		return cmp.Or(cmp.Compare(a.conversationID, b.conversationID), cmp.Compare(a.seq, b.seq))
	})
	for _, o := range orphans {
		r, run, err := takeOne(tx, t, o, now)
		if err != nil {
			return nil, err
		}
		if run {
			taken = append(taken, r)
		}
	}
	slices.SortStableFunc(taken, func(a, b turn.Recorded) int {
		return cmp.Or(a.Turn.ReceivedAt.Compare(b.Turn.ReceivedAt), cmp.Compare(a.Turn.Seq, b.Turn.Seq))
	})
	return taken, nil
}

// takeOne takes one turn, if nobody else has done so; run says that it is to be run.
func takeOne(tx *groupcommit.Tx, t sweep.TakeOver, o orphan, now time.Time) (r turn.Recorded, run bool, err error) {
	c, err := lock(tx, o.conversationID)
	if err != nil {
		return r, false, err
	}
	if r, err = started(tx, c, o.id); err != nil {
		return r, false, err
	}
	if !orphaned(t, r.Turn) {
		return r, false, nil
	}
	if r.Turn.State == conversation.Answering {
		return r, false, endAnswering(tx, r.Turn, now)
	}
	if r.Turn.Nudge {
		return r, false, nudges.Lose(tx, r.Turn, now)
	}
	if err := tx.QueryRow(takeTurn, o.id, t.ID).Scan(&r.Turn.Owner, &r.Turn.Attempt); err != nil {
		return r, false, err
	}
	if r.Turn.State == conversation.Running {
		err = readStart(tx, &r, t.Window)
	}
	return r, true, err
}

// orphaned reports whether a turn is still what the take-over found.
func orphaned(t sweep.TakeOver, found conversation.Turn) bool {
	switch {
	case found.State == conversation.Settled || found.State == conversation.Merged:
		return false
	case found.Owner == "" || t.All && found.Owner != t.ID:
		return true
	case found.Owner == t.ID:
		return slices.Contains(t.Lost, found.ID)
	}
	return slices.Contains(t.Dead, found.Owner)
}

// endAnswering ends a turn whose response left, or hands the reply to the outbox, due now.
func endAnswering(tx *groupcommit.Tx, t conversation.Turn, now time.Time) error {
	if !t.RespondedAt.IsZero() {
		_, err := tx.Exec(settleStamped, t.ID)
		return err
	}
	var replies []string
	var pending []action.Pending
	if err := tx.QueryRow(selectUnstamped, t.ID).Scan(column.JSON(&replies), column.JSON(&pending)); err != nil {
		return err
	}
	rows, err := queue.Rows(tx, t.ID)
	if err != nil {
		return err
	}
	row := outbox.Row{
		ConversationID: t.ConversationID, CreatedAt: t.ReceivedAt, Payload: outbox.Payload{Texts: said.Responded(replies, rows)},
	}
	if len(rows) == 0 { // else the last of them has the turn's actions
		row.Payload.Actions = pending
	}
	return reroute(tx, t.ID, row, now)
}
