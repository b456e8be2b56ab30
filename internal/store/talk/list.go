package talk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
)

// activeAt is when the contact last wrote; behind that comes their turn and at most a nudge's.
const activeAt = `coalesce((SELECT t.received_at FROM turns t
        WHERE t.conversation_id = conversations.id AND t.role = 'contact' ORDER BY t.seq DESC LIMIT 1), created_at)`

const selectActiveAt = `
SELECT ` + activeAt + ` FROM conversations WHERE id = $1`

// selectTalks takes which to read: those that are paused at $5, those that need a person, or
// all; and, for the next page, the last of the page before and when its contact wrote.
const selectTalks = `
WITH talks AS (
    SELECT ` + Columns + `, ` + activeAt + ` AS active_at FROM conversations
    WHERE tenant_id = $1
      AND (CAST($2 AS BIGINT) = 0 OR paused_until > $5 OR tag_active = 1)
      AND (CAST($3 AS BIGINT) = 0 OR needs_person = 1))
SELECT active_at, ` + Columns + ` FROM talks
WHERE CAST($6 AS TEXT) = '' OR (active_at, id) < (CAST($7 AS BIGINT), CAST($6 AS TEXT))
ORDER BY active_at DESC, id DESC LIMIT CAST($4 AS BIGINT)`

// selectOnTheirWay reads what did not get to a contact yet, or never will by itself.
const selectOnTheirWay = `
SELECT ` + queue.Columns + ` FROM outbox
WHERE turn_id IN (SELECT id FROM turns WHERE conversation_id = $1)
  AND status IN ('pending', 'delivering', 'dead', 'withheld')
ORDER BY seq DESC, kind, part LIMIT CAST($2 AS BIGINT)`

// maxListed bounds a list whose caller names no limit.
const maxListed = 100

// Filter says which conversations to list.
type Filter struct {
	TenantID    string
	Paused      bool   // only those that a person has
	NeedsPerson bool   // only those of a reply that was dead-lettered, and that nobody answered
	Limit       int    // 0: 100
	After       string // id of the last one of the page before; empty: the first page
}

// Listed is a conversation, and when its contact last wrote, or it was made.
type Listed struct {
	conversation.Conversation
	ActiveAt time.Time
}

// ListTalks reads conversations, the one whose contact wrote last first. [ErrNone] when there
// is no conversation with the id of After.
func (t *Talks) ListTalks(ctx context.Context, f Filter) ([]Listed, error) {
	if f.Limit <= 0 {
		f.Limit = maxListed
	}
	var after time.Time
	if f.After != "" {
		err := t.db.Read().QueryRowContext(ctx, selectActiveAt, f.After).Scan(column.Instant(&after))
		if errors.Is(err, sql.ErrNoRows) {
			err = ErrNone
		}
		if err != nil {
			return nil, fmt.Errorf("list conversations: %w", database.Explain(err))
		}
	}
	rows, err := t.db.Read().QueryContext(ctx, selectTalks, f.TenantID, column.Flag(f.Paused), column.Flag(f.NeedsPerson), f.Limit,
		column.Micros(t.db.Now()), f.After, column.Micros(after))
	all, err := database.Collect(rows, err, func(r database.Row) (l Listed, err error) {
		l.Conversation, err = Scan(r, column.Instant(&l.ActiveAt))
		return l, err
	})
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", database.Explain(err))
	}
	return all, nil
}

// OnTheirWay reads a conversation's outbox rows that are pending, delivering, dead or
// withheld, those of the newest turn first.
func (t *Talks) OnTheirWay(ctx context.Context, conversationID string) ([]outbox.Row, error) {
	found, err := t.db.Read().QueryContext(ctx, selectOnTheirWay, conversationID, maxListed)
	rows, err := database.Collect(found, err, queue.Scan)
	if err != nil {
		return nil, fmt.Errorf("read what is on its way to a contact: %w", database.Explain(err))
	}
	return rows, nil
}
