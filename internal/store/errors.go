package store

import (
	"errors"

	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// Errors of a database, each a sentence that says what to do.
var (
	ErrURL        = sqlitefile.ErrURL
	ErrPostgreSQL = sqlitefile.ErrPostgreSQL

	ErrMissing     = sqlitefile.ErrMissing
	ErrUnreadable  = sqlitefile.ErrUnreadable
	ErrUnwritable  = sqlitefile.ErrUnwritable
	ErrNotDatabase = sqlitefile.ErrNotDatabase
	ErrCorrupt     = sqlitefile.ErrCorrupt
	ErrNewer       = sqlitefile.ErrNewer
	ErrOlder       = sqlitefile.ErrOlder
	ErrDiskFull    = sqlitefile.ErrDiskFull
	ErrReadOnly    = sqlitefile.ErrReadOnly
	ErrBusy        = sqlitefile.ErrBusy
	ErrIO          = sqlitefile.ErrIO
	ErrInUse       = sqlitefile.ErrInUse
)

// Errors of reads.
var (
	ErrNoTurn         = errors.New("no turn has this id")
	ErrNoConversation = errors.New("there is no conversation with this contact")
)

// explain puts the sentence in front of a database's error.
func explain(err error) error { return sqlitefile.Explain(err) }
