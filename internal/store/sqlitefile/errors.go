package sqlitefile

import (
	"errors"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/manychat-agent/manychat-agent/internal/store/failure"
	"github.com/manychat-agent/manychat-agent/internal/store/schema"
)

// Errors of a database, each a sentence that says what to do. At run time they are
// wrapped around the database's own error; nothing needs a restart once the cause is
// gone, unless the sentence says so.
var (
	ErrURL = errors.New(`the database address must be "sqlite:" followed by a path, such as sqlite:data/agent.db`)

	ErrMissing     = errors.New("there is no database file; start the service once, or correct the path")
	ErrUnreadable  = errors.New("the database file cannot be read; give this user permission to read it")
	ErrUnwritable  = errors.New("the database file or its folder cannot be written; give this user permission, or choose another path")
	ErrNotDatabase = errors.New("the file is not a SQLite database; correct the path, or move the file away")
	ErrCorrupt     = errors.New("the database file is damaged; stop the service and restore a backup")
	ErrNewer       = schema.ErrNewer
	ErrOlder       = schema.ErrOlder

	ErrDiskFull = failure.ErrDiskFull
	ErrReadOnly = errors.New("the database is read-only; make its file and folder writable for this user")
	ErrBusy     = errors.New("another program kept the database locked for too long; end that program")
	ErrIO       = errors.New("the disk that holds the database reports errors; check the disk")

	ErrConstraint = failure.ErrConstraint

	ErrInUse = errors.New("another serve or worker already runs on this database; stop it first, or use another database file")
)

// byCode are the sentences for what SQLite reports, by primary result code.
var byCode = map[int]error{
	sqlite3.SQLITE_FULL:     ErrDiskFull,
	sqlite3.SQLITE_READONLY: ErrReadOnly,
	sqlite3.SQLITE_CORRUPT:  ErrCorrupt,
	sqlite3.SQLITE_NOTADB:   ErrNotDatabase,
	sqlite3.SQLITE_IOERR:    ErrIO,
	sqlite3.SQLITE_BUSY:     ErrBusy,
	sqlite3.SQLITE_CANTOPEN: ErrUnwritable,
	sqlite3.SQLITE_PERM:     ErrUnwritable,

	sqlite3.SQLITE_CONSTRAINT: ErrConstraint,
}

// Explain puts the sentence in front of a database's error. Other errors, nil among
// them, pass unchanged.
func Explain(err error) error { return failure.Explain(sentence(err), err) }

// sentence is what to say of a database's error; nil when there is nothing to add.
func sentence(err error) error {
	var reported *sqlite.Error
	if !errors.As(err, &reported) {
		return nil
	}
	return byCode[reported.Code()&0xff] // the low byte is the primary code
}
