package database

import (
	"context"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// Versions are a database's schema version and the one this binary knows.
type Versions struct {
	Database int64 // 0: no tables yet
	Binary   int64
}

// Version reads the versions without changing anything.
func Version(ctx context.Context, databaseURL string) (Versions, error) {
	path, err := sqlitefile.Path(databaseURL)
	if err != nil {
		return Versions{}, err
	}
	have, err := readVersion(ctx, path)
	if err != nil {
		return Versions{}, fmt.Errorf("read version of database %s: %w", path, sqlitefile.Explain(err))
	}
	return Versions{Database: have, Binary: sqlitefile.Latest()}, nil
}

func readVersion(ctx context.Context, path string) (int64, error) {
	if err := sqlitefile.Prepare(path, true); err != nil {
		return 0, err
	}
	db, err := sqlitefile.OpenReaders(path, true)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	return sqlitefile.Version(ctx, db)
}

// Migrate creates the database where it is missing, brings its tables up to date and
// does nothing else.
func Migrate(ctx context.Context, databaseURL string) error {
	path, err := sqlitefile.Path(databaseURL)
	if err != nil {
		return err
	}
	if err := migrateFile(ctx, path); err != nil {
		return fmt.Errorf("migrate database %s: %w", path, sqlitefile.Explain(err))
	}
	return nil
}

func migrateFile(ctx context.Context, path string) error {
	if err := sqlitefile.Prepare(path, false); err != nil {
		return err
	}
	db, err := sqlitefile.OpenWriter(path)
	if err != nil {
		return err
	}
	defer db.Close()
	return sqlitefile.Migrate(ctx, db, path)
}

// Lock takes the file lock that keeps a second serve or worker off a SQLite database;
// see [sqlitefile.Lock]. It fails at once with [ErrInUse].
func Lock(databaseURL string) (unlock func() error, err error) {
	path, err := sqlitefile.Path(databaseURL)
	if err != nil {
		return nil, err
	}
	return sqlitefile.Lock(path)
}
