package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"
)

// Errors of [Overwrite]: the rows are gone, and parts of their bytes may not be.
var (
	ErrRemains  = errors.New("bytes of what was deleted may still be in the database's file, which is being read or written; run the command again in a moment")
	ErrTooLarge = errors.New("bytes of what was deleted may still be in unused places of the database's file, which is too large to be written anew beside a running service; stop the service and run the command again")
)

const (
	// besideService is how large a file is written anew, in bytes, while a service runs on
	// it: its writes wait meanwhile, about a second for these.
	besideService = 100 << 20
	// overwriteWithin is how long to wait for those who read what was there before.
	overwriteWithin = 10 * time.Second
	overwriteEvery  = 100 * time.Millisecond
)

// Overwrite removes the bytes of deleted rows from the file at path and from its
// write-ahead log. Zeroes have taken the place of each row already, but not of the copies
// that its pages kept when they were divided, so the whole file is written anew.
func Overwrite(ctx context.Context, path string) error {
	unlock, err := Lock(path)
	if err == nil {
		defer unlock()
	} else if !errors.Is(err, ErrInUse) {
		return err
	}
	anew := err == nil || size(path) <= besideService
	db, err := OpenWriter(path)
	if err != nil {
		return err
	}
	defer db.Close()
	if anew {
		if _, err := db.ExecContext(ctx, "VACUUM"); err != nil {
			return fmt.Errorf("%w: %w", ErrRemains, Explain(err))
		}
	}
	if err := emptyLog(ctx, db); err != nil {
		return err
	}
	if !anew {
		return ErrTooLarge
	}
	return nil
}

// emptyLog moves what the write-ahead log holds into the file.
func emptyLog(ctx context.Context, db *sql.DB) error {
	bounded, cancel := context.WithTimeout(ctx, overwriteWithin)
	defer cancel()
	tick := time.NewTicker(overwriteEvery)
	defer tick.Stop()
	for {
		var busy bool
		var frames, moved int64
		err := db.QueryRowContext(bounded, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
		if err == nil && !busy {
			return nil
		}
		select {
		case <-tick.C:
		case <-bounded.Done():
			return errors.Join(ErrRemains, ctx.Err())
		}
	}
}

// size is a file's, its write-ahead log included.
func size(path string) (bytes int64) {
	for _, name := range []string{path, path + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
