package cli

import (
	"context"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/cli/show"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type outboxShow struct {
	ID   string `arg:"" help:"The row's id, as list prints it."`
	JSON bool   `help:"As a JSON object."`
}

// Run prints the row with its contact and texts, and what to do about it: a table in a
// terminal, and JSON elsewhere or when asked for.
func (s outboxShow) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		r, err := db.OutboxRow(ctx, s.ID)
		if err != nil {
			return rowError(ctx, db, s.ID, err)
		}
		if s.JSON || !terminal(std.Out) {
			v := show.RowOf(r)
			v.Subscriber, v.Texts = string(r.Key.SubscriberID), r.Payload.Texts
			err = show.Object(std.Out, v)
		} else {
			err = show.Row(std.Out, r)
		}
		if advice := show.Advice(r); err == nil && advice != "" {
			fmt.Fprintln(std.Err, advice)
		}
		return err
	})
}
