package groupcommit

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
	"slices"
)

// session is the writer's connection. It is dropped, and a new one taken for the next
// batch, whenever a transaction could not be ended properly.
type session struct {
	db *sql.DB
	tx *Tx
}

// commit runs a batch in one transaction and answers every caller.
func (s *session) commit(batch []*job) {
	if err := s.begin(); err != nil {
		s.drop()
		for _, j := range batch {
			j.done <- err
		}
		return
	}
	ran, err := s.runAll(batch)
	if err == nil {
		err = s.end(slices.ContainsFunc(ran, func(j *job) bool { return j.failed == nil }))
	}
	if err != nil {
		s.drop()
	}
	for _, j := range ran {
		if err != nil {
			j.done <- err // whatever it found out may rest on what is now undone
		} else {
			j.done <- j.failed
		}
	}
}

func (s *session) begin() error {
	if s.tx == nil {
		conn, err := s.db.Conn(context.Background())
		if err != nil {
			return fmt.Errorf("connect to the database: %w", err)
		}
		s.tx = grouped(conn)
	}
	if _, err := s.tx.Exec("BEGIN IMMEDIATE"); err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	return nil
}

func (s *session) end(commit bool) error {
	if !commit {
		_, err := s.tx.Exec("ROLLBACK")
		return err
	}
	if _, err := s.tx.Exec("COMMIT"); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// runAll returns the jobs that wait for the commit, those that failed alone among them:
// their failure may be due to what a neighbour did, so it is not true before that is
// committed. An error means that the transaction as a whole is lost, and with it every
// job that is returned; the one that lost it is answered.
func (s *session) runAll(batch []*job) (ran []*job, err error) {
	ran = make([]*job, 0, len(batch))
	for _, j := range batch {
		if !j.claim() {
			continue
		}
		if err == nil {
			j.failed, err = s.savepoint(j.fn)
			if j.failed != nil && err != nil {
				j.done <- j.failed
				continue
			}
		}
		ran = append(ran, j)
	}
	return ran, err
}

// savepoint runs fn so that its failure undoes only itself. lost means that not even
// that was possible; it keeps fn's error as text only, because an error that means
// something to one caller must not be taken for theirs by others.
func (s *session) savepoint(fn func(tx *Tx) error) (failed, lost error) {
	if _, err := s.tx.Exec("SAVEPOINT one"); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	failed = call(fn, s.tx)
	if failed != nil {
		if _, err := s.tx.Exec("ROLLBACK TO one"); err != nil {
			return failed, fmt.Errorf("%w (%v): %w", ErrLost, failed, err)
		}
	}
	if _, err := s.tx.Exec("RELEASE one"); err != nil {
		return failed, fmt.Errorf("release: %w", err)
	}
	return failed, nil
}

// call turns a panic into an error.
func call(fn func(tx *Tx) error, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	return fn(tx)
}

// drop closes the connection for good, open transaction included.
func (s *session) drop() {
	if s.tx == nil {
		return
	}
	s.tx.close()
	s.tx = nil
}
