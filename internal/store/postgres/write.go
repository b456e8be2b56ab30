package postgres

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

const (
	// attempts is how often a transaction is tried.
	attempts = 4
	// pause is the longest wait before the second attempt; it doubles with each.
	pause = 20 * time.Millisecond
	// rollbackWithin is how long undoing a transaction may take before its connection is
	// dropped, which undoes it as well.
	rollbackWithin = 2 * time.Second
)

// errAborted says that a statement failed and its error was not returned: the server will
// not commit such a transaction.
var errAborted = errors.New("a statement of the transaction failed, and the failure was not reported")

// errLost marks a transaction that certainly was not committed because its connection was
// lost before it could be.
var errLost = errors.New("the connection was lost before the transaction was committed")

// Write runs fn in a transaction of its own, read committed, and returns when it is
// committed; its statements end with ctx. An error or a panic of fn undoes what it did,
// and is returned. A transaction that met another one, or lost its connection before its
// commit was sent, is run again a few times, so fn sets nothing that a second run would
// not set anew. [groupcommit.ErrFateUnknown] when nobody knows whether it was committed.
func (p *Pool) Write(ctx context.Context, fn func(tx *groupcommit.Tx) error) error {
	for attempt := 1; ; attempt++ {
		err := p.once(ctx, fn)
		if err == nil || attempt == attempts || !again(err) || ctx.Err() != nil {
			return err
		}
		timer := time.NewTimer(rand.N(pause << attempt))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return err
		}
	}
}

// again reports whether a transaction that was not committed may succeed if it is run again.
func again(err error) bool {
	var panicked *groupcommit.PanicError
	if errors.As(err, &panicked) {
		return false
	}
	c := code(err)
	return c == codeSerialization || c == codeDeadlock || errors.Is(err, errLost)
}

// once runs a transaction.
func (p *Pool) once(ctx context.Context, fn func(tx *groupcommit.Tx) error) error {
	conn, err := p.DB.Conn(ctx)
	if err != nil {
		if ended := ctx.Err(); ended != nil {
			err = notRun(ended, err)
		}
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "BEGIN ISOLATION LEVEL READ COMMITTED"); err != nil {
		return undo(ctx, conn, fmt.Errorf("begin: %w", err))
	}
	if err := groupcommit.On(ctx, conn).Run(fn); err != nil {
		return undo(ctx, conn, err)
	}
	return commit(ctx, conn)
}

// commit ends a transaction whose function succeeded.
func commit(ctx context.Context, conn *sql.Conn) error {
	if status(conn) == aborted {
		return undo(ctx, conn, errAborted)
	}
	if err := ctx.Err(); err != nil {
		return undo(ctx, conn, notRun(err, nil))
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	switch {
	case err == nil:
		return nil
	case errors.Is(err, driver.ErrBadConn): // it was lost before anything was sent
		return fmt.Errorf("%w: %w", errLost, err)
	case refused(err):
		return undo(ctx, conn, fmt.Errorf("commit: %w", err))
	}
	drop(conn)
	return fmt.Errorf("%w: commit: %w", groupcommit.ErrFateUnknown, err)
}

// refused reports whether the server answered a commit by undoing the transaction. One that
// shuts down or ends the connection may have committed before.
func refused(err error) bool {
	c := code(err)
	return c != "" && c[:2] != "57" && c[:2] != "08"
}

// undo rolls a transaction back, and returns why. A connection that cannot do so is
// dropped, which has the server do it.
func undo(ctx context.Context, conn *sql.Conn, why error) error {
	if status(conn) == closed {
		if ended := ctx.Err(); ended != nil {
			return notRun(ended, why)
		}
		return fmt.Errorf("%w: %w", errLost, why)
	}
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollbackWithin)
	defer cancel()
	if _, err := conn.ExecContext(bounded, "ROLLBACK"); err != nil {
		drop(conn)
	}
	return why
}

// notRun is the error of a transaction whose context ended before its commit was sent. A
// connection that was in use then may say nothing but that it is gone.
func notRun(ended, why error) error {
	if why == nil || errors.Is(why, ended) {
		return fmt.Errorf("%w: %w", groupcommit.ErrNotRun, cmp.Or(why, ended))
	}
	return fmt.Errorf("%w: %w: %w", groupcommit.ErrNotRun, ended, why)
}

// States of a connection's transaction.
const (
	closed  byte = 0 // the connection is
	aborted byte = 'E'
)

func status(conn *sql.Conn) (state byte) {
	_ = conn.Raw(func(c any) error { // a connection that is gone has no state
		if pg := c.(*stdlib.Conn).Conn().PgConn(); !pg.IsClosed() {
			state = pg.TxStatus()
		}
		return nil
	})
	return state
}

// drop keeps a connection out of the pool.
func drop(conn *sql.Conn) {
	_ = conn.Raw(func(any) error { return driver.ErrBadConn })
}
