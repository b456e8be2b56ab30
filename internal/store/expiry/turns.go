package expiry

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// selectConversations pages through a tenant's conversations, each with when its oldest
// turn began; NULL when it has none.
const selectConversations = `
SELECT c.id, c.subscriber_id, c.channel,
    (SELECT t.received_at FROM turns t WHERE t.conversation_id = c.id ORDER BY t.seq LIMIT 1)
FROM conversations c
WHERE c.tenant_id = $1 AND (c.subscriber_id, c.channel) > ($2, $3)
ORDER BY c.subscriber_id, c.channel LIMIT CAST($4 AS BIGINT)`

const selectTurns = `
SELECT id, seq, received_at, coalesce(merged_into, '') FROM turns
WHERE conversation_id = $1 AND seq > $2 AND role = 'agent'
ORDER BY seq LIMIT CAST($3 AS BIGINT)`

const selectMerged = `
SELECT id FROM turns WHERE merged_into = $1`

// selectStays asks for anything that keeps a turn: it is not over, or not since $2; a row of
// its is still to go out, or went out since $3.
const selectStays = `
SELECT EXISTS (SELECT 1 FROM turns WHERE id = $1
    AND (state NOT IN ('settled', 'merged') OR received_at >= $2 OR settled_at >= $2 OR responded_at >= $2))
  OR EXISTS (SELECT 1 FROM outbox WHERE turn_id = $1 AND (status IN ('pending', 'delivering') OR delivered_at >= $3))`

// deleteRows leaves a row that an operator has sent again meanwhile, which then keeps its turn.
const deleteRows = `
DELETE FROM outbox WHERE turn_id = $1 AND status NOT IN ('pending', 'delivering')`

// deleteTurn takes the message and its answer.
const deleteTurn = `
DELETE FROM turns WHERE turn_id = $1`

// limits are the instants before which things are deleted.
type limits struct{ turns, rows time.Time }

// place is a conversation's in a sweep.
type place struct {
	id, subscriber, channel string
	oldest                  time.Time // zero: it has no turn
}

// sweepTurns deletes turns, conversation by conversation. Conversations stay: their order
// counter, pause and stage are not a turn's, and what tells a contact who comes back from a
// stranger is kept with them.
func (s *Sweeper) sweepTurns(ctx context.Context, before limits) (deleted int, err error) {
	for after := (place{}); ; {
		page, err := s.pageConversations(ctx, after)
		if err != nil || len(page) == 0 {
			return deleted, err
		}
		for _, p := range page {
			if p.oldest.IsZero() || !p.oldest.Before(before.turns) {
				continue
			}
			n, err := s.sweepConversation(ctx, p.id, before)
			deleted += n
			if err != nil {
				return deleted, err
			}
		}
		if after = page[len(page)-1]; !sleep(ctx, pause) {
			return deleted, ctx.Err()
		}
	}
}

func (s *Sweeper) pageConversations(ctx context.Context, after place) ([]place, error) {
	rows, err := s.cfg.DB.Read().QueryContext(ctx, selectConversations, s.cfg.TenantID, after.subscriber, after.channel, batch)
	page, err := database.Collect(rows, err, func(r database.Row) (p place, err error) {
		err = r.Scan(&p.id, &p.subscriber, &p.channel, column.Instant(&p.oldest))
		return p, err
	})
	if err != nil {
		return nil, fmt.Errorf("read conversations: %w", err)
	}
	return page, nil
}

// old is a turn that may be deleted.
type old struct {
	id, mergedInto string
	seq            int64
	receivedAt     time.Time
}

// sweepConversation deletes a conversation's turns from the oldest on.
func (s *Sweeper) sweepConversation(ctx context.Context, id string, before limits) (deleted int, err error) {
	for after := int64(0); ; {
		page, err := s.pageTurns(ctx, id, after)
		if err != nil {
			return deleted, err
		}
		after = lastSeq(page)
		over := len(page) < batch || !page[len(page)-1].receivedAt.Before(before.turns)
		n, err := database.Write(ctx, s.cfg.DB, func(tx *groupcommit.Tx) (int, error) { return deleteTurns(tx, page, before) })
		if err != nil {
			return deleted, fmt.Errorf("delete turns: %w", err)
		}
		deleted += n
		if over {
			return deleted, nil
		}
		if !sleep(ctx, pause) {
			return deleted, ctx.Err()
		}
	}
}

func lastSeq(page []old) int64 {
	if len(page) == 0 {
		return 0
	}
	return page[len(page)-1].seq
}

func (s *Sweeper) pageTurns(ctx context.Context, conversationID string, after int64) ([]old, error) {
	rows, err := s.cfg.DB.Read().QueryContext(ctx, selectTurns, conversationID, after, batch)
	page, err := database.Collect(rows, err, func(r database.Row) (o old, err error) {
		err = r.Scan(&o.id, &o.seq, column.Instant(&o.receivedAt), &o.mergedInto)
		return o, err
	})
	if err != nil {
		return nil, fmt.Errorf("read old turns: %w", err)
	}
	return page, nil
}

// deleteTurns deletes what may go of a page. Turns that were merged go with the one that
// answers them.
func deleteTurns(tx *groupcommit.Tx, page []old, before limits) (deleted int, err error) {
	for _, o := range page {
		if o.mergedInto != "" || !o.receivedAt.Before(before.turns) {
			continue
		}
		n, err := deleteWhole(tx, o.id, before)
		if err != nil {
			return 0, err
		}
		deleted += n
	}
	return deleted, nil
}

// deleteWhole deletes a turn and those that were merged into it, or nothing.
func deleteWhole(tx *groupcommit.Tx, id string, before limits) (int, error) {
	members := []string{id}
	for i := 0; i < len(members); i++ {
		rows, err := tx.Query(selectMerged, members[i])
		merged, err := database.Collect(rows, err, database.ScanString)
		if err != nil {
			return 0, err
		}
		members = append(members, merged...)
		var stays bool
		if err := tx.QueryRow(selectStays, members[i], column.Micros(before.turns), column.Micros(before.rows)).Scan(&stays); err != nil || stays {
			return 0, err
		}
	}
	for i := len(members) - 1; i >= 0; i-- { // what is named goes last
		for _, statement := range []string{deleteRows, deleteTurn} {
			if _, err := tx.Exec(statement, members[i]); err != nil {
				return 0, err
			}
		}
	}
	return len(members), nil
}
