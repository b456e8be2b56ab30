package postgres

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/manychat-agent/manychat-agent/internal/store/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationLock is the key of the advisory lock that a migrating process holds; any number
// does.
const migrationLock = 7_305_118_268

// Migrations are the embedded files.
func Migrations() fs.FS {
	files, _ := fs.Sub(migrations, "migrations") // the name is well formed
	return files
}

// Latest is the newest embedded migration.
func Latest() int64 { return schema.Latest(Migrations()) }

// Compare refuses a database of another version than the binary's.
func Compare(database int64) error { return schema.Compare(database, Latest()) }

// Version is the newest applied migration; 0 for a database without tables.
func Version(ctx context.Context, db *sql.DB) (int64, error) {
	var found bool
	err := db.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&found)
	if err != nil || !found {
		return 0, err
	}
	var v int64
	err = db.QueryRowContext(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v, err
}

// Migrate applies what is missing, one process at a time: the others wait at an advisory
// lock of the session, which the server frees when its holder dies. [schema.ErrNewer] when
// the database is newer than this binary.
func Migrate(ctx context.Context, databaseURL string) error {
	// A migration may take as long as it needs. It does not wait long for a table's lock,
	// since whoever comes after it would wait behind it: the service that runs meanwhile.
	config, err := configure(databaseURL, map[string]string{"application_name": "manychat-agent migrate", "lock_timeout": "5s"})
	if err != nil {
		return err
	}
	writable(config)
	db := stdlib.OpenDB(*config)
	defer db.Close()
	have, err := Version(ctx, db)
	if err != nil || have >= Latest() {
		return orNewer(err, have)
	}
	guard, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer drop(guard) // which frees the lock
	for _, statement := range []string{"SET lock_timeout = 0", fmt.Sprintf("SELECT pg_advisory_lock(%d)", migrationLock)} {
		if _, err := guard.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("take the migration lock: %w", err)
		}
	}
	if have, err = Version(ctx, db); err != nil || have >= Latest() {
		return orNewer(err, have)
	}
	return up(ctx, db)
}

func up(ctx context.Context, db *sql.DB) error {
	err := schema.Up(ctx, goose.DialectPostgres, db, Migrations())
	if said := sentence(err); said != nil {
		return fmt.Errorf("%w: %s", said, code(err)) // the migration tool's own account of it adds nothing to act on
	}
	return err
}

// orNewer is an error, or what is to say of a version that needs no migration.
func orNewer(err error, have int64) error {
	if err != nil {
		return err
	}
	return Compare(have)
}
