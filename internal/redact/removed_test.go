package redact_test

import (
	_ "embed"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

//go:embed testdata/people.txt
var forPeople string

//go:embed testdata/people_keep.txt
var keptForPeople string

// Holds docs/spec/07-tools.md, "Notes": the same shapes that the logger redacts by, whatever
// their kind.
func TestRemoved(t *testing.T) {
	for _, line := range lines(redacted) {
		_, shape, _ := strings.Cut(line, " ")
		if got, want := redact.Removed("call "+shape+" now"), "call "+redact.Mark+" now"; got != want {
			t.Errorf("Removed of %q\n got %q\nwant %q", shape, got, want)
		}
	}
	// What only operators need: this machine, hosts, code and names of files.
	operators := regexp.MustCompile(`\w://|api\.|\.org/|github\.com|turns\.id|backup_|\.\d+:\d{3,5}`)
	for _, line := range append(lines(kept), lines(keptForPeople)...) {
		if got := redact.Removed(line); (got != line) != operators.MatchString(line) {
			t.Errorf("Removed(%q)\n got %q", line, got)
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": people may tap on what operators need to see.
func TestRemovedForPeople(t *testing.T) {
	for _, line := range lines(forPeople) {
		in, want, _ := strings.Cut(line, " => ")
		for _, carrier := range []string{"%s", "she said %s today", "1. %s\n2. x", "«%s»", "say %s!"} {
			in, want := strings.Replace(carrier, "%s", in, 1), strings.Replace(carrier, "%s", want, 1)
			if got := redact.Removed(in); got != want {
				t.Errorf("Removed(%q)\n got %q\nwant %q", in, got, want)
			}
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": a note is cleaned in no time, whatever is in it.
func TestRemovedCostsLittle(t *testing.T) {
	for _, piece := range []string{"=", "a=", "\"=", ".", "a.", "::", "a.b"} {
		in := strings.Repeat(piece, 30_000/len(piece))
		if n := testing.AllocsPerRun(1, func() { redact.Removed(in) }); n > 1000 {
			t.Errorf("of %q it allocates %v times", piece, n)
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": what is cleaned stays as it is, behind the name of a
// secret too.
func TestRemovedIsStable(t *testing.T) {
	kinds := regexp.MustCompile(`\[(phone|email|url|media|number|token|secret|flow)\]`)
	pieces := append(lines(redacted), "token=", `"password": "`, `"`, "Bearer ", "Cookie: ", " ", "\n", "a", redact.Mark, "0170", "@", "://", "1", "evil.com", ".", "*", "|", "evil.com:8080", "localhost")
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
		in = kinds.ReplaceAllString(in, "")
		out := redact.Removed(in)
		if again := redact.Removed(out); again != out {
			t.Errorf("Removed(%q)\n  is %q,\nand of that it is %q", in, out, again)
		}
		if text := redact.Text(in); kinds.MatchString(text) && strings.Count(out, redact.Mark) <= strings.Count(in, redact.Mark) && !strings.Contains(in, redact.Mark) {
			t.Errorf("Removed(%q)\n  is %q,\n Text is %q", in, out, text)
		}
		if redact.Text(out) != out {
			t.Errorf("Text still finds something in %q", out)
		}
	})
}
