// Package postgrestest gives tests a PostgreSQL database of their own, with all tables in
// it, from a server that runs beside them.
package postgrestest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver named "pgx"

	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
)

const (
	// Variable names the server, by the URL of a database on it whose user may create others.
	Variable = "TEST_POSTGRES_URL"
	// standard is the server where the variable is not set.
	standard = "postgres://root@127.0.0.1:5432/test"
	// empty is how a database without tables is made.
	empty = "TEMPLATE template0 ENCODING 'UTF8'"
	// answersWithin is how long the server may take to answer before it counts as missing.
	answersWithin = 5 * time.Second
	// preparedWithin bounds making or dropping a database.
	preparedWithin = time.Minute
)

// Open makes an empty database with all tables, dropped with the test, and returns its URL. Where
// no server answers the test is skipped, but under CI=true it fails.
func Open(t testing.TB) (databaseURL string) {
	t.Helper()
	s := reach(t)
	template := s.template(t)
	name := s.fresh(t, "TEMPLATE "+template)
	return s.database(name)
}

// Empty is like [Open], without tables.
func Empty(t testing.TB) (databaseURL string) {
	t.Helper()
	s := reach(t)
	return s.database(s.fresh(t, empty))
}

// Raw opens a database beside the program under test, and closes it with the test.
func Raw(t testing.TB, databaseURL string) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

// server is where databases are made.
type server struct {
	url   *url.URL
	admin *sql.DB
}

func reach(t testing.TB) server {
	t.Helper()
	address := os.Getenv(Variable)
	if address == "" {
		address = standard
	}
	parsed, err := url.Parse(address)
	if err != nil {
		t.Fatalf("%s is not a URL", Variable)
	}
	s := server{url: parsed, admin: Raw(t, address)}
	ctx, cancel := context.WithTimeout(t.Context(), answersWithin)
	defer cancel()
	if err := s.admin.PingContext(ctx); err != nil {
		missing := fmt.Sprintf("PostgreSQL does not answer at %s (start it, or set %s): %v", parsed.Redacted(), Variable, err)
		if os.Getenv("CI") == "true" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	return s
}

// database is the URL of a database of the server.
func (s server) database(name string) string {
	u := *s.url
	u.Path = "/" + name
	return u.String()
}

// fresh makes a database that is dropped with the test.
func (s server) fresh(t testing.TB, from string) (name string) {
	t.Helper()
	name = "agent_test_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	s.run(t, "CREATE DATABASE "+name+" "+from)
	t.Cleanup(func() { s.run(t, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)") })
	return name
}

// template is a database with all tables. It is named after the migrations, made by whoever
// is first, and kept for the next run of the tests.
func (s server) template(t testing.TB) (name string) {
	t.Helper()
	name = "agent_template_" + digest(t)
	ctx, cancel := context.WithTimeout(t.Context(), preparedWithin)
	defer cancel()
	guard, err := s.admin.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer guard.Close()
	if _, err := guard.ExecContext(ctx, "SELECT pg_advisory_lock(hashtext($1))", name); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if _, err := guard.ExecContext(ctx, "SELECT pg_advisory_unlock(hashtext($1))", name); err != nil {
			t.Error(err)
		}
	}()
	var found bool
	if err := guard.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)", name).Scan(&found); err != nil {
		t.Fatal(err)
	}
	if !found {
		making := s.fresh(t, empty)
		if err := postgres.Migrate(ctx, s.database(making)); err != nil {
			t.Fatal(err)
		}
		s.run(t, "ALTER DATABASE "+making+" RENAME TO "+name)
	}
	return name
}

func (s server) run(t testing.TB, statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), preparedWithin)
	defer cancel()
	if _, err := s.admin.ExecContext(ctx, statement); err != nil {
		t.Errorf("%s: %v", statement, err)
	}
}

// digest tells one set of migrations from another.
func digest(t testing.TB) string {
	t.Helper()
	hash := sha256.New()
	files := postgres.Migrations()
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(hash, "%s %d\n%s", name, len(text), text)
	}
	return hex.EncodeToString(hash.Sum(nil)[:8])
}
