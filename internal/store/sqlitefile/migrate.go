package sqlitefile

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/gofrs/flock"
	"github.com/pressly/goose/v3"

	"github.com/manychat-agent/manychat-agent/internal/store/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrationFolder holds files NUMBER_name.sql, applied in order and never undone.
const migrationFolder = "migrations"

// lockRetry is how often a process looks whether another one has finished migrating.
const lockRetry = 50 * time.Millisecond

// Migrate applies what is missing to the database that db writes, one process at a
// time; file is its path. [ErrNewer] when it is newer than this binary. db must not have
// connected yet: a first connection changes a new file's journal, which SQLite lets two
// processes do at once only by failing one of them.
func Migrate(ctx context.Context, db *sql.DB, file string) error {
	lock := flock.New(file+".migrate", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(ctx, lockRetry); err != nil {
		if ctx.Err() == nil {
			err = fmt.Errorf("%w: %w", ErrUnwritable, err)
		}
		return fmt.Errorf("take the migration lock: %w", err)
	}
	defer lock.Close()
	have, err := Version(ctx, db)
	if err != nil {
		return err
	}
	if have > Latest() {
		return Compare(have)
	}
	if have == Latest() {
		return nil
	}
	return up(ctx, db)
}

func up(ctx context.Context, db *sql.DB) error {
	err := schema.Up(ctx, goose.DialectSQLite3, db, folder())
	if said := sentence(err); said != nil {
		return said // the migration tool's own account of it adds nothing to act on
	}
	return err
}

// Compare refuses a database of another version than the binary's: with [ErrNewer] or
// [ErrOlder].
func Compare(database int64) error { return schema.Compare(database, Latest()) }

// Version is the newest applied migration; 0 for a database without tables.
func Version(ctx context.Context, db *sql.DB) (int64, error) {
	var found bool
	err := db.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'goose_db_version')").Scan(&found)
	if err != nil || !found {
		return 0, err
	}
	var v int64
	err = db.QueryRowContext(ctx,
		"SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v, err
}

// Latest is the newest embedded migration.
func Latest() int64 { return schema.Latest(folder()) }

func folder() fs.FS {
	files, _ := fs.Sub(migrations, migrationFolder) // the name is well formed
	return files
}
