package postgres_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/store/groupcommit"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pool opens a database with one table of its own, things, and no other.
func pool(t *testing.T, parameters string) (p *postgres.Pool, url string) {
	t.Helper()
	url = postgrestest.Empty(t)
	p = connect(t, url+parameters)
	write(t, p, "CREATE TABLE things (name TEXT PRIMARY KEY, n BIGINT NOT NULL DEFAULT 0 CHECK (n < 100))")
	write(t, p, "INSERT INTO things (name) VALUES ('a'), ('b')")
	return p, url
}

func connect(t *testing.T, url string) *postgres.Pool {
	t.Helper()
	p, err := postgres.Open(postgres.Options{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// executes is a transaction of statements.
func executes(statements ...string) func(tx *groupcommit.Tx) error {
	return func(tx *groupcommit.Tx) error {
		for _, s := range statements {
			if _, err := tx.Exec(s); err != nil {
				return err
			}
		}
		return nil
	}
}

func write(t *testing.T, p *postgres.Pool, statement string) {
	t.Helper()
	if err := p.Write(t.Context(), executes(statement)); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// count is the sum of all things.
func count(t *testing.T, p *postgres.Pool) (n int64) {
	t.Helper()
	if err := p.DB.QueryRowContext(t.Context(), "SELECT CAST(sum(n) AS BIGINT) FROM things").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// hangUp ends every connection to a database from the server's side.
func hangUp(t *testing.T, url string) {
	t.Helper()
	beside(t, url, `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()`)
}

// beside runs a statement on a connection of its own.
func beside(t *testing.T, url, statement string) {
	t.Helper()
	if _, err := postgrestest.Raw(t, url).ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}
