package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

type migrateCommand struct{}

// Run opens the database, which brings it up to date.
func (migrateCommand) Run(ctx context.Context, std Streams) error {
	c, err := environment(config.Once, std)
	if err != nil {
		return err
	}
	db, err := store.Open(ctx, store.Options{URL: c.Tenant.Database.Reveal(), Now: time.Now})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(std.Out, "The database is up to date.")
	return errors.Join(err, db.Close())
}

// withDatabase opens an existing database beside whatever process serves it, and
// leaves its version alone for that process's sake. Nothing but where it is needs to
// be configured.
func withDatabase(ctx context.Context, std Streams, use func(context.Context, *store.DB) error) error {
	c, err := environment(config.Once, std)
	if err != nil {
		return err
	}
	if file, ok := c.Tenant.Database.SQLiteFile(); ok {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("open database %s: %w", file, store.ErrMissing)
		}
	}
	db, err := store.Open(ctx, store.Options{
		URL: c.Tenant.Database.Reveal(), Now: time.Now, NoMigration: true,
	})
	if err != nil {
		return err
	}
	defer db.Close()
	return use(ctx, db)
}
