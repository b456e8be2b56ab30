package groupcommit

import (
	"context"
	"database/sql"
	"database/sql/driver"
)

// Tx is a transaction in progress. Its statements take no context on purpose: a
// statement interrupted for one caller would end the transaction of all. Each query
// text is prepared once and kept, so texts must be constants.
type Tx struct {
	conn  *sql.Conn
	stmts map[string]*sql.Stmt
}

// Exec runs a statement that returns no rows.
func (t *Tx) Exec(query string, args ...any) (sql.Result, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.ExecContext(context.Background(), args...)
}

// Query runs a statement that returns rows; the caller closes them.
func (t *Tx) Query(query string, args ...any) (*sql.Rows, error) {
	stmt, err := t.prepare(query)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

// QueryRow runs a statement that returns at most one row.
func (t *Tx) QueryRow(query string, args ...any) *sql.Row {
	stmt, err := t.prepare(query)
	if err != nil {
		return t.conn.QueryRowContext(context.Background(), query, args...) // carries the same error
	}
	return stmt.QueryRowContext(context.Background(), args...)
}

func (t *Tx) prepare(query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.conn.PrepareContext(context.Background(), query)
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
