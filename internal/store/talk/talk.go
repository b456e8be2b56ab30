// Package talk keeps conversations as a person who takes one over sees them: whether it is
// paused and until when, whether it needs somebody, and when somebody answered. It fills
// [person.Store].
package talk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// ErrNone says that there is no conversation of the kind that was asked for.
var ErrNone = errors.New("there is no such conversation")

// Columns are what [Scan] reads.
const Columns = `id, tenant_id, channel, subscriber_id, last_sent_at, paused_until, offering, stage, intent, needs_person,
    history_from, handoff_said_at, notified_at, paused_from, answered_at, tag_read_at, tag_active,
    offering_chosen, opening_over, opted_out_at, nudged`

const selectTalk = `
SELECT ` + Columns + ` FROM conversations WHERE id = $1`

const selectTalksOf = `
SELECT ` + Columns + ` FROM conversations WHERE tenant_id = $1 AND subscriber_id = $2 ORDER BY id`

// insertTalk makes a contact's first conversation: a person may start the talk.
const insertTalk = `
INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, created_at)
SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), 0, CAST($5 AS BIGINT)
WHERE NOT EXISTS (SELECT 1 FROM conversations WHERE tenant_id = $2 AND subscriber_id = $4)
ON CONFLICT (tenant_id, subscriber_id, channel) DO NOTHING`

// pauseTalks locks the conversations before anything of them is read.
const pauseTalks = `
UPDATE conversations SET paused_until = $3, paused_from = 0
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

// resumeTalks forgets what was known of the tag, too: the next turn asks for it again.
const resumeTalks = `
UPDATE conversations SET paused_until = NULL, paused_from = 0, tag_read_at = NULL, tag_active = 0
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

const answerTalks = `
UPDATE conversations SET needs_person = 0, answered_at = $3
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

// holdTalk pauses behind a place of the contact's order. A pause that goes on longer stays
// as it is, and one that has begun keeps holding what it holds.
const holdTalk = `
UPDATE conversations SET paused_until = $2,
    paused_from = CASE WHEN paused_until > $4 AND paused_from < $3 THEN paused_from ELSE $3 END
