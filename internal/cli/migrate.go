package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type migrateCommand struct{}

// Run opens the database, which brings it up to date.
func (migrateCommand) Run(ctx context.Context, std Streams) error {
	return withDatabase(ctx, std, func(_ context.Context, db *store.DB) error {
		_, err := fmt.Fprintln(std.Out, "The database is up to date.")
		return err
	})
}

// withDatabase opens the database beside whatever process serves it. Nothing but
// where it is needs to be configured.
func withDatabase(ctx context.Context, std Streams, use func(context.Context, *store.DB) error) error {
	c, err := environment(config.Dev, std)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, store.Options{URL: c.Tenant.Database.Reveal(), TenantID: c.Tenant.ID, Now: time.Now})
	if err != nil {
		return err
	}
	defer db.Close()
	return use(ctx, db)
}
