// Package person says what keeps the agent from writing to a contact: that a person has the
// conversation, because it is paused, because a handoff pauses it, or because the contact
// carries the tag that a business's people set while they write; or that the contact opted out.
package person

import (
	"context"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

const (
	// readEvery is how often one contact's tags are read at most (docs/spec/06-contact.md,
	// "Pause and opt-out").
	readEvery = time.Minute
	// readWithin bounds one reading, which the reply waits for.
	readWithin = 1500 * time.Millisecond
	// lookWithin bounds a look at the database, and glanceWithin one that a response waits for.
	lookWithin   = time.Second
	glanceWithin = 250 * time.Millisecond
)

// Store keeps what is known of people who have conversations, and of contacts who opted out.
type Store interface {
	// Talk reads a conversation.
	Talk(ctx context.Context, conversationID string) (conversation.Conversation, error)
	// TagDue takes the right to read a contact's tags, unless somebody took it less than every
	// ago; active is what was known last.
	TagDue(ctx context.Context, who contact.Key, every time.Duration) (due, active bool, err error)
	// Confirms reports whether the turn at a place of a conversation's order is one that
	// confirms an opt-out.
	Confirms(ctx context.Context, conversationID string, seq int64) (bool, error)
	// NoteTag keeps whether the contact carries the tag. While they do, what was on its way to
	// them is withheld.
	NoteTag(ctx context.Context, who contact.Key, active bool) error
}

// Tags reads contacts' tags at ManyChat.
type Tags interface {
	HasTag(ctx context.Context, who contact.Key, tag string) (bool, error)
}

// Watch knows who has a conversation.
type Watch struct {
	Store Store
	Tags  Tags
	Now   func() time.Time
	Log   *slog.Logger
}

// Tag is the name of the tag that a business's people set while they have a contact; empty:
// there is none.
func Tag(t *tenant.Tenant) string {
	if t.Tools == nil || t.Tools.Nudge == nil {
		return ""
	}
	return t.Tools.Nudge.HumanActiveTag
}

// Until is how long a handoff pauses its conversation; zero: it does not.
func Until(t *tenant.Tenant, at time.Time) time.Time {
	if t.Rules.Handoff == nil || t.Rules.Handoff.PauseHours <= 0 {
		return time.Time{}
	}
	return at.Add(time.Duration(t.Rules.Handoff.PauseHours * float64(time.Hour)))
}

// HasTurn reports whether a person has the conversation of a turn that begins, as it was read
// with the turn. A bound turn may ask ManyChat for the contact's tags.
func (w *Watch) HasTurn(ctx context.Context, t *tenant.Tenant, c conversation.Conversation, turn conversation.Turn) bool {
	if c.Holds(turn.Seq, w.Now()) {
		return true
	}
	if !turn.Bound {
		return Tag(t) != "" && c.TagActive
	}
	return w.carries(ctx, t, c)
}

// Holds is what keeps back now what has a place in a conversation's order:
// [conversation.OptedOut] of a contact who opted out, but for what confirms that,
// [conversation.Paused] while a person has the conversation, or nothing. It asks ManyChat only
// whether a tag that was there is gone.
func (w *Watch) Holds(ctx context.Context, t *tenant.Tenant, conversationID string, seq int64) (by conversation.Outcome, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookWithin+readWithin)
	defer cancel()
	c, err := w.Store.Talk(ctx, conversationID)
	if err != nil {
		return "", err
	}
	if c.Mute(conversation.Wish{}) {
		confirms, err := w.Store.Confirms(ctx, conversationID, seq)
		if err != nil || !confirms {
			return conversation.OptedOut, err
		}
	}
	if c.Holds(seq, w.Now()) || c.TagActive && w.carries(ctx, t, c) {
		return conversation.Paused, nil
	}
	return "", nil
}

// Has reports whether anything is kept back now that has a place in a conversation's order.
func (w *Watch) Has(ctx context.Context, t *tenant.Tenant, conversationID string, seq int64) (bool, error) {
	by, err := w.Holds(ctx, t, conversationID, seq)
	return by != "", err
}

// HasByNow reports whether a person has taken the conversation of a turn over while it was
// running, or its contact opted out, as far as the database says so at once.
func (w *Watch) HasByNow(t *tenant.Tenant, turn conversation.Turn, wish conversation.Wish) bool {
	ctx, cancel := context.WithTimeout(context.Background(), glanceWithin)
	defer cancel()
	found := make(chan bool, 1)
	go func() {
		c, err := w.Store.Talk(ctx, turn.ConversationID)
		found <- err == nil && (c.Taken(turn.Seq, w.Now(), Tag(t) != "") || c.Mute(wish))
	}()
	select {
	case taken := <-found:
		return taken
	case <-ctx.Done():
		return false
	}
}

// carries reports whether the contact carries the tag, as far as that is known. A reading that
// fails leaves what was known as it is.
func (w *Watch) carries(ctx context.Context, t *tenant.Tenant, c conversation.Conversation) bool {
	tag := Tag(t)
	if tag == "" {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin+readWithin)
	defer cancel()
	due, active, err := w.Store.TagDue(ctx, c.Key, readEvery)
	if err != nil {
		w.Log.Warn("what is known of a contact's tag was not read", "conversation", c.ID, "error", err)
		return c.TagActive
	}
	if !due {
		return active
	}
	read, stop := context.WithTimeout(ctx, readWithin)
	defer stop()
	now, err := w.Tags.HasTag(read, c.Key, tag)
	if err != nil {
		w.Log.Warn("a contact's tags were not read; what was known of them stays", "conversation", c.ID, "error", err)
		return active
	}
	if now != active {
		w.note(ctx, c, now)
	}
	return now
}

func (w *Watch) note(ctx context.Context, c conversation.Conversation, active bool) {
	if err := w.Store.NoteTag(ctx, c.Key, active); err != nil {
		w.Log.Error("whether a person has a contact was not kept; it is read again", "conversation", c.ID, "error", err)
	}
}
