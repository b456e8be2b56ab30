package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/app"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

type tokensCommands struct {
	Backfill tokensBackfill `cmd:"" help:"Give every contact whose history counts a token, before CONTACT_TOKENS_ENFORCED is on."`
}

// Help shows examples.
func (tokensCommands) Help() string {
	return `Examples:

    manychat-agent tokens backfill            queue what is missing; serve or worker writes it
    manychat-agent tokens backfill --check    exit code 1 while any contact lacks one`
}

type tokensBackfill struct {
	Check bool `help:"Change nothing; exit with 1 while any contact lacks a token."`
}

// Run queues a token for every contact with a turn inside the history window whose field
// is not known to hold one. A running service writes them within ManyChat's limits.
func (b tokensBackfill) Run(ctx context.Context, std Streams) error {
	c, err := environment(config.Once, std)
	if err != nil {
		return err
	}
	business, err := app.Business(c, 0)
	if err != nil {
		return err
	}
	return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error {
		found, err := db.BackfillTokens(ctx, c.Tenant.ID, turn.HistorySince(business, time.Now()), b.Check)
		if err != nil {
			return err
		}
		if b.Check && found.Lacking > 0 {
			return fmt.Errorf("%d contacts lack a token; tokens backfill queues them, and serve or worker writes them", found.Lacking)
		}
		return told(std, found, b.Check)
	})
}

func told(std Streams, found store.Backfill, check bool) (err error) {
	switch {
	case found.Lacking == 0:
		_, err = fmt.Fprintln(std.Out, "Every contact whose history counts has a token.")
	case !check:
		_, err = fmt.Fprintf(std.Out, "%d contacts lack a token; %d were queued now, %d are queued already. A running serve or worker writes them; tokens backfill --check says when all are.\n",
			found.Lacking, found.Queued, found.Lacking-found.Queued)
	}
	return err
}
