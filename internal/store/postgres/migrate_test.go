package postgres_test

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"

	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/store/schema"
	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
	"github.com/manychat-agent/manychat-agent/internal/store/storetest/postgrestest"
)

// Holds docs/spec/15-storage.md: migrations are forward-only and run under a lock.
func TestMigrate(t *testing.T) {
	url := postgrestest.Empty(t)
	p := connect(t, url)
	if got, err := postgres.Version(t.Context(), p.DB); got != 0 || err != nil {
		t.Errorf("the version of an empty database is %d, %v", got, err)
	}
	var wg sync.WaitGroup
	for range 8 { // several processes at once
		wg.Go(func() {
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Errorf("Migrate: %v", err)
			}
		})
	}
	wg.Wait()
	if got, err := postgres.Version(t.Context(), p.DB); got != postgres.Latest() || err != nil {
		t.Errorf("the version is %d, %v", got, err)
	}
	write(t, p, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)")
	if err := postgres.Migrate(t.Context(), url); !errors.Is(err, schema.ErrNewer) {
		t.Errorf("Migrate returned %v, want ErrNewer", err)
	}
}

// first is data of the first version, which every later one has to keep.
var first = []string{
	`INSERT INTO conversations (id, tenant_id, channel, subscriber_id, last_seq, last_sent_at, offering, created_at)
        VALUES ('c1', 'demo', 'whatsapp', '700001', 2, 5, 'wheel', 1)`,
	`INSERT INTO turns (id, turn_id, tenant_id, conversation_id, role, seq, bound, in_history, text, received_at, state,
        attempt, outcome, path, settled_at, replies)
        VALUES ('t1', 't1', 'demo', 'c1', 'agent', 2, 1, 1, 'hi', 3, 'settled', 1, 'answered', 'outbox', 4, '["hi"]')`,
	`INSERT INTO outbox (id, tenant_id, conversation_id, turn_id, channel, subscriber_id, kind, seq, part, payload, status,
        next_attempt_at, created_at)
        VALUES ('o1', 'demo', 'c1', 't1', 'whatsapp', '700001', 'reply', 2, 0, '{"texts":["hi"],"sent":0}', 'pending', 4, 3)`,
}

// Holds docs/spec/15-storage.md: migrations are tested from every earlier version with data
// in it.
func TestMigrateFromEveryVersion(t *testing.T) {
	names, err := fs.Glob(postgres.Migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			url := postgrestest.Empty(t)
			p := connect(t, url)
			provider, err := goose.NewProvider(goose.DialectPostgres, p.DB, postgres.Migrations(), goose.WithDisableGlobalRegistry(true))
			if err != nil {
				t.Fatal(err)
			}
			number, _, _ := strings.Cut(name, "_")
			version, err := strconv.ParseInt(number, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := provider.UpTo(t.Context(), version); err != nil {
				t.Fatal(err)
			}
			if err := p.Write(t.Context(), executes(first...)); err != nil {
				t.Fatal(err)
			}
			if err := postgres.Migrate(t.Context(), url); err != nil {
				t.Fatal(err)
			}
			var kept string
			err = p.DB.QueryRowContext(t.Context(), `SELECT c.offering || a.text || o.status FROM conversations c
                JOIN turns a ON a.conversation_id = c.id JOIN outbox o ON o.turn_id = a.id`).Scan(&kept)
			if err != nil || kept != "wheelhipending" {
				t.Errorf("the data is now %q, %v", kept, err)
			}
		})
	}
}

// Holds docs/spec/15-storage.md: a version means the same in both databases.
func TestLatestIsTheSame(t *testing.T) {
	if got, want := postgres.Latest(), sqlitefile.Latest(); got != want {
		t.Errorf("PostgreSQL's newest migration is %d, SQLite's is %d", got, want)
	}
}
