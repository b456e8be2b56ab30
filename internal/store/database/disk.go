package database

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// disk is what a SQLite file lies on.
type disk struct {
	path string
	sick atomic.Bool // a write failed because of it, and none was found to succeed since
}

// failed notes a write that failed. Of a PostgreSQL's disk, d is nil, the server tells.
func (d *disk) failed(err error) {
	if d == nil {
		return
	}
	for _, why := range []error{sqlitefile.ErrDiskFull, sqlitefile.ErrIO, sqlitefile.ErrReadOnly} {
		if errors.Is(err, why) {
			d.sick.Store(true)
		}
	}
}

// touch writes one page, and changes nothing: the program does not use the number.
const touch = "PRAGMA user_version = 0"

// recovered tries whether a disk that failed a write takes as much as some turns write. A
// single small write would tell nothing: it may fit where a greater one has failed.
func (db *DB) recovered(ctx context.Context) error {
	if db.disk == nil || db.readOnly || !db.disk.sick.Swap(false) {
		return nil
	}
	err := sqlitefile.Room(db.disk.path)
	if err == nil {
		_, err = Write(ctx, db, func(tx *groupcommit.Tx) (struct{}, error) {
			_, err := tx.Exec(touch)
			return struct{}{}, err
		})
	}
	if err != nil {
		db.disk.sick.Store(true)
	}
	return err
}
