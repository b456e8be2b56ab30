package database

import (
	"context"
	"fmt"
)

// Versions are a database's schema version and the one this binary knows. They mean the
// same in both kinds of database.
type Versions struct {
	Database int64 // 0: no tables yet
	Binary   int64
}

// Version reads the versions without changing anything.
func Version(ctx context.Context, databaseURL string) (Versions, error) {
	kind, name, err := which(databaseURL)
	if err != nil {
		return Versions{}, err
	}
	v, err := kind.version(ctx, name, databaseURL)
	if err != nil {
		return Versions{}, fmt.Errorf("read version of database %s: %w", name, Explain(err))
	}
	return v, nil
}

// Migrate brings a database's tables up to date and does nothing else. It creates a SQLite
// file that is missing.
func Migrate(ctx context.Context, databaseURL string) error {
	kind, name, err := which(databaseURL)
	if err != nil {
		return err
	}
	if err := kind.migrate(ctx, name, databaseURL); err != nil {
		return fmt.Errorf("migrate database %s: %w", name, Explain(err))
	}
	return nil
}

// Lock takes the file lock that keeps a second serve or worker off a SQLite database;
// see [sqlitefile.Lock]. It fails at once with [sqlitefile.ErrInUse]. On PostgreSQL any
// number of processes run at once, and nothing is locked.
func Lock(databaseURL string) (unlock func() error, err error) {
	kind, name, err := which(databaseURL)
	if err != nil {
		return nil, err
	}
	return kind.lock(name)
}
