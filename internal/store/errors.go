package store

import (
	"errors"
	"fmt"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/journal"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/talk"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// Errors of a database, each a sentence that says what to do.
var (
	ErrURL = database.ErrURL

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

	ErrConstraint = sqlitefile.ErrConstraint
)

// Errors of reads.
var (
	ErrNoTurn         = journal.ErrNoTurn
	ErrNoConversation = errors.New("there is no conversation with this contact")
	ErrNoTalk         = talk.ErrNone
)

// refused puts the rooms' word in front of a write that no later try will make.
func refused(err error) error {
	var panicked *groupcommit.PanicError
	if errors.Is(err, ErrConstraint) || errors.As(err, &panicked) {
		return fmt.Errorf("%w: %w", turn.ErrRefused, err)
	}
	return err
}
