package groupcommit_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// Holds docs/spec/15-storage.md: the writer commits up to 64 waiting transactions
// together, each in a savepoint, so that one failure does not fail its neighbours.

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// database is a writer on a table of numbers, and a reader that sees what is committed.
type database struct {
	*groupcommit.Writer
	reader *sql.DB
}

// inBubble runs a test in a bubble, where waiting callers can be told from busy ones.
func inBubble(t *testing.T, test func(t *testing.T, db database)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	synctest.Test(t, func(t *testing.T) {
		writer := openFile(t, path)
		writer.SetMaxOpenConns(1)
		for _, query := range []string{
			"CREATE TABLE numbers (n INTEGER PRIMARY KEY)",
			"CREATE TABLE pairs (n INTEGER REFERENCES numbers (n) DEFERRABLE INITIALLY DEFERRED)",
		} {
			if _, err := writer.ExecContext(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		db := database{Writer: groupcommit.New(writer), reader: openFile(t, path)}
		defer writer.Close()
		defer db.reader.Close()
		defer db.Close()
		test(t, db)
	})
}

func openFile(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=foreign_keys(1)&_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// numbers are the committed ones.
func (db database) numbers(t *testing.T) []int {
	t.Helper()
	rows, err := db.reader.QueryContext(t.Context(), "SELECT n FROM numbers ORDER BY n")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	numbers := []int{}
	for rows.Next() {
		var n int
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, n)
	}
	return numbers
}

func insert(n int) func(tx *groupcommit.Tx) error {
	return func(tx *groupcommit.Tx) error {
		_, err := tx.Exec("INSERT INTO numbers VALUES ($1)", n)
		return err
	}
}

// hold occupies the writer until the returned function is called, so that what is
// started meanwhile makes one batch.
func (db database) hold(t *testing.T) (release func()) {
	t.Helper()
	gate := make(chan struct{})
	go func() { _ = db.Do(context.Background(), func(*groupcommit.Tx) error { <-gate; return nil }) }()
	synctest.Wait()
	return func() { close(gate); synctest.Wait() }
}

// start runs fn as one caller; its error is there after the writer was released.
func (db database) start(ctx context.Context, fn func(tx *groupcommit.Tx) error) *error {
	result := new(error)
	go func() { *result = db.Do(ctx, fn) }()
	synctest.Wait() // callers wait in the order in which they were started
	return result
}

func wantErrors(t *testing.T, want []error, got ...*error) {
	t.Helper()
	for i := range want {
		if !errors.Is(*got[i], want[i]) || (want[i] == nil) != (*got[i] == nil) {
			t.Errorf("caller %d got error %v, want %v", i, *got[i], want[i])
		}
	}
}

func TestBatch(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		var mu sync.Mutex
		seen := map[int]int{} // callers by how many rows were committed when they ran
		release := db.hold(t)
		for i := range 2*groupcommit.MaxBatch + 6 {
			db.start(t.Context(), func(tx *groupcommit.Tx) error {
				committed := len(db.numbers(t))
				mu.Lock()
				defer mu.Unlock()
				seen[committed]++
				return insert(i)(tx)
			})
		}
		release()
		if d := cmp.Diff(map[int]int{0: 64, 64: 64, 128: 6}, seen); d != "" {
			t.Errorf("batches (-want +got):\n%s", d)
		}
	})
}

var errOwn = errors.New("own failure")

func TestFailureIsItsOwn(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		release := db.hold(t)
		first := db.start(t.Context(), insert(1))
		failed := db.start(t.Context(), func(tx *groupcommit.Tx) error { return errors.Join(insert(2)(tx), errOwn) })
		panicked := db.start(t.Context(), func(tx *groupcommit.Tx) error {
			_ = insert(3)(tx)
			panic("own panic")
		})
		last := db.start(t.Context(), insert(4))
		release()
		wantErrors(t, []error{nil, errOwn, nil}, first, failed, last)
		var caught *groupcommit.PanicError
		if !errors.As(*panicked, &caught) || caught.Value != "own panic" || len(caught.Stack) == 0 {
			t.Errorf("panicking caller got %v", *panicked)
		}
		if d := cmp.Diff([]int{1, 4}, db.numbers(t)); d != "" {
			t.Errorf("committed (-want +got):\n%s", d)
		}
	})
}

