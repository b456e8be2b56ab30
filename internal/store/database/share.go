package database

import (
	"context"
	"time"
)

// Around makes a write transaction by calling write, as often as it likes and whenever it
// likes, and returns what the caller is told of it. It stands for the way to a database of
// another process, on which requests and answers are late and get lost.
type Around func(ctx context.Context, write func(ctx context.Context) error) error

// Share is an open SQLite database as one of several services of one test process sees it, as
// if they were processes on one PostgreSQL: with a clock of its own and a way to the database
// of its own. Closing it leaves the database open.
func (db *DB) Share(now func() time.Time, around Around) *DB {
	lent := *db
	lent.Now, lent.around, lent.lent = now, around, true
	return &lent
}
