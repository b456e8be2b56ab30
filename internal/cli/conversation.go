package cli

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/cli/talk"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// shell is where the command conversation runs.
func shell(std Streams) talk.Shell {
	return talk.Shell{
		Out: std.Out, Err: std.Err, Table: terminal(std.Out), Watched: terminal(std.Out) || terminal(std.Err),
		Usage: func(err error) error { return usageError{err} },
		Database: func(ctx context.Context, use func(context.Context, *store.DB, config.Config) error) error {
			c, err := environment(config.Once, std)
			if err != nil {
				return err
			}
			return withDatabase(ctx, std, func(ctx context.Context, db *store.DB) error { return use(ctx, db, c) })
		},
	}
}
