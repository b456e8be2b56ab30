// Package tokens keeps what is known of contacts' tokens, and the outbox rows that
// deliver them. It fills [token.Store].
package tokens

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/token"
)

// lockToken locks the conversation's row and reads it in one statement, since what is
// decided about a token depends on everything that was decided before.
const lockToken = `
UPDATE conversations SET token = token WHERE id = $1 RETURNING token`

const updateToken = `
UPDATE conversations SET token = $2, has_token = $3 WHERE id = $1`

// endTokenRow and hastenTokenRow change nothing once a worker has the row. A row that
// never had anything to do is not kept: there would be one of every contact.
const endTokenRow = `
DELETE FROM outbox WHERE id = $1 AND status = 'pending'`

const hastenTokenRow = `
UPDATE outbox SET next_attempt_at = $2 WHERE id = $1 AND status = 'pending'`

// selectWithoutToken lists the contacts with a turn since $2 whose field is not known to
// hold a token, each with its newest turn, and pages by id.
const selectWithoutToken = `
SELECT c.id, t.id, EXISTS (SELECT 1 FROM outbox o
    WHERE o.conversation_id = c.id AND o.kind = 'contact_token' AND o.status IN ('pending', 'delivering'))
FROM conversations c JOIN turns t ON t.conversation_id = c.id AND t.seq = c.last_seq
WHERE c.tenant_id = $1 AND c.has_token = 0 AND t.received_at >= $2 AND c.id > $3
ORDER BY c.id LIMIT $4`

// insertTokenRow takes order and contact from the turn, which is any of the contact's.
// The generation, as part, tells its rows apart.
const insertTokenRow = `
INSERT INTO outbox (id, turn_id, kind, part, payload, status, next_attempt_at, created_at,
    tenant_id, conversation_id, channel, subscriber_id, seq)
SELECT CAST($1 AS TEXT), t.id, 'contact_token', CAST($3 AS BIGINT), CAST($4 AS TEXT), 'pending', CAST($5 AS BIGINT), CAST($5 AS BIGINT),
    t.tenant_id, t.conversation_id, c.channel, c.subscriber_id, t.seq
FROM turns t JOIN conversations c ON c.id = t.conversation_id
WHERE t.id = $2 AND t.role = 'agent'`

const (
	// rowAfter is how long the row behind an issued token stays its hand: a little
	// longer than the write beside the turn may take.
	rowAfter = 15 * time.Second
	// rowSoon is when it is due once that write has failed.
	rowSoon = 2 * time.Second
	// backfillBatch is how many contacts one transaction of a backfill queues.
	backfillBatch = 100
)

// Table is the database as tokens see it.
type Table struct{ db *database.DB }

// In returns the tokens of a database.
func In(db *database.DB) *Table { return &Table{db} }

// MintToken fills [token.Store].
func (t *Table) MintToken(ctx context.Context, conversationID string, generation int64, h token.Hash) (token.Minted, error) {
	now := t.db.Now()
	minted, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (minted token.Minted, err error) {
		err = change(tx, conversationID, func(s token.State) token.State {
			minted, s = s.Mint(generation, h, now)
			return s
		})
		return minted, err
	})
	if err != nil {
		return "", fmt.Errorf("mint a token: %w", err)
	}
	return minted, nil
}

// ResolveToken fills [token.Store].
func (t *Table) ResolveToken(ctx context.Context, r token.Resolution) error {
	now := t.db.Now()
	_, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (none struct{}, err error) {
		err = change(tx, r.ConversationID, func(s token.State) token.State {
			switch r.Result {
			case token.Written:
				return s.Written(r.Hash, now)
			case token.NotWritten:
				return s.NotWritten(r.Hash)
			}
			return s
		})
		switch {
		case err != nil, r.RowID == "":
		case r.Result == token.Written:
			_, err = tx.Exec(endTokenRow, r.RowID)
		default:
			_, err = tx.Exec(hastenTokenRow, r.RowID, column.Micros(now.Add(rowSoon)))
		}
		return none, err
	})
	if err != nil {
		return fmt.Errorf("resolve a token: %w", err)
	}
	return nil
}

