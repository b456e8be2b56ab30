package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"io/fs"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/manychat-agent/manychat-agent/internal/store/failure"
)

// Errors of a PostgreSQL database, each a sentence that says what to do. At run time they
// are wrapped around the server's own error; nothing needs a restart once the cause is gone.
var (
	ErrURL = errors.New("the database address is not a PostgreSQL URL; set it to postgres://user:password@host/database (percent-encode special characters of the password)")

	ErrUnreachable = errors.New("the database server cannot be reached; check that it runs and that the address names its host and port")
	ErrPassword    = errors.New("the database server refuses this user; correct the user and the password in the address, or the server's pg_hba.conf")
	ErrNoDatabase  = errors.New("the server has no database of this name; create it, or correct the address")
	ErrEncoding    = errors.New("the database does not keep text as UTF-8; create it with ENCODING 'UTF8' TEMPLATE template0")
	ErrNoRight     = errors.New("this user may not do that in the database; grant it the right to create and write tables in its schema")
	ErrConnections = errors.New("the database server takes no more connections; raise its max_connections, or run fewer processes")

	ErrReadOnly = errors.New("the database is read-only; point the address at the primary server, or make this one writable again")
	ErrBusy     = errors.New("the database took too long, or another transaction held its rows; look at the server's load and at pg_stat_activity")
	ErrIO       = errors.New("the database server reports errors of its disk; check the disk")
	ErrCorrupt  = errors.New("the database is damaged; stop the service and restore a backup")
)

// Codes of the server that decide something here: see
// https://www.postgresql.org/docs/current/errcodes-appendix.html.
const (
	codeReadOnly      = "25006"
	codeSerialization = "40001"
	codeDeadlock      = "40P01"
	codeShutdown      = "57P01"
	codeCrash         = "57P02"
	codeStarting      = "57P03"
)

// byCode are the sentences for what the server reports.
var byCode = map[string]error{
	"28P01":      ErrPassword,
	"28000":      ErrPassword,
	"3D000":      ErrNoDatabase,
	"42501":      ErrNoRight,
	"53300":      ErrConnections,
	"53100":      failure.ErrDiskFull,
	"55P03":      ErrBusy,
	"57014":      ErrBusy,
	"58030":      ErrIO,
	"XX001":      ErrCorrupt,
	"XX002":      ErrCorrupt,
	codeReadOnly: ErrReadOnly,
	codeShutdown: ErrUnreachable,
	codeCrash:    ErrUnreachable,
	codeStarting: ErrUnreachable,
}

// byClass are the sentences for the rest, by the first two characters of the code.
var byClass = map[string]error{
	"08": ErrUnreachable,
	"22": failure.ErrConstraint, // a value that the column's type cannot hold, text with a NUL for one
	"23": failure.ErrConstraint,
	"40": ErrBusy,
}

// Explain puts the sentence in front of a server's error. Other errors, nil among them,
// pass unchanged.
func Explain(err error) error {
	said := sentence(err)
	var connecting *pgconn.ConnectError
	if errors.As(err, &connecting) {
		err = lastLine{err}
	}
	return failure.Explain(said, err)
}

// lastLine is the error of several attempts to connect, one a line, told as the last of them.
type lastLine struct{ error }

// Error is one line.
func (e lastLine) Error() string {
	lines := strings.Split(e.error.Error(), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// Unwrap is the whole error.
func (e lastLine) Unwrap() error { return e.error }

// sentence is what to say of a database's error; nil when there is nothing to add.
func sentence(err error) error {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		if said := byCode[reported.Code]; said != nil {
			return said
		}
		return byClass[reported.Code[:min(2, len(reported.Code))]]
	}
	var connecting *pgconn.ConnectError
	var network net.Error
	var file *fs.PathError // a file of the machine, whose errors look like the network's
	switch {
	case errors.As(err, &file):
		return nil
	case errors.Is(err, ErrReadOnly):
		return ErrReadOnly
	case errors.As(err, &connecting), errors.Is(err, driver.ErrBadConn), errors.Is(err, io.ErrUnexpectedEOF):
		return ErrUnreachable
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil // the caller gave it up
	case errors.As(err, &network):
		return ErrUnreachable
	}
	return nil
}

// code is the server's code for an error; empty when it is not the server's.
func code(err error) string {
	var reported *pgconn.PgError
	if errors.As(err, &reported) {
		return reported.Code
	}
	return ""
}
