package database

import (
	"context"
	"database/sql"
)

// SQLite reports whether the database is a SQLite file; otherwise it is PostgreSQL. Few
// statements need to know: those about the tables themselves, and upkeep.
func (db *DB) SQLite() bool { return db.pool == nil }

// Snapshot begins a transaction that reads what the database holds at one moment, whoever
// goes on writing it. The caller rolls it back.
func (db *DB) Snapshot(ctx context.Context) (*sql.Tx, error) {
	o := &sql.TxOptions{ReadOnly: true}
	if !db.SQLite() { // whose transactions all see one moment
		o.Isolation = sql.LevelRepeatableRead
	}
	return db.read.BeginTx(ctx, o)
}
