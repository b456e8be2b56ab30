package sqlitefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/store/sqlitefile"
)

// Holds docs/spec/15-storage.md: what is found of a disk leaves nothing on it, and a folder
// that takes no file is none that has room.
func TestRoom(t *testing.T) {
	folder := t.TempDir()
	if err := sqlitefile.Room(filepath.Join(folder, "agent.db")); err != nil {
		t.Errorf("Room returned %v", err)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) > 0 {
		t.Errorf("the folder holds %v, %v", left, err)
	}
	if err := sqlitefile.Room(filepath.Join(folder, "missing", "agent.db")); !errors.Is(err, sqlitefile.ErrIO) {
		t.Errorf("Room returned %v, want ErrIO", err)
	}
}