func TestCallerGivesUp(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		before, cancelBefore := context.WithCancel(t.Context())
		during, cancelDuring := context.WithCancel(t.Context())
		waiting, cancelWaiting := context.WithCancel(t.Context())
		gate := make(chan struct{})

		release := db.hold(t)
		queued := db.start(before, insert(1))
		cancelBefore()
		synctest.Wait()
		running := db.start(during, func(tx *groupcommit.Tx) error { <-gate; return insert(2)(tx) })
		inBatch := db.start(waiting, insert(3))
		next := db.start(t.Context(), insert(4))
		release()
		cancelDuring()
		cancelWaiting()
		synctest.Wait()
		wantErrors(t, []error{groupcommit.ErrNotRun, groupcommit.ErrFateUnknown, groupcommit.ErrNotRun}, queued, running, inBatch)
		wantErrors(t, []error{context.Canceled, context.Canceled, context.Canceled}, queued, running, inBatch)

		close(gate)
		synctest.Wait()
		wantErrors(t, []error{nil}, next)
		if d := cmp.Diff([]int{2, 4}, db.numbers(t)); d != "" {
			t.Errorf("committed (-want +got):\n%s", d)
		}
	})
}

func TestCommitFails(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		release := db.hold(t)
		innocent := db.start(t.Context(), insert(1))
		failed := db.start(t.Context(), func(*groupcommit.Tx) error { return errOwn })
		dangling := db.start(t.Context(), func(tx *groupcommit.Tx) error {
			_, err := tx.Exec("INSERT INTO pairs VALUES (99)") // refused when it commits
			return err
		})
		release()
		for _, err := range []error{*innocent, *failed, *dangling} {
			if err == nil || errors.Is(err, errOwn) {
				t.Errorf("a caller got %v from a commit that failed", err)
			}
		}
		wantErrors(t, []error{nil}, db.start(t.Context(), insert(2)))
		if d := cmp.Diff([]int{2}, db.numbers(t)); d != "" {
			t.Errorf("committed (-want +got):\n%s", d)
		}
	})
}

// Some errors, a full disk for one, end the whole transaction at once.
func TestTransactionIsLost(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		release := db.hold(t)
		first := db.start(t.Context(), insert(1))
		lost := db.start(t.Context(), func(tx *groupcommit.Tx) error {
			_, err := tx.Exec("ROLLBACK")
			return errors.Join(err, errOwn)
		})
		last := db.start(t.Context(), insert(3))
		release()
		wantErrors(t, []error{groupcommit.ErrLost, errOwn, groupcommit.ErrLost}, first, lost, last)
		if errors.Is(*first, errOwn) {
			t.Error("a caller got another one's error as its own")
		}
		wantErrors(t, []error{nil}, db.start(t.Context(), insert(4)))
		if d := cmp.Diff([]int{4}, db.numbers(t)); d != "" {
			t.Errorf("committed (-want +got):\n%s", d)
		}
	})
}

func TestClose(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		release := db.hold(t)
		waiting := db.start(t.Context(), insert(1))
		closed := make(chan struct{})
		go func() { db.Close(); close(closed) }()
		synctest.Wait()
		wantErrors(t, []error{groupcommit.ErrClosed}, waiting)
		release()
		<-closed
		if err := db.Do(t.Context(), insert(2)); !errors.Is(err, groupcommit.ErrClosed) {
			t.Errorf("Do after Close returned %v, want ErrClosed", err)
		}
		if d := cmp.Diff([]int{}, db.numbers(t)); d != "" {
			t.Errorf("committed (-want +got):\n%s", d)
		}
	})
}

func TestConcurrentCallers(t *testing.T) {
	inBubble(t, func(t *testing.T, db database) {
		var wg sync.WaitGroup
		for i := range 500 {
			wg.Go(func() {
				err := db.Do(t.Context(), func(tx *groupcommit.Tx) error {
					if err := insert(i)(tx); err != nil || i%7 != 0 {
						return err
					}
					return fmt.Errorf("caller %d: %w", i, errOwn)
				})
				if errors.Is(err, errOwn) != (i%7 == 0) {
					t.Errorf("caller %d got %v", i, err)
				}
			})
		}
		wg.Wait()
		if got := len(db.numbers(t)); got != 500-72 {
			t.Errorf("%d rows committed, want %d", got, 500-72)
		}
	})
}
