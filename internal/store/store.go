// Package store keeps conversations, turns and the outbox in a database. It fills
// [turn.Store], [turn.Acts], [turn.Lane], [sweep.Store], [outbox.Store], [nudge.Store], [follow.Store], [token.Store]
// and the claims of package delivery, and answers what operators ask.
//
// The SQL is hand-written beside the code that runs it, one file a table, in a dialect
// that PostgreSQL understands as well; only the CREATE TABLE texts of the migrations are
// a database's own. Times are whole microseconds, so an instant that is read back has
// lost its nanoseconds.
package store

import (
	"cmp"
	"context"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/store/acts"
	"github.com/manychat-agent/manychat-agent/internal/store/database"
	"github.com/manychat-agent/manychat-agent/internal/store/flowslots"
	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/journal"
	"github.com/manychat-agent/manychat-agent/internal/store/nudges"
	"github.com/manychat-agent/manychat-agent/internal/store/process"
	"github.com/manychat-agent/manychat-agent/internal/store/queue"
	"github.com/manychat-agent/manychat-agent/internal/store/report"
	"github.com/manychat-agent/manychat-agent/internal/store/talk"
	"github.com/manychat-agent/manychat-agent/internal/store/tokens"
	"github.com/manychat-agent/manychat-agent/internal/token"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

var (
	_ turn.Store   = (*DB)(nil)
	_ turn.Lane    = (*DB)(nil)
	_ turn.Acts    = (*DB)(nil)
	_ sweep.Store  = (*DB)(nil)
	_ outbox.Store = (*DB)(nil)
	_ token.Store  = (*DB)(nil)
	_ person.Store = (*DB)(nil)
	_ nudge.Store  = (*DB)(nil)
	_ follow.Store = (*DB)(nil)
)

// Options say which database to open, and how.
type Options struct {
	URL         string           // "sqlite:PATH", "postgres://…" or "postgresql://…"
	Now         func() time.Time // required
	RPSScale    float64          // scales how many flows a contact is sent within an hour; 0: 1
	ReadOnly    bool             // open an existing database and never write
	NoMigration bool             // refuse a database that is older than the binary instead of migrating it
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	*database.DB
	*tokens.Table
	*acts.Book
	*processes
	*planned
	*queue.Outbox
	*talk.Talks
	*journal.Journal
	*report.Reports
	now func() time.Time
}

// Open opens the database, creates it where it is missing and brings its tables up to
// date. Its errors are sentences that say what to do: see the errors of this package.
func Open(ctx context.Context, o Options) (*DB, error) {
	opened, err := database.Open(ctx, database.Options{URL: o.URL, Now: o.Now, ReadOnly: o.ReadOnly, NoMigration: o.NoMigration})
	if err != nil {
		return nil, err
	}
	return On(opened, o.RPSScale), nil
}

// On keeps everything in an open database; closing one closes the other. scale is that of
// [Options.RPSScale].
func On(opened *database.DB, scale float64) *DB {
	limit := flowslots.Scaled(cmp.Or(scale, 1))
	return &DB{
		DB: opened, Table: tokens.In(opened), Book: acts.In(opened, limit), Outbox: queue.In(opened, limit), Talks: talk.In(opened), processes: process.In(opened), planned: nudges.In(opened), Journal: journal.In(opened), Reports: report.In(opened), now: opened.Now,
	}
}

// processes is an embedded [process.Table], whose name another table has.
type processes = process.Table

// planned is an embedded [nudges.Table], whose name another table has.
type planned = nudges.Table

// Backfill is what [DB.BackfillTokens] found.
type Backfill = tokens.Backfill

// OutboxFilter says which rows to list.
type OutboxFilter = queue.Filter

// TalkFilter says which conversations to list.
type TalkFilter = talk.Filter

// Paused is what a pause found.
type Paused = talk.Paused

// ListedTalk is a conversation in a list.
type ListedTalk = talk.Listed

// RecentTurn is a turn in a list.
type RecentTurn = journal.Recent

// Retried is what [queue.Outbox.RetryAllDead] did.
type Retried = queue.Retried

// inTx runs fn in a write transaction; see [database.Write].
func inTx[T any](ctx context.Context, db *DB, fn func(tx *groupcommit.Tx) (T, error)) (T, error) {
	value, err := database.Write(ctx, db.DB, fn)
	return value, refused(err)
}

// exec runs fn in a write transaction.
func exec(ctx context.Context, db *DB, fn func(tx *groupcommit.Tx) error) error {
	_, err := inTx(ctx, db, func(tx *groupcommit.Tx) (struct{}, error) { return struct{}{}, fn(tx) })
	return err
}
