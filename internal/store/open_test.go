package store_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/store"
	"github.com/manychat-agent/manychat-agent/internal/store/postgres"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func arrival(id, text string) turn.Arrival {
	return turn.Arrival{
		TurnID: id, Owner: "process-a", Text: text, ReceivedAt: time.Unix(1_800_000_000, 0),
		Key: contact.Key{TenantID: "demo", Channel: contact.WhatsApp, SubscriberID: "700001"}, Window: turn.Window{HistoryLimit: 10},
	}
}

func record(t *testing.T, db *store.DB, id, text string) turn.Recorded {
	t.Helper()
	r, err := db.Record(t.Context(), arrival(id, text))
	if err != nil {
		t.Fatalf("Record: %v", err)
	}
	return r
}

// create makes a database with one message in it and returns its path.
func create(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent.db")
	db, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + path, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	record(t, db, "turn-1", "hello")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// Holds docs/spec/15-storage.md: what is wrong with a database is said as a sentence.
func TestOpenRefuses(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T) store.Options
		want    error
	}{
		{"no address", func(*testing.T) store.Options { return store.Options{} }, store.ErrURL},
		{"no path", func(*testing.T) store.Options { return store.Options{URL: "sqlite:"} }, store.ErrURL},
		{"another database", func(*testing.T) store.Options { return store.Options{URL: "mysql://localhost"} }, store.ErrURL},
		{"PostgreSQL without a server", func(*testing.T) store.Options {
			return store.Options{URL: "postgres://agent:hush@127.0.0.1:1/agent"}
		}, postgres.ErrUnreachable},
		{"PostgreSQL by no URL", func(*testing.T) store.Options {
			return store.Options{URL: "postgres://agent:hu%sh@127.0.0.1/agent"}
		}, postgres.ErrURL},
		{"nothing to read", func(t *testing.T) store.Options {
			return store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), ReadOnly: true}
		}, store.ErrMissing},
		{"a folder that cannot be made", func(t *testing.T) store.Options {
			file := filepath.Join(t.TempDir(), "file")
			write(t, file, "")
			return store.Options{URL: "sqlite:" + filepath.Join(file, "agent.db")}
		}, store.ErrUnwritable},
		{"a folder for a file", func(t *testing.T) store.Options {
			return store.Options{URL: "sqlite:" + t.TempDir()}
		}, store.ErrUnwritable},
		{"not a database", func(t *testing.T) store.Options {
			file := filepath.Join(t.TempDir(), "agent.db")
			write(t, file, strings.Repeat("not a database at all. ", 500))
			return store.Options{URL: "sqlite:" + file}
		}, store.ErrNotDatabase},
		{"damaged", func(t *testing.T) store.Options {
			path := create(t)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for i := 200; i < len(content); i++ {
				content[i] = 0xff
			}
			write(t, path, string(content))
			return store.Options{URL: "sqlite:" + path}
		}, store.ErrCorrupt},
		{"newer", func(t *testing.T) store.Options { return store.Options{URL: "sqlite:" + newer(t)} }, store.ErrNewer},
		{"newer, read only", func(t *testing.T) store.Options {
			return store.Options{URL: "sqlite:" + newer(t), ReadOnly: true}
		}, store.ErrNewer},
		{"empty, not to be migrated", func(t *testing.T) store.Options {
			return store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), NoMigration: true}
		}, store.ErrOlder},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.prepare(t)
			o.Now = time.Now
			db, err := store.Open(t.Context(), o)
			if err == nil {
				_ = db.Close()
			}
			if !errors.Is(err, c.want) {
				t.Fatalf("Open returned %v, want %v", err, c.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("not one sentence: %q", err)
			}
		})
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newer is a database from the future.
func newer(t *testing.T) string {
	t.Helper()
	path := create(t)
	if err := rawExec(t, path)("INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, 1)"); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestOpenCreatesFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder with 100% of ?#")
	path := filepath.Join(folder, "agent.db")
	open(t, store.Options{URL: "sqlite:" + path})
	for name, want := range map[string]os.FileMode{folder: os.ModeDir | 0o700, path: 0o600} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != want {
			t.Errorf("%s has mode %v, want %v", name, info.Mode(), want)
		}
	}
}

func TestReadOnly(t *testing.T) {
	path := create(t)
	db := open(t, store.Options{URL: "sqlite:" + path, ReadOnly: true})
	got, err := db.Turn(t.Context(), "turn-1")
	if err != nil || got.Text != "hello" {
		t.Errorf("Turn returned %+v, %v", got, err)
	}
	if _, err := db.Record(t.Context(), arrival("turn-2", "hello")); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Record returned %v, want ErrReadOnly", err)
	}
}

// Holds docs/spec/15-storage.md: a full disk and a read-only file are reported as what
// they are, and the service goes on when they are repaired.
func TestDiskTrouble(t *testing.T) {
	for _, c := range []struct {
		name, spoil, repair string
		want                error
	}{
		{"full", "PRAGMA max_page_count = 1", "PRAGMA max_page_count = 1000000", store.ErrDiskFull},
		{"read-only", "PRAGMA query_only = 1", "PRAGMA query_only = 0", store.ErrReadOnly},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db")})
			if err := db.Write(t.Context(), c.spoil); err != nil {
				t.Fatal(err)
			}
			if _, err := db.Record(t.Context(), arrival("turn-1", strings.Repeat("long ", 100_000))); !errors.Is(err, c.want) {
				t.Errorf("Record returned %v, want %v", err, c.want)
			}
			_ = db.Write(t.Context(), c.repair)
			if err := db.Ping(t.Context()); err != nil {
				t.Errorf("Ping returned %v when all was well again", err)
			}
			if r := record(t, db, "turn-2", "hello"); r.Turn.Seq != 2 {
				t.Errorf("the failed record left a trace: place %d", r.Turn.Seq)
			}
		})
	}
}

func TestClosed(t *testing.T) {
	db, err := store.Open(t.Context(), store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db"), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Ping(t.Context()), db.Close()); err != nil {
		t.Fatal(err)
	}
	if err := db.Ping(t.Context()); err == nil {
		t.Error("Ping of a closed database succeeds")
	}
	if _, err := db.Record(t.Context(), arrival("turn-1", "hello")); err == nil {
		t.Error("Record in a closed database succeeds")
	}
}

func TestCallerThatGaveUp(t *testing.T) {
	db := open(t, store.Options{URL: "sqlite:" + filepath.Join(t.TempDir(), "agent.db")})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := db.Record(ctx, arrival("turn-1", "hello"))
	if !errors.Is(err, context.Canceled) || !cmp.Equal(r, turn.Recorded{}) {
		t.Errorf("Record returned %+v, %v", r, err)
	}
}

// A whole turn on a real database inside a bubble, as the tests of the rooms use it.
func TestInBubble(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.db")
	synctest.Test(t, func(t *testing.T) {
		db := open(t, store.Options{URL: "sqlite:" + path})
		r := record(t, db, "turn-1", "hello")
		time.Sleep(8 * time.Second)
		r.Turn.Outcome, r.Turn.Path = conversation.Answered, conversation.Inline
		if err := db.Settle(t.Context(), turn.Settlement{Turn: r.Turn}); err != nil {
			t.Fatal(err)
		}
		got, err := db.Turn(t.Context(), "turn-1")
		if err != nil || !got.SettledAt.Equal(time.Now()) {
			t.Errorf("settled at %v, %v; want %v", got.SettledAt, err, time.Now())
		}
	})
}
