// Package groupcommit lets many callers share one commit. A database that makes
// every commit wait for the disk, and lets one connection write at a time, spends
// its time waiting; a single goroutine that runs all transactions which are waiting
// at that moment, each in a savepoint of its own, waits once for all of them.
package groupcommit

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// MaxBatch is how many waiting transactions one commit takes at most: at 64 the
// disk's wait is shared so widely that more only delays those who came first.
const MaxBatch = 64

// Errors of [Writer.Do], wrapped around the reason.
var (
	// ErrClosed says that the writer was closed before the transaction began.
	ErrClosed = errors.New("the database is closed")
	// ErrNotRun says that the caller's context ended before the transaction's turn
	// came: it did not run and never will.
	ErrNotRun = errors.New("the transaction was given up before it ran")
	// ErrLost says that the failure of another transaction undid this one with it: some
	// errors of a database, a full disk for one, end everything that is uncommitted.
	ErrLost = errors.New("the transaction was undone by the failure of another one")
	// ErrFateUnknown says that the caller's context ended while the transaction ran:
	// it may or may not have been committed.
	ErrFateUnknown = errors.New("the transaction was given up while it ran; whether it was committed is unknown")
)

// PanicError is a panic inside a transaction, as the caller's error.
type PanicError struct {
	Value any
	Stack []byte
}

// Error names the panic, without its stack.
func (e *PanicError) Error() string {
	return "panic in a database transaction: " + redact.Panic(e.Value)
}

// Writer runs write transactions on one connection. It is safe for concurrent use.
type Writer struct {
	db      *sql.DB
	jobs    chan *job
	quit    chan struct{}
	stopped chan struct{}
	stop    sync.Once
}

// New starts a writer on db, which must allow it one connection. The caller closes
// the writer, then db.
func New(db *sql.DB) *Writer {
	w := &Writer{
		db:      db,
		jobs:    make(chan *job),
		quit:    make(chan struct{}),
		stopped: make(chan struct{}),
	}
	go w.run()
	return w
}

// Close waits for the batch in hand and stops. Transactions not yet begun fail with
// [ErrClosed]. Closing twice is fine.
func (w *Writer) Close() {
	w.stop.Do(func() { close(w.quit) })
	<-w.stopped
}

// Do runs fn in a transaction of its own and returns when it is on the disk. An error
// or a panic of fn undoes what fn did and nothing else, and is returned once the
// neighbours whose work it may have seen are committed; an error of the shared commit is
// everybody's. fn closes its rows, even when it panics, and does not keep tx. It runs on
// the writer's goroutine: what it sets must not be read unless Do returned its answer.
func (w *Writer) Do(ctx context.Context, fn func(tx *Tx) error) error {
	j := &job{fn: fn, done: make(chan error, 1)}
	select {
	case w.jobs <- j:
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", ErrNotRun, ctx.Err())
	case <-w.quit:
		return ErrClosed
	}
	select {
	case err := <-j.done:
		return err
	case <-ctx.Done():
		if j.claim() {
			return fmt.Errorf("%w: %w", ErrNotRun, ctx.Err())
		}
		return fmt.Errorf("%w: %w", ErrFateUnknown, ctx.Err())
	}
}

// job is one caller's transaction. Whoever claims it first, the writer that runs it
// or the caller that gives it up, decides.
type job struct {
	fn      func(tx *Tx) error
	claimed atomic.Bool
	failed  error      // the writer's: fn's own error
	done    chan error // buffered: the writer never waits for a caller
}

func (j *job) claim() bool { return j.claimed.CompareAndSwap(false, true) }

func (w *Writer) run() {
	defer close(w.stopped)
	s := session{db: w.db}
	defer s.drop()
	batch := make([]*job, 0, MaxBatch)
	for {
		select {
		case j := <-w.jobs:
			batch = w.collect(append(batch[:0], j))
			s.commit(batch)
			clear(batch)
		case <-w.quit:
			return
		}
	}
}

// collect adds every transaction that is waiting now.
func (w *Writer) collect(batch []*job) []*job {
	for len(batch) < MaxBatch {
		select {
		case j := <-w.jobs:
			batch = append(batch, j)
		default:
			return batch
		}
	}
	return batch
}
