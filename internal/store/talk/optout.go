package talk

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store/column"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// optOutTalks keeps the time of an opt-out that there is.
const optOutTalks = `
UPDATE conversations SET opted_out_at = coalesce(opted_out_at, $3)
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

const optInTalks = `
UPDATE conversations SET opted_out_at = NULL
WHERE tenant_id = $1 AND subscriber_id = $2
RETURNING ` + Columns

const selectConfirms = `
SELECT EXISTS (SELECT 1 FROM turns WHERE conversation_id = $1 AND seq = $2 AND role = 'agent' AND outcome = 'opted_out')`

// OptedOut is what an opt-out found.
type OptedOut struct {
	Talks     []conversation.Conversation // the contact's, one a channel, as they are now
	Discarded int                         // replies that were on their way
}

// OptOut notes that a contact asked not to be written to, on any channel: from now on no turn
// says or does anything, and what was on its way to the contact is discarded. A contact who
// has no conversation yet gets one on the channel of who.
func (t *Talks) OptOut(ctx context.Context, who contact.Key) (OptedOut, error) {
	now := t.db.Now()
	o, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) (o OptedOut, err error) {
		id, err := database.NewID()
		if err != nil {
			return o, err
		}
		if _, err := tx.Exec(insertTalk, id, who.TenantID, string(who.Channel), string(who.SubscriberID), column.Micros(now)); err != nil {
			return o, err
		}
		return optOut(tx, who, now)
	})
	if err != nil {
		return OptedOut{}, fmt.Errorf("opt a contact out: %w", err)
	}
	return o, nil
}

// OptIn takes an opt-out back. It sends nothing. It returns the contact's conversations as they
// are now; a contact may have none.
func (t *Talks) OptIn(ctx context.Context, who contact.Key) ([]conversation.Conversation, error) {
	talks, err := database.Write(ctx, t.db, func(tx *groupcommit.Tx) ([]conversation.Conversation, error) {
		return change(tx, optInTalks, who.TenantID, string(who.SubscriberID))
	})
	if err != nil {
		return nil, fmt.Errorf("opt a contact in: %w", err)
	}
	return talks, nil
}

// Confirms fills [person.Store].
func (t *Talks) Confirms(ctx context.Context, conversationID string, seq int64) (confirms bool, err error) {
	if err = t.db.Read().QueryRowContext(ctx, selectConfirms, conversationID, seq).Scan(&confirms); err != nil {
		return false, fmt.Errorf("read whether a turn confirms an opt-out: %w", database.Explain(err))
	}
	return confirms, nil
}

// HoldForWish locks every conversation of a contact whose settling turn says something about
// writing to them, before one of them is locked alone.
func HoldForWish(tx *groupcommit.Tx, s turn.Settlement) error {
	if s.Wish == (conversation.Wish{}) {
		return nil
	}
	return tx.Lock(holdTalks, s.Turn.Key.TenantID, string(s.Turn.Key.SubscriberID))
}

// Silenced reports whether a settling turn may say nothing to a contact who opted out. What
// answers an opt-out is said once, by the turn that is the first to settle it.
func Silenced(c conversation.Conversation, s turn.Settlement) bool {
	confirms := s.Wish.Out && s.Turn.Outcome == conversation.OptedOut && c.OptedOutAt.IsZero()
	return s.Turn.Path != conversation.Silent && c.Mute(s.Wish) && !confirms
}

// Grant does what the messages of a settling turn say about writing to their contact. An
// opt-out of since the turn began is not taken back. The conversations are locked.
func Grant(tx *groupcommit.Tx, c conversation.Conversation, s turn.Settlement, now time.Time) (err error) {
	switch {
	case s.Wish.Out && c.OptedOutAt.IsZero():
		_, err = optOut(tx, c.Key, now)
	case !s.Wish.Back.IsZero() && c.OptedOutAt.Equal(s.Wish.Back):
		_, err = change(tx, optInTalks, c.Key.TenantID, string(c.Key.SubscriberID))
	}
	return err
}

// optOut locks the contact's conversations before anything of them is read.
func optOut(tx *groupcommit.Tx, who contact.Key, now time.Time) (o OptedOut, err error) {
	o.Talks, err = change(tx, optOutTalks, who.TenantID, string(who.SubscriberID), column.Micros(now))
	if err != nil {
		return o, err
	}
	o.Discarded, err = each(tx, o.Talks, queue.Discard)
	return o, err
}