WHERE id = $1 AND (paused_until IS NULL OR paused_until < $2)`

// Talks are the conversations of a database.
type Talks struct{ db *database.DB }

// In returns the conversations of a database.
func In(db *database.DB) *Talks { return &Talks{db} }

// Paused is what a pause found.
type Paused struct {
	Talks    []conversation.Conversation // the contact's, one a channel, as they are now
	Withheld int                         // replies that were on their way
}

// Pause gives a contact's conversations to a person until an instant, on every channel: from
// now on no turn says or does anything, and what was on its way to the contact is withheld.
// A contact who has no conversation yet gets one on the channel of who.
func (t *Talks) Pause(ctx context.Context, who contact.Key, until time.Time) (Paused, error) {
	now := t.db.Now()
	p, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (p Paused, err error) {
		id, err := database.NewID()
		if err != nil {
			return p, err
		}
		if _, err := tx.Exec(insertTalk, id, who.TenantID, string(who.Channel), string(who.SubscriberID), column.Micros(now)); err != nil {
			return p, err
		}
		p.Talks, err = change(tx, pauseTalks, who.TenantID, string(who.SubscriberID), column.Micros(until))
		if err != nil {
			return p, err
		}
		if err := callOff(tx, p.Talks, nudge.Paused, now); err != nil {
			return p, err
		}
		p.Withheld, err = withhold(tx, p.Talks)
		return p, err
	})
	if err != nil {
		return Paused{}, fmt.Errorf("pause a conversation: %w", err)
	}
	return p, nil
}

// Resume gives a contact's conversations back to the agent. It sends nothing, and leaves what
// was withheld as it is. It returns them as they are now; a contact may have none.
func (t *Talks) Resume(ctx context.Context, who contact.Key) ([]conversation.Conversation, error) {
	talks, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) ([]conversation.Conversation, error) {
		return change(tx, resumeTalks, who.TenantID, string(who.SubscriberID))
	})
	if err != nil {
		return nil, fmt.Errorf("resume a conversation: %w", err)
	}
	return talks, nil
}

// MarkAnswered says that a person has answered a contact: nobody is needed any more, and the
// cap on the turns of a conversation counts from now. A pause stays as it is.
func (t *Talks) MarkAnswered(ctx context.Context, who contact.Key) ([]conversation.Conversation, error) {
	now := t.db.Now()
	talks, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) ([]conversation.Conversation, error) {
		return change(tx, answerTalks, who.TenantID, string(who.SubscriberID), column.Micros(now))
	})
	if err != nil {
		return nil, fmt.Errorf("mark a conversation as answered: %w", err)
	}
	return talks, nil
}

// Talk reads one conversation. [ErrNone] when none has the id.
func (t *Talks) Talk(ctx context.Context, id string) (conversation.Conversation, error) {
	c, err := Scan(t.db.Read().QueryRowContext(ctx, selectTalk, id))
	if errors.Is(err, sql.ErrNoRows) {
		err = ErrNone
	}
	if err != nil {
		return conversation.Conversation{}, fmt.Errorf("read a conversation: %w", database.Explain(err))
	}
	return c, nil
}

// TalksOf reads a contact's conversations, one a channel; there may be none.
func (t *Talks) TalksOf(ctx context.Context, tenantID string, id contact.SubscriberID) ([]conversation.Conversation, error) {
	rows, err := t.db.Read().QueryContext(ctx, selectTalksOf, tenantID, string(id))
	talks, err := database.Collect(rows, err, func(r database.Row) (conversation.Conversation, error) { return Scan(r) })
	if err != nil {
		return nil, fmt.Errorf("read the conversations of a contact: %w", database.Explain(err))
	}
	return talks, nil
}

// Hold pauses the conversation of a handoff behind the place of its turn, in the transaction
// that settles it: what the turn says itself still goes out.
func Hold(tx *groupcommit.Tx, s turn.Settlement, now time.Time) error {
	_, err := tx.Exec(holdTalk, s.Turn.ConversationID, column.Micros(s.PauseUntil), s.Turn.Seq+1, column.Micros(now))
	return err
}

// Scan reads [Columns], after whatever columns go before them.
func Scan(r database.Row, before ...any) (c conversation.Conversation, err error) {
	err = r.Scan(append(before, fields(&c)...)...)
	return c, err
}

// fields are where [Columns] go.
func fields(c *conversation.Conversation) []any {
	return []any{
		&c.ID, &c.Key.TenantID, &c.Key.Channel, &c.Key.SubscriberID, column.Instant(&c.LastSentAt), column.Instant(&c.PausedUntil),
		&c.Offering, &c.Stage, &c.Intent, &c.NeedsPerson, &c.HistoryFrom, column.Instant(&c.HandoffSaidAt), column.Instant(&c.NotifiedAt),
		&c.PausedFrom, column.Instant(&c.AnsweredAt), column.Instant(&c.TagReadAt), &c.TagActive,
		&c.Chosen, &c.OpeningOver, column.Instant(&c.OptedOutAt), &c.Nudged,
	}
}

// change runs an update of a contact's conversations, which it locks.
func change(tx *groupcommit.Tx, query string, args ...any) ([]conversation.Conversation, error) {
	rows, err := tx.Query(query, args...)
	return database.Collect(rows, err, func(r database.Row) (conversation.Conversation, error) { return Scan(r) })
}

// callOff calls off the nudges of a contact whose conversations are locked.
func callOff(tx *groupcommit.Tx, talks []conversation.Conversation, reason nudge.Reason, now time.Time) error {
	for _, c := range talks {
		if !c.Nudged {
			continue
		}
		if err := nudges.Cancel(tx, c.ID, reason, now); err != nil {
			return err
		}
	}
	return nil
}

// withhold keeps back what is on its way to a contact whose conversations are locked.
func withhold(tx *groupcommit.Tx, talks []conversation.Conversation) (withheld int, err error) {
	return each(tx, talks, queue.Withhold)
}

// each does something about the replies of conversations that are pending, and counts them.
func each(tx *groupcommit.Tx, talks []conversation.Conversation, do func(*groupcommit.Tx, string) (int, error)) (all int, err error) {
	for _, c := range talks {
		n, err := do(tx, c.ID)
		if err != nil {
			return all, err
		}
		all += n
	}
	return all, nil
}
