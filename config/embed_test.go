package demo_test

import (
	"bytes"
	"errors"
	"io/fs"
	"testing"

	demo "github.com/manychat-agent/manychat-agent/config"
)

// Holds docs/spec/10-config.md, first section: the demo tenant is committed as
// examples.
func TestFS(t *testing.T) {
	for _, name := range []string{"prompt.md", "catalog.json", "rules.json", "tools.json", "sandbox.json"} {
		got, err := fs.ReadFile(demo.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := demo.Demo.ReadFile(name + ".example")
		if err != nil {
			t.Fatal(err)
		}
		if len(got) == 0 || !bytes.Equal(got, want) {
			t.Errorf("%s is not its example", name)
		}
		if info, err := fs.Stat(demo.FS(), name); err != nil || info.Size() != int64(len(got)) {
			t.Errorf("stat of %s: %v, %v", name, info, err)
		}
	}
	if _, err := fs.Stat(demo.FS(), "README.md"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("stat of a file that is no tenant's: %v", err)
	}
}
