package manychat_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

// goldenFile is one file of a txtar archive.
type goldenFile struct {
	name string
	data []byte
}

// checkGolden compares the files, in txtar form, with testdata/name.
func checkGolden(t *testing.T, name string, files []goldenFile) {
	t.Helper()
	var got bytes.Buffer
	for _, f := range files {
		got.WriteString("-- " + f.name + " --\n")
		got.Write(f.data)
		got.WriteString("\n")
	}
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%s", path, diff)
	}
}
