package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// docs/states.md and the schema name the same constraints.
func TestStatesPage(t *testing.T) {
	page := constraints(t, "../../docs/states.md", "`((?:turn|outbox)_[a-z_]+)`")
	files, err := filepath.Glob("sqlitefile/migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var schema []string
	for _, file := range files {
		schema = append(schema, constraints(t, file, `CONSTRAINT ((?:turn|outbox)_\w+) CHECK`)...)
	}
	slices.Sort(schema)
	if d := cmp.Diff(schema, page); d != "" {
		t.Errorf("constraints in docs/states.md (-schema +page):\n%s", d)
	}
}

func constraints(t *testing.T, file, pattern string) (names []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
		names = append(names, match[1])
	}
	slices.Sort(names)
	return slices.Compact(names)
}
