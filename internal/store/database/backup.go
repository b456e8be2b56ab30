package database

import (
	"context"
	"errors"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// ErrDump says how the other kind of database is backed up.
var ErrDump = errors.New("a PostgreSQL database is backed up with PostgreSQL's own tools: run pg_dump --format=custom with its address, and restore with pg_restore")

// Backup writes a copy of a SQLite database to a new file while a service goes on; see
// [sqlitefile.Backup]. [ErrDump] for any other.
func Backup(ctx context.Context, databaseURL, to string) (sqlitefile.Copied, error) {
	if postgres.Is(databaseURL) {
		return sqlitefile.Copied{}, ErrDump
	}
	path, err := sqlitefile.Path(databaseURL)
	if err != nil {
		return sqlitefile.Copied{}, err
	}
	c, err := sqlitefile.Backup(ctx, path, to)
	if err != nil {
		return c, fmt.Errorf("back up database %s to %s: %w", path, to, sqlitefile.Explain(err))
	}
	return c, nil
}
