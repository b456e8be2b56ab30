package redact_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// Holds docs/spec/07-tools.md, "Notes": the same shapes that the logger redacts by, whatever
// their kind.
func TestRemoved(t *testing.T) {
	for _, line := range lines(redacted) {
		_, shape, _ := strings.Cut(line, " ")
		if got, want := redact.Removed("call "+shape+" now"), "call "+redact.Mark+" now"; got != want {
			t.Errorf("Removed of %q\n got %q\nwant %q", shape, got, want)
		}
	}
	for _, line := range lines(kept) {
		if got := redact.Removed(line); got != line {
			t.Errorf("Removed(%q)\n got %q", line, got)
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": what is cleaned stays as it is, behind the name of a
// secret too.
func TestRemovedIsStable(t *testing.T) {
	kinds := regexp.MustCompile(`\[(phone|email|url|media|number|token|secret|flow)\]`)
	pieces := append(lines(redacted), "token=", `"password": "`, `"`, "Bearer ", "Cookie: ", " ", "\n", "a", redact.Mark, "0170", "@", "://", "1")
	rapid.Check(t, func(t *rapid.T) {
		in := strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces"), "")
		in = kinds.ReplaceAllString(in, "")
		out := redact.Removed(in)
		if again := redact.Removed(out); again != out {
			t.Errorf("Removed(%q)\n  is %q,\nand of that it is %q", in, out, again)
		}
		if text := redact.Text(in); kinds.MatchString(text) != (strings.Count(out, redact.Mark) > strings.Count(in, redact.Mark)) && !strings.Contains(in, redact.Mark) {
			t.Errorf("Removed(%q)\n  is %q,\n Text is %q", in, out, text)
		}
		if redact.Text(out) != out {
			t.Errorf("Text still finds something in %q", out)
		}
	})
}
