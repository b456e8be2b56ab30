package talk

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type optout struct {
	ID string `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
}

// Run opts a contact out who asked a person for it. It sends nothing.
func (o optout) Run(ctx context.Context, sh Shell) error {
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, talks, err := resolve(ctx, db, c, o.ID)
		if errors.Is(err, errUnwritten) {
			err = nil // they may have asked elsewhere
		}
		if err != nil {
			return err
		}
		done, err := db.OptOut(ctx, who)
		if err != nil {
			return err
		}
		if len(talks) == 0 {
			fmt.Fprintf(sh.Err, "No message of %s is known: check the id; the opt-out holds from their first message on.\n", who.SubscriberID)
		}
		_, err = fmt.Fprintf(sh.Out, "Nothing is sent to the contact %s any more.%s\n", who.SubscriberID, discarded(done.Discarded))
		return err
	})
}

// discarded says what an opt-out gave up.
func discarded(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return " 1 reply that was on its way is discarded."
	}
	return fmt.Sprintf(" %d replies that were on their way are discarded.", n)
}

type optin struct {
	ID string `arg:"" help:"The conversation's id, or the contact's at ManyChat."`
}

// Run takes an opt-out back. It sends nothing.
func (o optin) Run(ctx context.Context, sh Shell) error {
	return sh.Database(ctx, func(ctx context.Context, db *store.DB, c config.Config) error {
		who, before, err := resolve(ctx, db, c, o.ID)
		if err != nil {
			return err
		}
		talks, err := db.OptIn(ctx, who)
		if err != nil {
			return err
		}
		for _, talk := range talks {
			if talk.Paused(db.Now()) {
				_, err = fmt.Fprintf(sh.Out, "The contact %s may be written to again, and is a person's until %s.\n", who.SubscriberID, show.Local(talk.PausedUntil))
				return err
			}
		}
		if _, err := fmt.Fprintf(sh.Out, "The agent answers the contact %s again.\n", who.SubscriberID); err != nil {
			return err
		}
		if !slices.ContainsFunc(before, func(c conversation.Conversation) bool { return c.Mute(conversation.Wish{}) }) {
			fmt.Fprintln(sh.Err, "They had not opted out.")
		}
		return nil
	})
}
