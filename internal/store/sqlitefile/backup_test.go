package sqlitefile

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// made is a database with the first version's data in it.
func made(t *testing.T) (path string, db *sql.DB) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "agent.db")
	db, err := OpenWriter(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := Migrate(t.Context(), db, path); err != nil {
		t.Fatal(err)
	}
	execute(t, db, first...)
	return path, db
}

func execute(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": db backup makes a consistent copy of
// a running database. Each transaction of the writer changes two rows alike.
func TestBackupWhileWriting(t *testing.T) {
	path, db := made(t)
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			tx, err := db.Begin()
			if err == nil {
				_, err = tx.Exec("UPDATE conversations SET last_seq = last_seq + 1")
			}
			if err == nil {
				_, err = tx.Exec("UPDATE turns SET received_at = (SELECT last_seq FROM conversations)")
			}
			if err = errors.Join(err, tx.Commit()); err != nil {
				stopped <- err
				return
			}
		}
	}()
	for _, name := range []string{"one", "two", "three"} {
		to := filepath.Join(t.TempDir(), name)
		got, err := Backup(t.Context(), path, to)
		if err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(to)
		if err != nil || info.Mode() != 0o600 || info.Size() != got.Bytes || got.Version != Latest() {
			t.Errorf("the backup is %v, %v, %+v", info.Mode(), err, got)
		}
		if all, err := os.ReadDir(filepath.Dir(to)); err != nil || len(all) != 1 {
			t.Errorf("beside the backup there are %v, %v", all, err)
		}
		copied, err := OpenWriter(to)
		if err != nil {
			t.Fatal(err)
		}
		var torn int
		err = copied.QueryRowContext(t.Context(), "SELECT count(*) FROM turns t JOIN conversations c ON c.last_seq > 2 AND t.received_at <> c.last_seq").Scan(&torn)
		if err = errors.Join(err, copied.Close()); err != nil || torn > 0 {
			t.Errorf("%d rows are of another transaction, %v", torn, err)
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Errorf("the service could not write: %v", err)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": a backup that cannot be made is
// reported as what it is, and leaves nothing.
func TestBackupRefused(t *testing.T) {
	folder := t.TempDir()
	note := filepath.Join(folder, "note.txt")
	if err := os.WriteFile(note, []byte("a shopping list that is long enough"), 0o600); err != nil {
		t.Fatal(err)
	}
	bare := filepath.Join(folder, "bare.db")
	if err := os.WriteFile(bare, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path, db := made(t)
	newer, other := made(t)
	execute(t, other, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, 1)")
	damaged, broken := made(t)
	execute(t, broken, "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'text              TEXT    NOT NULL', 'text INTEGER NOT NULL') WHERE name = 'turns'")
	for name, c := range map[string]struct {
		from, to string
		want     error
	}{
		"a file of this name":    {path, note, ErrBackupExists},
		"no such folder":         {path, filepath.Join(folder, "none", "copy"), ErrBackupPlace},
		"a file as the folder":   {path, filepath.Join(note, "copy"), ErrBackupPlace},
		"no database":            {filepath.Join(folder, "none.db"), filepath.Join(folder, "copy"), ErrMissing},
		"something else":         {note, filepath.Join(folder, "copy"), ErrNotDatabase},
		"a database without":     {bare, filepath.Join(folder, "copy"), ErrNoTables},
		"a newer database":       {newer, filepath.Join(folder, "copy"), ErrNewer},
		"a database with damage": {damaged, filepath.Join(folder, "copy"), ErrBackupBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := Backup(t.Context(), c.from, c.to); !errors.Is(Explain(err), c.want) {
				t.Errorf("Backup returned %v, want %v", err, c.want)
			}
		})
	}
	if all, err := os.ReadDir(folder); err != nil || len(all) != 2 {
		t.Errorf("the folder holds %v, %v", all, err)
	}
	execute(t, db, "DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	if got, err := Backup(t.Context(), path, filepath.Join(folder, "older")); err != nil || got.Version >= Latest() {
		t.Errorf("the backup of an older database is %+v, %v; it is made before the migration", got, err)
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": erase leaves no trace. A large file is
// not written anew beside a service, whose messages would have to wait; it is said.
func TestOverwrite(t *testing.T) {
	path, db := made(t)
	var fast int
	if err := db.QueryRowContext(t.Context(), "PRAGMA secure_delete").Scan(&fast); err != nil || fast != 2 {
		t.Errorf("secure_delete of the service's connection is %d, %v; want 2, FAST", fast, err)
	}
	execute(t, db, "PRAGMA secure_delete = OFF", "DELETE FROM outbox", "DELETE FROM turns")
	unlock, err := Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	execute(t, db, "CREATE TABLE large (b BLOB)", "INSERT INTO large VALUES (zeroblob(105000000))")
	if err := Overwrite(t.Context(), path); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Overwrite beside a service returned %v", err)
	}
	if err := unlock(); err != nil {
		t.Fatal(err)
	}
	if left := content(t, path); !bytes.Contains(left, []byte("hello")) {
		t.Error("the test proves nothing: the bytes were gone already")
	}
	if err := Overwrite(t.Context(), path); err != nil {
		t.Errorf("Overwrite without a service: %v", err)
	}
	if left := content(t, path); bytes.Contains(left, []byte("hello")) {
		t.Error("the bytes are still there")
	}
	unlock, err = Lock(path)
	if err != nil {
		t.Fatalf("the file stays locked: %v", err)
	}
	defer unlock()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	impatient, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Overwrite(impatient, path); !errors.Is(err, ErrRemains) {
		t.Errorf("Overwrite of a file that is being written returned %v", err)
	}
}

func content(t *testing.T, path string) (all []byte) {
	t.Helper()
	for _, name := range []string{path, path + "-wal"} {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, part...)
	}
	return all
}
