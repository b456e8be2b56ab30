package store

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/said"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// requeueDelivering gives back what a predecessor had in hand, its attempt not counted.
const requeueDelivering = `
UPDATE outbox SET status = 'pending', owner = NULL, attempts = attempts - 1
WHERE tenant_id = $1 AND status = 'delivering'`

// unfinished repeats the condition of the index over unfinished turns, which serves the
// queries that also ask for one state.
const unfinished = `state IN ('waiting', 'running', 'answering')`

// settleStamped ends the turns whose response left before the crash. Their actions are lost:
// which of them were performed nobody knows, so their record stays as it is.
const settleStamped = `
UPDATE turns SET state = 'settled', pending = NULL
WHERE tenant_id = $1 AND ` + unfinished + ` AND state = 'answering' AND responded_at IS NOT NULL`

const selectUnstamped = `
SELECT id, replies, pending, received_at FROM turns
WHERE tenant_id = $1 AND ` + unfinished + ` AND state = 'answering'
ORDER BY received_at, seq`

// restartUnfinished starts every unfinished turn once more.
const restartUnfinished = `
UPDATE turns SET state = 'running', owner = $2, attempt = attempt + 1
WHERE tenant_id = $1 AND ` + unfinished + ` AND state <> 'answering'`

const selectRunning = `
SELECT ` + turnColumns + `, a.offering FROM turns a` + joinTurn + `
WHERE a.tenant_id = $1 AND a.` + unfinished + ` AND a.state = 'running'
ORDER BY a.received_at, a.seq`

// TakeOver fills [turn.Recovery]. It also forgets the tenant's other processes.
func (db *DB) TakeOver(ctx context.Context, t turn.TakeOver) ([]turn.Recorded, error) {
	taken, err := inTx(ctx, db, func(tx *groupcommit.Tx) ([]turn.Recorded, error) { return takeOver(tx, t) })
	if err != nil {
		return nil, fmt.Errorf("take over unfinished turns: %w", err)
	}
	return taken, nil
}

func takeOver(tx *groupcommit.Tx, t turn.TakeOver) ([]turn.Recorded, error) {
	for _, query := range []string{requeueDelivering, settleStamped} {
		if _, err := tx.Exec(query, t.TenantID); err != nil {
			return nil, err
		}
	}
	if err := rerouteUnstamped(tx, t); err != nil {
		return nil, err
	}
	for _, query := range []string{restartUnfinished, deleteOtherProcesses} {
		if _, err := tx.Exec(query, t.TenantID, t.Owner); err != nil {
			return nil, err
		}
	}
	return restarted(tx, t)
}

// answer is a reply that was settled inline and may not have been written.
type answer struct {
	turnID     string
	replies    []string
	pending    []action.Pending
	receivedAt time.Time
}

// rerouteUnstamped hands unwritten responses to the outbox, due now.
func rerouteUnstamped(tx *groupcommit.Tx, t turn.TakeOver) error {
	answers, err := unstamped(tx, t.TenantID)
	if err != nil {
		return err
	}
	for _, a := range answers {
		rows, err := queue.Rows(tx, a.turnID)
		if err != nil {
			return err
		}
		row := outbox.Row{CreatedAt: a.receivedAt, Payload: outbox.Payload{Texts: said.Responded(a.replies, rows)}}
		if len(rows) == 0 { // else the last of them has the turn's actions
			row.Payload.Actions = a.pending
		}
		if err := reroute(tx, a.turnID, row, t.Now); err != nil {
			return err
		}
	}
	return nil
}

func unstamped(tx *groupcommit.Tx, tenantID string) ([]answer, error) {
	rows, err := tx.Query(selectUnstamped, tenantID)
	return database.Collect(rows, err, func(r database.Row) (a answer, err error) {
		err = r.Scan(&a.turnID, column.JSON(&a.replies), column.JSON(&a.pending), column.Instant(&a.receivedAt))
		return a, err
	})
}

// restarted reads the turns to be run again as they were recorded: with the offering
// that their request named, and the history up to their own message.
func restarted(tx *groupcommit.Tx, t turn.TakeOver) ([]turn.Recorded, error) {
	turns, err := running(tx, t.TenantID)
	if err != nil {
		return nil, err
	}
	for i := range turns {
		r := &turns[i]
		named := r.Conversation.Offering
		r.Conversation, err = scanConversation(tx.QueryRow(selectConversation, r.Turn.ConversationID))
		if err != nil {
			return nil, err
		}
		if named != "" || !r.Turn.Bound {
			r.Conversation.Offering = named
		}
		if err := readStart(tx, r, window{since: t.HistorySince, limit: t.HistoryLimit, recent: t.RecentLimit}); err != nil {
			return nil, err
		}
	}
	return turns, nil
}

// running reads the tenant's running turns; of their conversations only the offering
// that each one's request named.
func running(tx *groupcommit.Tx, tenantID string) ([]turn.Recorded, error) {
	rows, err := tx.Query(selectRunning, tenantID)
	return database.Collect(rows, err, func(r database.Row) (rec turn.Recorded, err error) {
		rec.Turn, err = scanTurn(r, &rec.Conversation.Offering)
		return rec, err
	})
}
