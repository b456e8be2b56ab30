// Package schema is what the migrations of both databases have in common: their numbers,
// which version a program needs, and running them. Files are named NUMBER_name.sql, are
// applied in order and never undone. The newest number is the same in both dialects, so
// that a version means the same everywhere.
package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/pressly/goose/v3"
)

// Errors of [Compare], each a sentence that says what to do.
var (
	ErrNewer = errors.New("the database was written by a newer version of this program; install that version or restore a backup")
	ErrOlder = errors.New("the database was written by an older version of this program; run the migrate command")
)

// Latest is the newest migration of a folder; 0 when it has none.
func Latest(folder fs.FS) int64 {
	var newest int64
	names, _ := fs.Glob(folder, "*.sql") // the pattern is well formed
	for _, name := range names {
		number, _, _ := strings.Cut(name, "_")
		if v, err := strconv.ParseInt(number, 10, 64); err == nil {
			newest = max(newest, v)
		}
	}
	return newest
}

// Compare refuses a database of another version than the binary's: with [ErrNewer] or
// [ErrOlder].
func Compare(database, binary int64) error {
	switch {
	case database > binary:
		return fmt.Errorf("%w (it is at version %d, this program knows %d)", ErrNewer, database, binary)
	case database < binary:
		return fmt.Errorf("%w (it is at version %d, this program needs %d)", ErrOlder, database, binary)
	}
	return nil
}

// Up applies what is missing. The caller sees to it that no other process does at once.
func Up(ctx context.Context, dialect goose.Dialect, db *sql.DB, folder fs.FS) error {
	provider, err := goose.NewProvider(dialect, db, folder, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
