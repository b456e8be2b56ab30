package postgres_test

import (
	"context"
	"errors"
	"net/url"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
)

// several makes a pool hold several connections.
func several(t *testing.T, p *postgres.Pool) {
	t.Helper()
	const n = 5
	var ready, done sync.WaitGroup
	ready.Add(n)
	for range n {
		done.Go(func() {
			err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
				ready.Done()
				ready.Wait()
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	if open := p.DB.Stats().OpenConnections; open < n {
		t.Fatalf("%d connections are open, want %d", open, n)
	}
}

// Holds docs/spec/15-storage.md: the pool recovers by itself when the database was lost.
func TestPoolRecovers(t *testing.T) {
	p, url := pool(t, "")
	for range 3 {
		several(t, p)
		hangUp(t, url)
		write(t, p, "UPDATE things SET n = n + 1 WHERE name = 'a'")
		several(t, p)
		hangUp(t, url)
		if err := p.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}
	if got := count(t, p); got != 3 {
		t.Errorf("%d writes were made, want 3", got)
	}
}

// Holds docs/spec/15-storage.md: connections are dropped when the server turns read-only.
func TestPoolLeavesAReadOnlyServer(t *testing.T) {
	p, url := pool(t, "")
	name := " DATABASE " + databaseName(t, url)
	several(t, p)
	beside(t, url, "ALTER"+name+" SET default_transaction_read_only = on")
	hangUp(t, url)
	for range 3 {
		if err := postgres.Explain(p.Write(t.Context(), executes("UPDATE things SET n = 1"))); !errors.Is(err, postgres.ErrReadOnly) {
			t.Errorf("Write returned %v, want ErrReadOnly", err)
		}
		if err := p.Ping(t.Context()); !errors.Is(err, postgres.ErrReadOnly) {
			t.Errorf("Ping returned %v, want ErrReadOnly", err)
		}
	}
	if open := p.DB.Stats().OpenConnections; open != 0 {
		t.Errorf("%d connections to a read-only server are kept", open)
	}
	beside(t, url+"?default_transaction_read_only=off", "ALTER"+name+" RESET default_transaction_read_only")
	write(t, p, "UPDATE things SET n = n + 1 WHERE name = 'a'")
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
}

// Holds docs/spec/15-storage.md: a connection that finds its server read-only is not used
// again, and neither are its neighbours.
func TestPoolDropsReadOnlyConnections(t *testing.T) {
	for name, turns := range map[string]string{
		"told by the server":   "SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY",
		"found out by a write": "SET TRANSACTION READ ONLY",
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := pool(t, "")
			several(t, p)
			before := pids(t, p)
			attempt := 0
			err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
				if attempt++; attempt == 1 {
					if _, err := tx.Exec(turns); err != nil {
						return err
					}
				}
				_, err := tx.Exec("UPDATE things SET n = n + 1 WHERE name = 'a'")
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			for range 5 {
				write(t, p, "UPDATE things SET n = n + 1 WHERE name = 'a'")
			}
			if name != "found out by a write" {
				return
			}
			for pid := range pids(t, p) {
				if before[pid] {
					t.Errorf("connection %d of before is still in use", pid)
				}
			}
		})
	}
}

// Holds docs/spec/15-storage.md: connections have a bounded lifetime.
func TestConnectionsRetire(t *testing.T) {
	p, _ := pool(t, "")
	var before, after int
	conn, err := p.DB.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(
		conn.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&before),
		conn.Raw(func(c any) error {
			postgres.Retire(c.(*stdlib.Conn).Conn())
			return nil
		}),
		conn.Close(),
		p.DB.QueryRowContext(t.Context(), "SELECT pg_backend_pid()").Scan(&after),
	)
	if err != nil || before == after {
		t.Errorf("connection %d was followed by %d, %v", before, after, err)
	}
}

// Holds docs/spec/15-storage.md: nothing hangs past its bound, and the address may set another.
func TestSessionSettings(t *testing.T) {
	p, _ := pool(t, "?lock_timeout=1234ms")
	for name, want := range map[string]string{
		"statement_timeout": "30s", "lock_timeout": "1234ms", "idle_in_transaction_session_timeout": "10s",
		"application_name": "manychat-agent",
	} {
		var got string
		if err := p.DB.QueryRowContext(t.Context(), "SELECT current_setting($1)", name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}

// pids are the server's processes behind the connections that several makes.
func pids(t *testing.T, p *postgres.Pool) map[int]bool {
	t.Helper()
	const n = 5
	all := map[int]bool{}
	var mu sync.Mutex
	var ready, done sync.WaitGroup
	ready.Add(n)
	for range n {
		done.Go(func() {
			var pid int
			err := p.Write(t.Context(), func(tx *groupcommit.Tx) error {
				ready.Done()
				ready.Wait()
				return tx.QueryRow("SELECT pg_backend_pid()").Scan(&pid)
			})
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			all[pid] = true
		})
	}
	done.Wait()
	return all
}

// Holds docs/spec/15-storage.md: a pool that only reads does so on a server that only
// answers reads.
func TestReadOnlyPool(t *testing.T) {
	_, url := pool(t, "")
	beside(t, url, "ALTER DATABASE "+databaseName(t, url)+" SET default_transaction_read_only = on")
	p, err := postgres.Open(postgres.Options{URL: url, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if err := p.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	_, err = p.DB.ExecContext(t.Context(), "UPDATE things SET n = 1")
	if err := postgres.Explain(err); !errors.Is(err, postgres.ErrReadOnly) {
		t.Errorf("a write returned %v", err)
	}
}

// Holds docs/spec/15-storage.md: nothing hangs past its bound.
func TestWriteEndsWithItsContext(t *testing.T) {
	p, url := pool(t, "")
	holder := connect(t, url)
	ctx, cancel := context.WithCancel(t.Context())
	err := holder.Write(t.Context(), func(tx *groupcommit.Tx) error {
		if _, err := tx.Exec("UPDATE things SET n = 1 WHERE name = 'a'"); err != nil {
			return err
		}
		err := p.Write(ctx, func(tx *groupcommit.Tx) error {
			go cancel() // while it waits for the holder, or just before
			_, err := tx.Exec("UPDATE things SET n = 2 WHERE name = 'a'")
			return err
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("Write returned %v, want context.Canceled", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	write(t, p, "UPDATE things SET n = n + 1 WHERE name = 'a'")
	if got := count(t, p); got != 2 {
		t.Errorf("the sum is %d, want 2", got)
	}
}

func databaseName(t *testing.T, address string) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u.Path[1:]
}
