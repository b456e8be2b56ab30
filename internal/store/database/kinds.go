package database

import (
	"context"
	"errors"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// ErrURL says that an address names a database of neither kind.
var ErrURL = errors.New(`the database address must be "sqlite:" followed by a path, such as sqlite:data/agent.db, or postgres://user:password@host/database`)

// kind is what the two kinds of database do differently before their use.
type kind struct {
	open    func(ctx context.Context, name string, o Options) (*DB, error)
	version func(ctx context.Context, name, url string) (Versions, error)
	migrate func(ctx context.Context, name, url string) error
	lock    func(name string) (unlock func() error, err error)
}

// which finds the kind of an address, and what errors call the database: a path, or a
// server's host, port and database.
func which(databaseURL string) (k kind, name string, err error) {
	if postgres.Is(databaseURL) {
		if name, err = postgres.Name(databaseURL); err != nil {
			return k, "", err
		}
		return kind{openPool, poolVersion, migratePool, noLock}, name, nil
	}
	if name, err = sqlitefile.Path(databaseURL); err != nil {
		return k, "", ErrURL
	}
	return kind{openFile, fileVersion, migrateFile, sqlitefile.Lock}, name, nil
}

func openFile(ctx context.Context, path string, o Options) (*DB, error) {
	if err := sqlitefile.Prepare(path, o.ReadOnly); err != nil {
		return nil, err
	}
	db := &DB{Now: o.Now, readOnly: o.ReadOnly, local: &listeners{}, disk: &disk{path: path}}
	if err := db.connect(ctx, path, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) connect(ctx context.Context, path string, o Options) (err error) {
	if db.read, err = sqlitefile.OpenReaders(path, o.ReadOnly); err != nil {
		return err
	}
	if !o.ReadOnly {
		if db.write, err = sqlitefile.OpenWriter(path); err != nil {
			return err
		}
	}
	if o.ReadOnly || o.NoMigration {
		have, err := sqlitefile.Version(ctx, db.read)
		if err == nil {
			err = sqlitefile.Compare(have)
		}
		if err != nil {
			return err
		}
	} else if err := sqlitefile.Migrate(ctx, db.write, path); err != nil {
		return err
	}
	if !o.ReadOnly {
		db.writer = groupcommit.New(db.write)
	}
	return nil
}

func fileVersion(ctx context.Context, path, _ string) (Versions, error) {
	v := Versions{Binary: sqlitefile.Latest()}
	if err := sqlitefile.Prepare(path, true); err != nil {
		return v, err
	}
	db, err := sqlitefile.OpenReaders(path, true)
	if err != nil {
		return v, err
	}
	defer db.Close()
	v.Database, err = sqlitefile.Version(ctx, db)
	return v, err
}

func migrateFile(ctx context.Context, path, _ string) error {
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

func openPool(ctx context.Context, _ string, o Options) (*DB, error) {
	pool, err := postgres.Open(postgres.Options{URL: o.URL, ReadOnly: o.ReadOnly})
	if err != nil {
		return nil, err
	}
	db := &DB{pool: pool, read: pool.DB, readOnly: o.ReadOnly}
	if err := db.prepare(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

func (db *DB) prepare(ctx context.Context, o Options) error {
	have, err := postgres.Version(ctx, db.read)
	if err == nil && have < postgres.Latest() && !o.ReadOnly && !o.NoMigration {
		err = postgres.Migrate(ctx, o.URL)
	} else if err == nil {
		err = postgres.Compare(have)
	}
	if err != nil {
		return err
	}
	if db.clock, err = postgres.NewClock(ctx, db.pool, o.Now); err != nil {
		return err
	}
	db.Now = db.clock.Now
	return nil
}

func poolVersion(ctx context.Context, _, url string) (Versions, error) {
	v := Versions{Binary: postgres.Latest()}
	pool, err := postgres.Open(postgres.Options{URL: url, ReadOnly: true})
	if err != nil {
		return v, err
	}
	defer pool.Close()
	v.Database, err = postgres.Version(ctx, pool.DB)
	return v, err
}

func migratePool(ctx context.Context, _, url string) error { return postgres.Migrate(ctx, url) }

// noLock locks nothing: no process is special.
func noLock(string) (unlock func() error, err error) { return func() error { return nil }, nil }
