package postgres_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
)

// Holds docs/spec/15-storage.md: a failure undoes what its transaction did, and leaves
// nothing behind in the pool.
func TestWriteUndoes(t *testing.T) {
	p, _ := pool(t, "")
	own := errors.New("of the caller's own")
	for name, fail := range map[string]func(tx *groupcommit.Tx) error{
		"an error": func(*groupcommit.Tx) error { return own },
		"a panic":  func(*groupcommit.Tx) error { panic("by mistake") },
		"a panic in the middle of rows": func(tx *groupcommit.Tx) error {
			rows, err := tx.Query("SELECT name FROM things")
			if err != nil || !rows.Next() {
				return errors.Join(err, rows.Err())
			}
			panic("by mistake")
		},
		"a refused value": executes("UPDATE things SET n = 100"),
		"a failure that is kept back": func(tx *groupcommit.Tx) error {
			_, _ = tx.Exec("UPDATE things SET n = 100")
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			ran := 0
			err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
				ran++
				if _, err := tx.Exec("UPDATE things SET n = 7"); err != nil {
					return err
				}
				return fail(tx)
			})
			var panicked *groupcommit.PanicError
			switch {
			case err == nil:
				t.Error("Write succeeded")
			case name == "an error" && !errors.Is(err, own):
				t.Errorf("Write returned %v", err)
			case name[:3] == "a p" && !errors.As(err, &panicked):
				t.Errorf("Write returned %v, want a PanicError", err)
			}
			if ran != 1 {
				t.Errorf("it ran %d times", ran)
			}
			if got := count(t, p); got != 0 {
				t.Errorf("the sum is %d after a failure", got)
			}
		})
	}
	if open := p.DB.Stats().OpenConnections; open != 1 {
		t.Errorf("%d connections are open, want the first alone", open)
	}
}

// Holds docs/spec/15-storage.md: two transactions that wait for each other both succeed.
func TestDeadlockIsRunAgain(t *testing.T) {
	p, _ := pool(t, "")
	var crossed, done sync.WaitGroup
	crossed.Add(2)
	for _, order := range [][2]string{{"a", "b"}, {"b", "a"}} {
		done.Go(func() {
			meet := sync.OnceFunc(func() { crossed.Done(); crossed.Wait() })
			err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
				for _, name := range order {
					if _, err := tx.Exec("UPDATE things SET n = n + 1 WHERE name = $1", name); err != nil {
						return err
					}
					meet()
				}
				return nil
			})
			if err != nil {
				t.Errorf("Write: %v", err)
			}
		})
	}
	done.Wait()
	if got := count(t, p); got != 4 {
		t.Errorf("the sum is %d, want 4", got)
	}
}

// Holds docs/spec/15-storage.md: a connection that is lost before the commit costs nothing.
func TestLostBeforeTheCommit(t *testing.T) {
	p, _ := pool(t, "")
	ran := 0
	err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
		if _, err := tx.Exec("UPDATE things SET n = n + 1 WHERE name = 'a'"); err != nil {
			return err
		}
		if ran++; ran > 1 {
			return nil
		}
		_, err := tx.Exec("SELECT pg_terminate_backend(pg_backend_pid())")
		return err
	})
	if err != nil || ran != 2 {
		t.Errorf("Write ran %d times and returned %v", ran, err)
	}
	if got := count(t, p); got != 1 {
		t.Errorf("the sum is %d, want 1", got)
	}
}

// Holds docs/spec/15-storage.md: of a commit that was not answered nobody says more than is
// known, and it is not made twice.
func TestLostAtTheCommit(t *testing.T) {
	p, url := pool(t, "")
	beside(t, url, `CREATE FUNCTION hang_up() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END $$`)
	beside(t, url, `CREATE CONSTRAINT TRIGGER at_commit AFTER UPDATE ON things DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hang_up()`)
	ran := 0
	err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
		ran++
		_, err := tx.Exec("UPDATE things SET n = n + 1 WHERE name = 'a'")
		return err
	})
	if !errors.Is(err, groupcommit.ErrFateUnknown) || ran != 1 {
		t.Errorf("Write ran %d times and returned %v, want ErrFateUnknown", ran, err)
	}
}
