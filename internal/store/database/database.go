// Package database is an open database as every table's statements see it: write
// transactions, a pool that reads beside them, a clock, signals between processes, and errors
// that are sentences.
//
// SQLite is written by one goroutine, which commits up to 64 waiting transactions
// together, and read by a small pool beside it. PostgreSQL is written and read by one pool,
// in any number of processes at once.
package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// Options say which database to open, and how.
type Options struct {
	URL         string           // "sqlite:PATH", "postgres://…" or "postgresql://…"
	Now         func() time.Time // required; the process's clock, which may be set to another time than the machine's
	ReadOnly    bool             // open an existing database and never write
	NoMigration bool             // refuse a database that is older than the binary instead of migrating it
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	// Now is what times are compared with that several processes may have written: Options.Now
	// on SQLite, which has one process; on PostgreSQL it is ahead or behind by as much as
	// the server's clock is of the machine's.
	Now      func() time.Time
	read     *sql.DB
	readOnly bool

	write  *sql.DB             // SQLite's one connection that writes; nil when read-only
	writer *groupcommit.Writer // SQLite's; nil when read-only
	local  *listeners          // SQLite's
	disk   *disk               // SQLite's
	around Around              // inside which writes are made; nil: nothing is
	lent   bool                // somebody else closes it

	pool  *postgres.Pool  // nil on SQLite
	clock *postgres.Clock // nil on SQLite
}

// Open opens the database, creates it where it is missing and brings its tables up to
// date; a PostgreSQL database has to be there, but may be empty. Its errors are sentences that
// say what to do: see those of [sqlitefile] and [postgres].
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.Now == nil {
		return nil, errors.New("database: Options.Now is required")
	}
	kind, name, err := which(o.URL)
	if err != nil {
		return nil, err
	}
	db, err := kind.open(ctx, name, o)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", name, Explain(err))
	}
	return db, nil
}

// Explain puts a sentence that says what to do in front of an error of the database. Other
// errors, nil among them, pass unchanged.
func Explain(err error) error { return sqlitefile.Explain(postgres.Explain(err)) }

// Close waits for the transactions in hand and closes the database.
func (db *DB) Close() error {
	if db.lent {
		return nil
	}
	if db.writer != nil {
		db.writer.Close()
	}
	if db.clock != nil {
		db.clock.Close()
	}
	if db.pool != nil {
		db.pool.Close()
		return nil
	}
	var errs []error
	for _, pool := range []*sql.DB{db.read, db.write} {
		if pool != nil {
			errs = append(errs, pool.Close())
		}
	}
	return errors.Join(errs...)
}

// Ping reports whether the database answers, and on PostgreSQL whether it takes writes. A SQLite
// file is asked for that too once a write has failed because of its disk.
func (db *DB) Ping(ctx context.Context) error {
	if db.pool != nil {
		return db.pool.Ping(ctx)
	}
	if err := db.recovered(ctx); err != nil {
		return err
	}
	var one int
	return Explain(db.read.QueryRowContext(ctx, "SELECT 1").Scan(&one))
}

// Shared reports whether other processes may write the database at the same time.
func (db *DB) Shared() bool { return db.pool != nil || db.lent }

// Read is the pool to read from, outside of every transaction.
func (db *DB) Read() *sql.DB { return db.read }

// Write runs fn in a write transaction. fn's value is handed on only when the
// transaction is committed, so a caller that gave up never reads what is still written.
//
// On PostgreSQL other transactions run at the same time, read committed: fn locks what it
// decides about in its first statement, see [groupcommit.Tx.Lock]. It may be run more than
// once, so it sets nothing outside of itself that a second run would not set anew.
func Write[T any](ctx context.Context, db *DB, fn func(tx *groupcommit.Tx) (T, error)) (T, error) {
	var none, value T
	run := func(tx *groupcommit.Tx) (err error) {
		value, err = fn(tx)
		return err
	}
	var err error
	switch {
	case db.readOnly && db.pool != nil:
		err = postgres.ErrReadOnly
	case db.readOnly:
		err = sqlitefile.ErrReadOnly
	case db.pool != nil:
		err = db.pool.Write(ctx, run)
	case db.around != nil:
		err = db.around(ctx, func(ctx context.Context) error { return db.writer.Do(ctx, run) })
	default:
		err = db.writer.Do(ctx, run)
	}
	if err != nil {
		err = Explain(err)
		db.disk.failed(err)
		return none, err
	}
	return value, nil
}
