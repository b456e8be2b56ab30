// Package tokens keeps what is known of contacts' tokens, and the outbox rows that
// deliver them. It fills [token.Store].
package tokens

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/token"
)

// lockToken makes, locks and reads the contact's row in one statement, since what is
// decided about a token depends on everything that was decided before. It makes none of a
// contact who was erased meanwhile.
const lockToken = `
INSERT INTO contacts (tenant_id, subscriber_id, token, has_token)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), '{}', 0
WHERE EXISTS (SELECT 1 FROM conversations WHERE tenant_id = $1 AND subscriber_id = $2)
ON CONFLICT (tenant_id, subscriber_id) DO UPDATE SET token = contacts.token
RETURNING token`

// lockKnown locks and reads the row of a contact who has one.
const lockKnown = `
UPDATE contacts SET token = token WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING token`

const updateToken = `
UPDATE contacts SET token = $3, has_token = $4 WHERE tenant_id = $1 AND subscriber_id = $2`

// endTokenRow and hastenTokenRow change nothing once a worker has the row. A row that
// never had anything to do is not kept: there would be one of every contact.
const endTokenRow = `
DELETE FROM outbox WHERE id = $1 AND status = 'pending'`

const hastenTokenRow = `
UPDATE outbox SET next_attempt_at = $2 WHERE id = $1 AND status = 'pending'`

// selectWithoutToken lists the conversations with a turn since $2 whose contact's field is
// not known to hold a token, each with its newest turn, and pages by contact.
const selectWithoutToken = `
SELECT c.subscriber_id, t.id, EXISTS (SELECT 1 FROM outbox o
    WHERE o.tenant_id = c.tenant_id AND o.subscriber_id = c.subscriber_id
      AND o.kind = 'contact_token' AND o.status IN ('pending', 'delivering'))
FROM conversations c JOIN turns t ON t.conversation_id = c.id AND t.seq = c.last_seq
LEFT JOIN contacts k ON k.tenant_id = c.tenant_id AND k.subscriber_id = c.subscriber_id
WHERE c.tenant_id = $1 AND coalesce(k.has_token, 0) = 0 AND t.received_at >= $2 AND c.subscriber_id > $3
ORDER BY c.subscriber_id LIMIT CAST($4 AS BIGINT)`

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
func (t *Table) MintToken(ctx context.Context, d token.Delivery, h token.Hash) (token.Minted, error) {
	now := t.db.Now()
	minted, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (minted token.Minted, err error) {
		minted = token.Void // of a contact who was erased
		err = changeKnown(tx, d.Who, func(s token.State) token.State {
			minted, s = s.Mint(d.Generation, h, now)
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
		err = changeKnown(tx, r.Who, func(s token.State) token.State {
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

// change locks the token state of a contact who has written, and changes it.
func change(tx *groupcommit.Tx, who contact.Key, to func(token.State) token.State) error {
	return changeLocked(tx, tx.QueryRow(lockToken, who.TenantID, string(who.SubscriberID)), who, to)
}

// changeKnown changes nothing of a contact of whom nothing is known any more.
func changeKnown(tx *groupcommit.Tx, who contact.Key, to func(token.State) token.State) error {
	return changeLocked(tx, tx.QueryRow(lockKnown, who.TenantID, string(who.SubscriberID)), who, to)
}

func changeLocked(tx *groupcommit.Tx, locked database.Row, who contact.Key, to func(token.State) token.State) error {
	var before token.State
	err := locked.Scan(column.JSON(&before))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	after := to(before)
	if after.Equal(before) {
		return nil
	}
	_, err = tx.Exec(updateToken, who.TenantID, string(who.SubscriberID), column.Object(after), column.Flag(after.Has()))
	return err
}

// Arrive judges a request and keeps what that changes; the generation is the newest one.
func Arrive(tx *groupcommit.Tx, who contact.Key, r token.Request, now time.Time) (a token.Arrival, generation int64, err error) {
	err = change(tx, who, func(s token.State) token.State {
		a, s = s.Arrive(r, now)
		generation = s.Generation
		return s
	})
	return a, generation, err
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
func Release(tx *groupcommit.Tx, r outbox.Row) error {
	if r.Status != outbox.Dead && r.Status != outbox.Discarded {
		return nil
	}
	return changeKnown(tx, r.Key, func(s token.State) token.State { return s.GiveUp(r.Payload.Generation) })
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
	for after := contact.SubscriberID(""); ; {
		found, err := t.withoutToken(ctx, tenantID, since, after)
		if err != nil || len(found) == 0 {
			return total, err
		}
		after = found[len(found)-1].who.SubscriberID
		// A contact on several channels has several conversations and one token.
		found = slices.CompactFunc(found, func(a, b lacking) bool { return a.who == b.who })
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
	who    contact.Key
	turnID string
	queued bool
}

func (t *Table) withoutToken(ctx context.Context, tenantID string, since time.Time, after contact.SubscriberID) ([]lacking, error) {
	rows, err := t.db.Read().QueryContext(ctx, selectWithoutToken, tenantID, column.Micros(since), string(after), backfillBatch)
	found, err := database.Collect(rows, err, func(r database.Row) (l lacking, err error) {
		l.who.TenantID = tenantID
		err = r.Scan(&l.who.SubscriberID, &l.turnID, &l.queued)
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
			err := change(tx, l.who, func(s token.State) token.State {
				if !s.Has() {
					s = s.Backfill(now)
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
