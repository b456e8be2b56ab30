package style_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style"
)

var update = flag.Bool("update", false, "write what is rendered into the corpus")

// channels are the two ways to show a text, by the ending of their golden files.
var channels = []struct {
	name string
	bold bool
}{{"whatsapp", true}, {"plain", false}}

// corpus reads testdata: the inputs by name of file and case, and what else an archive
// holds.
func corpus(t testing.TB) map[string]*txtar.Archive {
	t.Helper()
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	archives := map[string]*txtar.Archive{}
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archives[path] = archive
	}
	return archives
}

const unchanged = "testdata/unchanged.txtar"

// body is a file of an archive without the line break that ends it.
func body(f txtar.File) string { return strings.TrimSuffix(string(f.Data), "\n") }

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": Markdown is rendered for the
// channel.
func TestCorpus(t *testing.T) {
	for path, archive := range corpus(t) {
		if path == unchanged {
			continue
		}
		var in string
		for i, f := range archive.Files {
			name, channel, _ := strings.Cut(f.Name, ".")
			if channel == "in" {
				in = body(f)
				continue
			}
			t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar")+"/"+f.Name, func(t *testing.T) {
				got := style.Render(in, channel == "whatsapp")
				if *update {
					archive.Files[i].Data = []byte(got + "\n")
				} else if diff := cmp.Diff(body(f), got); diff != "" {
					t.Errorf("%s of %q (-want +got):\n%s", name, in, diff)
				}
			})
		}
		if *update {
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": what is not Markdown goes
// out as it was written.
func TestUnchanged(t *testing.T) {
	for _, f := range corpus(t)[unchanged].Files {
		for _, channel := range channels {
			t.Run(f.Name+"/"+channel.name, func(t *testing.T) {
				if diff := cmp.Diff(body(f), style.Render(body(f), channel.bold)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}
