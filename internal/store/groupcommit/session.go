package groupcommit

import (
	"context"
	"database/sql"
	"fmt"
	"runtime/debug"
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
		err = s.end(len(ran) > 0)
	}
	if err != nil {
		s.drop()
	}
	for _, j := range ran {
		j.done <- err
	}
}

func (s *session) begin() error {
	if s.tx == nil {
		conn, err := s.db.Conn(context.Background())
		if err != nil {
			return fmt.Errorf("connect to the database: %w", err)
		}
		s.tx = &Tx{conn: conn, stmts: make(map[string]*sql.Stmt)}
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

// runAll returns the jobs that wait for the commit; those that failed alone are
// answered. An error means that the transaction as a whole is lost, and with it every
// job that is returned.
func (s *session) runAll(batch []*job) (ran []*job, err error) {
	ran = make([]*job, 0, len(batch))
	for _, j := range batch {
		if !j.claim() {
			continue
		}
		if err != nil {
			ran = append(ran, j)
			continue
		}
		var failed error
		if failed, err = s.savepoint(j.fn); failed == nil || err != nil {
			ran = append(ran, j)
			continue
		}
		j.done <- failed
	}
	return ran, err
}

// savepoint runs fn so that its failure undoes only itself. broken means that not even
// that was possible: some errors of a database, a full disk for one, end the whole
// transaction.
func (s *session) savepoint(fn func(tx *Tx) error) (failed, broken error) {
	if _, err := s.tx.Exec("SAVEPOINT one"); err != nil {
		return nil, fmt.Errorf("savepoint: %w", err)
	}
	failed = call(fn, s.tx)
	if failed != nil {
		if _, err := s.tx.Exec("ROLLBACK TO one"); err != nil {
			return nil, failed
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
