package talk

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// holdTalks is the first statement where others write at the same time: they wait until the
// transaction ends.
const holdTalks = `
SELECT 1 FROM conversations WHERE tenant_id = $1 AND subscriber_id = $2 ORDER BY id FOR NO KEY UPDATE`

// askTag takes the right to ask ManyChat for a contact's tags, which one process gets at a
// time. A time that is later than now is a clock that was set back, and holds nobody.
const askTag = `
UPDATE conversations SET tag_read_at = $3
WHERE tenant_id = $1 AND subscriber_id = $2 AND NOT EXISTS (
    SELECT 1 FROM conversations o
    WHERE o.tenant_id = $1 AND o.subscriber_id = $2 AND o.tag_read_at > $4 AND o.tag_read_at <= $3)
RETURNING ` + Columns

const noteTag = `
UPDATE conversations SET tag_active = $3
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

// TagDue fills [person.Store].
func (t *Talks) TagDue(ctx context.Context, who contact.Key, every time.Duration) (due, active bool, err error) {
	now := t.db.Now()
	talks, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (talks []conversation.Conversation, err error) {
		if err := tx.Lock(holdTalks, who.TenantID, string(who.SubscriberID)); err != nil {
			return nil, err
		}
		talks, err = change(tx, askTag, who.TenantID, string(who.SubscriberID), column.Micros(now), column.Micros(now.Add(-every)))
		if due = len(talks) > 0; due || err != nil {
			return talks, err
		}
		return change(tx, selectTalksOf, who.TenantID, string(who.SubscriberID))
	})
	if err != nil {
		return false, false, fmt.Errorf("read what is known of a contact's tag: %w", err)
	}
	for _, c := range talks {
		active = active || c.TagActive
	}
	return due, active, nil
}

// NoteTag fills [person.Store].
func (t *Talks) NoteTag(ctx context.Context, who contact.Key, active bool) error {
	now := t.db.Now()
	_, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (n int, err error) {
		talks, err := change(tx, noteTag, who.TenantID, string(who.SubscriberID), column.Flag(active))
		if err != nil || !active {
			return 0, err
		}
		if err := callOff(tx, talks, nudge.HumanActive, now); err != nil {
			return 0, err
		}
		return withhold(tx, talks)
	})
	if err != nil {
		return fmt.Errorf("note whether a contact carries the tag: %w", err)
	}
	return nil
}