// change locks a conversation's token state and changes it.
func change(tx *groupcommit.Tx, conversationID string, to func(token.State) token.State) error {
	var before token.State
	if err := tx.QueryRow(lockToken, conversationID).Scan(column.JSON(&before)); err != nil {
		return err
	}
	after := to(before)
	if after.Equal(before) {
		return nil
	}
	_, err := tx.Exec(updateToken, conversationID, column.Object(after), column.Flag(after.Has()))
	return err
}

// Queue adds the row behind a token that a turn issued at an instant; it returns its id.
func Queue(tx *groupcommit.Tx, turnID string, generation int64, issued time.Time) (rowID string, err error) {
	return queue(tx, turnID, generation, issued.Add(rowAfter))
}

func queue(tx *groupcommit.Tx, turnID string, generation int64, due time.Time) (rowID string, err error) {
	if rowID, err = database.NewID(); err != nil {
		return "", err
	}
	payload := column.Object(outbox.Payload{Generation: generation})
	_, err = tx.Exec(insertTokenRow, rowID, turnID, generation, payload, column.Micros(due))
	return rowID, err
}

// Release lets the contact's next message bring another token when a row ends
// without having written one. No person is needed for that.
func Release(tx *groupcommit.Tx, conversationID string, r outbox.Row) error {
	if r.Status != outbox.Dead && r.Status != outbox.Discarded {
		return nil
	}
	return change(tx, conversationID, func(s token.State) token.State { return s.GiveUp(r.Payload.Generation) })
}

// Backfill is what [Table.BackfillTokens] found.
type Backfill struct {
	Lacking int // contacts whose field is not known to hold a token
	Queued  int // of them: those that were queued now
}

// BackfillTokens queues a token for every contact of a tenant with a turn since an
// instant whose field is not known to hold one, unless one is queued already. With
// checkOnly it counts them and changes nothing.
func (t *Table) BackfillTokens(ctx context.Context, tenantID string, since time.Time, checkOnly bool) (total Backfill, err error) {
	for after := ""; ; {
		found, err := t.withoutToken(ctx, tenantID, since, after)
		if err != nil || len(found) == 0 {
			return total, err
		}
		after = found[len(found)-1].conversationID
		total.Lacking += len(found)
		if checkOnly {
			continue
		}
		queued, err := t.queueTokens(ctx, found)
		total.Queued += queued
		if err != nil {
			return total, err
		}
	}
}

// lacking is a contact without a token.
type lacking struct {
	conversationID, turnID string
	queued                 bool
}

func (t *Table) withoutToken(ctx context.Context, tenantID string, since time.Time, after string) ([]lacking, error) {
	rows, err := t.db.Read().QueryContext(ctx, selectWithoutToken, tenantID, column.Micros(since), after, backfillBatch)
	found, err := database.Collect(rows, err, func(r database.Row) (l lacking, err error) {
		err = r.Scan(&l.conversationID, &l.turnID, &l.queued)
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("list contacts without a token: %w", err)
	}
	return found, nil
}

// queueTokens looks at each contact once more under its lock: a message may have come in
// between.
func (t *Table) queueTokens(ctx context.Context, found []lacking) (int, error) {
	now := t.db.Now()
	queued, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (queued int, err error) {
		for _, l := range found {
			if l.queued {
				continue
			}
			generation := int64(0)
			err := change(tx, l.conversationID, func(s token.State) token.State {
				if !s.Has() {
					s = s.Begin(now)
					generation = s.Generation
				}
				return s
			})
			if err != nil {
				return 0, err
			}
			if generation == 0 {
				continue
			}
			if _, err := queue(tx, l.turnID, generation, now); err != nil {
				return 0, err
			}
			queued++
		}
		return queued, nil
	})
	if err != nil {
		return 0, fmt.Errorf("queue tokens: %w", err)
	}
	return queued, nil
}
