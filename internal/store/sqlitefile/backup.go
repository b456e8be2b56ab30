package sqlitefile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
)

// Errors of [Backup], each a sentence that says what to do.
var (
	ErrBackupExists = errors.New("there is a file of this name already; choose another name, since a backup overwrites nothing")
	ErrBackupPlace  = errors.New("the backup cannot be written there; give this user permission to write the folder, or choose another one")
	ErrBackupDisk   = errors.New("the disk that the backup is written to is full or reports errors; free some space, or choose another one")
	ErrBackupBroken = errors.New("the copy is damaged and was removed; check the disk, then try again")
	ErrNoTables     = errors.New("the database has no tables yet; there is nothing to back up")
)

// Copied is a finished backup.
type Copied struct {
	Bytes   int64
	Version int64 // of its tables
}

// Backup writes a consistent copy of the database at path to the file to, which must not
// exist and which only this user can read, while others go on writing the database. The
// file is there under its name only when it is complete, on the disk and checked: SQLite
// finds no damage in it, and it has the database's version, which this binary knows. What
// was deleted from the database is not in it.
func Backup(ctx context.Context, path, to string) (c Copied, err error) {
	if err := Prepare(path, true); err != nil {
		return c, err
	}
	if _, err := os.Lstat(to); err == nil {
		return c, ErrBackupExists
	}
	partial, err := partialFile(to)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, removed(partial)) }()
	version, err := copyInto(ctx, path, partial)
	if err != nil {
		return c, err
	}
	if c, err = checked(ctx, partial, version); err != nil {
		return c, err
	}
	return c, place(partial, to)
}

// partialFile makes the empty file that the copy is written to, beside its last name.
func partialFile(to string) (string, error) {
	file, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".partial-*") // readable by nobody else
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrBackupPlace, err)
	}
	return file.Name(), file.Close()
}

func copyInto(ctx context.Context, path, partial string) (version int64, err error) {
	// query_only would forbid writing the copy as well.
	db, err := open(path, 1, url.Values{"_pragma": {busyTimeout}, "mode": {"ro"}})
	if err != nil {
		return 0, err
	}
	defer db.Close()
	if version, err = Version(ctx, db); err != nil {
		return 0, err
	}
	if version == 0 {
		return 0, ErrNoTables
	}
	if version > Latest() {
		return 0, Compare(version)
	}
	_, err = db.ExecContext(ctx, "VACUUM INTO $1", partial)
	if said := sentence(err); errors.Is(said, ErrDiskFull) || errors.Is(said, ErrIO) {
		return 0, fmt.Errorf("%w: %v", ErrBackupDisk, err) // not the database's disk
	}
	return version, err
}

// checked reads the whole copy, and has it on the disk.
func checked(ctx context.Context, partial string, version int64) (c Copied, err error) {
	db, err := OpenReaders(partial, true)
	if err != nil {
		return c, err
	}
	if err := errors.Join(sound(ctx, db, version), db.Close()); err != nil {
		return c, err
	}
	file, err := os.OpenFile(partial, os.O_RDWR, 0)
	if err != nil {
		return c, err
	}
	info, err := file.Stat()
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return c, err
	}
	return Copied{Bytes: info.Size(), Version: version}, nil
}

func sound(ctx context.Context, db *sql.DB, version int64) error {
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return fmt.Errorf("%w: %v", ErrBackupBroken, err)
	}
	have, err := Version(ctx, db)
	if err != nil {
		return fmt.Errorf("%w: %v", ErrBackupBroken, err)
	}
	if found != "ok" || have != version {
		return fmt.Errorf("%w (%s; version %d instead of %d)", ErrBackupBroken, found, have, version)
	}
	return nil
}

// place gives a file its last name, unless there is a file of that name by now.
func place(partial, to string) error {
	err := os.Link(partial, to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		if _, taken := os.Lstat(to); taken == nil {
			return ErrBackupExists
		}
		err = os.Rename(partial, to)
	}
	if errors.Is(err, fs.ErrExist) {
		return ErrBackupExists
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBackupPlace, err)
	}
	folder, err := os.Open(filepath.Dir(to))
	if err != nil {
		return nil // it may be written and not be listed
	}
	_ = folder.Sync() // not every file system can
	return folder.Close()
}

// removed takes a partial copy away, and what SQLite may have put beside it.
func removed(partial string) (err error) {
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		if gone := os.Remove(partial + suffix); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}
