// Package sqlitefile is what a SQLite database needs before and beside its tables'
// use: its address, its file, its connections, its version and migrations, the lock
// that keeps a second service off it, and sentences for its errors.
package sqlitefile

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver named "sqlite"
)

// maxReaders bounds the pool that reads: operators' pages and the worker's due times,
// never a turn, which reads in its own transaction.
const maxReaders = 4

// Path is the path of "sqlite:PATH".
func Path(databaseURL string) (string, error) {
	scheme, path, found := strings.Cut(databaseURL, ":")
	if !found || scheme != "sqlite" || path == "" {
		return "", ErrURL
	}
	return path, nil
}

// Prepare makes the folder and an empty file, readable by nobody else: it will hold
// what people wrote. What is wrong with the file system is found here, where the error
// names it.
func Prepare(path string, readOnly bool) error {
	flag := os.O_RDWR | os.O_CREATE
	if readOnly {
		flag = os.O_RDONLY
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
	file, err := os.OpenFile(path, flag, 0o600)
	switch {
	case err == nil:
		return file.Close()
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %w", ErrMissing, err)
	case readOnly:
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnwritable, err)
	}
}

// OpenWriter opens the one connection that writes. synchronous=FULL: what was acknowledged
// survives a power cut. Transactions open as IMMEDIATE because one that upgrades later
// is refused at once instead of waiting for the lock. secure_delete: what is deleted or
// written over is overwritten in its page, as far as that costs no more writes.
func OpenWriter(path string) (*sql.DB, error) {
	return open(path, 1, url.Values{
		"_pragma": {busyTimeout, "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(FAST)"},
		"_txlock": {"immediate"},
	})
}

// OpenReaders opens connections that cannot write; readOnly leaves the file itself
// untouched as well.
func OpenReaders(path string, readOnly bool) (*sql.DB, error) {
	query := url.Values{"_pragma": {busyTimeout, "query_only(1)"}}
	if readOnly {
		query.Set("mode", "ro")
	}
	return open(path, maxReaders, query)
}

// busyTimeout is how long, in milliseconds, a statement waits for another process.
const busyTimeout = "busy_timeout(5000)"

func open(path string, connections int, query url.Values) (*sql.DB, error) {
	escaped := (&url.URL{Path: path}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+escaped+"?"+query.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}
