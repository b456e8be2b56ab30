package redact_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// amount matches numbers that are written as prices and their ranges are: beside a
// currency they are taken for one.
var amount = regexp.MustCompile(`^\d{1,3}([.,'_]\d{3})+$|^\d{1,5}-\d{1,5}$`)

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5. Whatever stands before
// and behind it, a shape never survives, and a cleaned text stays as it is.
func FuzzText(f *testing.F) {
	var shapes []string
	for _, line := range lines(redacted) {
		if _, shape, _ := strings.Cut(line, " "); !amount.MatchString(shape) {
			shapes = append(shapes, shape)
		}
	}
	for i := range shapes {
		f.Add("please call", "or write, thanks", uint(i))
	}
	for _, line := range append(lines(kept), "token=", `{"password":"`, "Bearer", "\xff٣-(", "0170/", "+", "a@", "x://") {
		f.Add(line, line, uint(len(line)))
	}
	f.Fuzz(func(t *testing.T, before, after string, which uint) {
		shape := shapes[which%uint(len(shapes))]
		in := before + " " + shape + " " + after
		out := redact.Text(in)
		if again := redact.Text(out); again != out {
			t.Errorf("Text(%q)\n  is %q,\nand of that it is %q", in, out, again)
		}
		if strings.Contains(out, shape) && !strings.Contains(before, shape) && !strings.Contains(after, shape) {
			t.Errorf("%q survives in %q, from %q", shape, out, in)
		}
		if utf8.ValidString(in) && !utf8.ValidString(out) {
			t.Errorf("Text(%q) is no UTF-8: %q", in, out)
		}
	})
}
