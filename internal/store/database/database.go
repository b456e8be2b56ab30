// Package database is an open database as every table's statements see it: write
// transactions that are committed together, a pool that reads beside them, and errors
// that are sentences.
//
// SQLite is written by one goroutine, which commits up to 64 waiting transactions
// together, and read by a small pool beside it.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// Options say which database to open, and how.
type Options struct {
	URL         string           // "sqlite:PATH"
	Now         func() time.Time // required
	ReadOnly    bool             // open an existing database and never write
	NoMigration bool             // refuse a database that is older than the binary instead of migrating it
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	Now      func() time.Time // what times are compared with
	write    *sql.DB          // one connection, the writer's; nil when read-only
	read     *sql.DB
	writer   *groupcommit.Writer // nil when read-only
	readOnly bool
}

// Open opens the database, creates it where it is missing and brings its tables up to
// date. Its errors are sentences that say what to do: see those of [sqlitefile].
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Now == nil {
		return nil, errors.New("database: Options.Now is required")
	}
	path, err := sqlitefile.Path(o.URL)
	if err != nil {
		return nil, err
	}
	db, err := open(ctx, path, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	return db, nil
}

func open(ctx context.Context, path string, o Options) (*DB, error) {
	if err := sqlitefile.Prepare(path, o.ReadOnly); err != nil {
		return nil, err
	}
	db := &DB{Now: o.Now, readOnly: o.ReadOnly}
	ok := false
	defer func() {
		if !ok {
			_ = db.Close()
		}
	}()

	var err error
	if db.read, err = sqlitefile.OpenReaders(path, o.ReadOnly); err != nil {
		return nil, err
	}
	if !o.ReadOnly {
		if db.write, err = sqlitefile.OpenWriter(path); err != nil {
			return nil, err
		}
	}
	if err := db.checkVersion(ctx, path, o); err != nil {
		return nil, sqlitefile.Explain(err)
	}
	if !o.ReadOnly {
		db.writer = groupcommit.New(db.write)
	}
	ok = true
	return db, nil
}

// checkVersion migrates, or refuses what this binary cannot read.
func (db *DB) checkVersion(ctx context.Context, path string, o Options) error {
	if !o.ReadOnly && !o.NoMigration {
		return sqlitefile.Migrate(ctx, db.write, path)
	}
	have, err := sqlitefile.Version(ctx, db.read)
	if err != nil {
		return err
	}
	return sqlitefile.Compare(have)
}

// Close waits for the transactions in hand and closes the database.
func (db *DB) Close() error {
	if db.writer != nil {
		db.writer.Close()
	}
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers.
func (db *DB) Ping(ctx context.Context) error {
	var one int
	return sqlitefile.Explain(db.read.QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

// Read is the pool to read from, outside of every transaction.
func (db *DB) Read() *sql.DB { return db.read }

// Write runs fn in a write transaction. fn's value is handed on only when the
// transaction is committed, so a caller that gave up never reads what is still written.
func Write[T any](ctx context.Context, db *DB, fn func(tx *groupcommit.Tx) (T, error)) (T, error) {
	var none, value T
	if db.readOnly {
		return none, sqlitefile.ErrReadOnly
	}
	err := db.writer.Do(ctx, func(tx *groupcommit.Tx) (err error) {
		value, err = fn(tx)
		return err
	})
	if err != nil {
		return none, sqlitefile.Explain(err)
	}
	return value, nil
}
