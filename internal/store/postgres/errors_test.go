package postgres_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store/failure"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
)

// Holds docs/spec/15-storage.md: a full disk, a read-only database and the rest are
// reported as what they are.
func TestExplain(t *testing.T) {
	p, _ := pool(t, "")
	raise := func(code string) string {
		return "DO $$ BEGIN RAISE EXCEPTION 'of the test' USING ERRCODE = '" + code + "'; END $$"
	}
	for name, c := range map[string]struct {
		statement string
		want      error
	}{
		"full disk":          {raise("53100"), failure.ErrDiskFull},
		"connections":        {raise("53300"), postgres.ErrConnections},
		"password":           {raise("28P01"), postgres.ErrPassword},
		"rights":             {raise("42501"), postgres.ErrNoRight},
		"disk error":         {raise("58030"), postgres.ErrIO},
		"damage":             {raise("XX001"), postgres.ErrCorrupt},
		"starting":           {raise("57P03"), postgres.ErrUnreachable},
		"constraint":         {"INSERT INTO things (name) VALUES ('a')", failure.ErrConstraint},
		"check":              {"UPDATE things SET n = 100", failure.ErrConstraint},
		"not null":           {"UPDATE things SET n = NULL", failure.ErrConstraint},
		"value out of range": {"SELECT CAST('x' AS BIGINT)", failure.ErrConstraint},
		"too slow":           {"SET LOCAL statement_timeout = 1; SELECT pg_sleep(10)", postgres.ErrBusy},
	} {
		t.Run(name, func(t *testing.T) {
			err := postgres.Explain(p.Write(t.Context(), executes(c.statement)))
			if !errors.Is(err, c.want) {
				t.Errorf("Explain says %v, want %v", err, c.want)
			}
		})
	}
	if err := postgres.Explain(nil); err != nil {
		t.Errorf("Explain makes %v of nothing", err)
	}
}

// Holds docs/spec/15-storage.md: a database that would not keep every text is refused.
func TestEncoding(t *testing.T) {
	_, url := pool(t, "")
	name := databaseName(t, url) + "_ascii"
	beside(t, url, "CREATE DATABASE "+name+" TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'")
	defer beside(t, url, "DROP DATABASE "+name+" WITH (FORCE)")
	if err := connect(t, url+"_ascii").Ping(t.Context()); !errors.Is(err, postgres.ErrEncoding) {
		t.Errorf("Ping returned %v, want ErrEncoding", err)
	}
}

// Holds docs/spec/10-config.md: no error prints a password.
func TestAddress(t *testing.T) {
	_, url := pool(t, "")
	for name, c := range map[string]struct {
		url  string
		want error
	}{
		"no server":   {"postgres://agent:hush@127.0.0.1:1/agent?password=hush", postgres.ErrUnreachable},
		"no such":     {url + "_missing", postgres.ErrNoDatabase},
		"SQLite":      {"sqlite:hush.db", postgres.ErrURL},
		"raw percent": {"postgresql://agent:hush%@127.0.0.1/agent", postgres.ErrURL},
		"port":        {"postgres://agent:hu:sh@127.0.0.1/agent?port=hush", postgres.ErrURL},
		"certificate": {"postgres://agent:hush@127.0.0.1/agent?sslmode=verify-full&sslrootcert=/missing.pem", postgres.ErrURL},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := postgres.Open(postgres.Options{URL: c.url})
			if err == nil {
				err = p.Ping(t.Context())
				defer p.Close()
			}
			if !errors.Is(err, c.want) {
				t.Errorf("the error is %v, want %v", err, c.want)
			}
			if text := err.Error(); strings.Contains(text, "hush") || strings.Contains(text, "\n") {
				t.Errorf("the error says %q", text)
			}
			if name, err := postgres.Name(c.url); strings.Contains(name, "hush") || strings.Contains(name, "agent:") {
				t.Errorf("Name is %q, %v", name, err)
			}
		})
	}
	if name, err := postgres.Name("postgres://agent:hush@db.example:6432/agent"); name != "db.example:6432/agent" {
		t.Errorf("Name is %q, %v", name, err)
	}
}
