package groupcommit

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Tx is a transaction in progress. Texts must be constants: each is prepared once a
// connection and kept.
type Tx struct {
	ctx   context.Context
	conn  *sql.Conn
	stmts map[string]*sql.Stmt // nil: the driver keeps them
	open  []*sql.Rows          // of a transaction made by [On]
}

// grouped is a transaction of the writer's. Its statements take no context on purpose: a
// statement interrupted for one caller would end the transaction of all.
func grouped(conn *sql.Conn) *Tx {
	return &Tx{ctx: context.Background(), conn: conn, stmts: make(map[string]*sql.Stmt)}
}

// On is a transaction that its caller begins and ends on a connection of a database that
// others write at the same time, with a driver that keeps what it prepared. Its statements
// end with ctx.
func On(ctx context.Context, conn *sql.Conn) *Tx { return &Tx{ctx: ctx, conn: conn} }

// Shared reports whether others may write at the same time, so that what was read may have
// changed unless its row is locked.
func (t *Tx) Shared() bool { return t.stmts == nil }

// Lock runs a statement that does nothing but lock rows, SELECT … FOR UPDATE, where others
// write at the same time. Whoever decides by what it reads locks in one statement and
// reads in the next, which sees what the last holder of the lock wrote. The writer of a
// database that has only one locks nothing.
func (t *Tx) Lock(query string, args ...any) error {
	if !t.Shared() {
		return nil
	}
	_, err := t.Exec(query, args...)
	return err
}

// Run runs fn, turns its panic into a [PanicError], and closes what it left open.
func (t *Tx) Run(fn func(tx *Tx) error) error {
	defer func() {
		for _, rows := range t.open {
			_ = rows.Close()
		}
		t.open = nil
	}()
	return call(fn, t)
}

// Exec runs a statement that returns no rows.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	if t.Shared() {
		return t.conn.ExecContext(t.ctx, query, args...)
	}
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(t.ctx, args...)
}

// Query runs a statement that returns rows; the caller closes them.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	if t.Shared() {
		rows, err := t.conn.QueryContext(t.ctx, query, args...)
		if err == nil {
			t.open = append(t.open, rows)
		}
		return rows, err
	}
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(t.ctx, args...)
}

// QueryRow runs a statement that returns at most one row.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	if t.Shared() {
		return t.conn.QueryRowContext(t.ctx, query, args...)
	}
	stmt, err := t.prepare(query)
	if err != nil {
		return t.conn.QueryRowContext(t.ctx, query, args...) // carries the same error
	}
	return stmt.QueryRowContext(t.ctx, args...)
}

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.conn.PrepareContext(t.ctx, query)
	if err != nil {
		return nil, err
	}
	t.stmts[query] = stmt
	return stmt, nil
}

// close gives the connection up. Errors have nobody to go to: whatever was not
// committed is undone by the database when the connection ends.
func (t *Tx) close() {
	for _, stmt := range t.stmts {
		_ = stmt.Close()
	}
	_ = t.conn.Raw(func(any) error { return driver.ErrBadConn }) // keeps it out of the pool
	_ = t.conn.Close()
}
