package redact_test

import (
	_ "embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

//go:embed testdata/redact.txt
var redacted string

//go:embed testdata/keep.txt
var kept string

// lines are those of a corpus, without comments.
func lines(corpus string) []string {
	var out []string
	for line := range strings.SplitSeq(corpus, "\n") {
		if line != "" && !strings.HasPrefix(line, "# ") {
			out = append(out, line)
		}
	}
	return out
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestText(t *testing.T) {
	carriers := []string{"%s", "call %s now", "%s, or later", "it was %s.", `{"x":"%s"}`, "am 12. oder %s", "请打\u3000%s 谢谢", "a\n%s\nb", "id: %s; ok", "2026-01-02 %s", "took 8.5s %s"}
	corpus := lines(redacted)
	if len(corpus) < 120 {
		t.Fatalf("%d shapes", len(corpus))
	}
	for _, line := range corpus {
		marker, shape, _ := strings.Cut(line, " ")
		inside := slices.Clip(carriers)
		if shape[0] != '(' {
			inside = append(inside, "(%s)")
		}
		if marker == "[phone]" || marker == "[number]" {
			inside = append(inside, "请打%s谢谢", "tel%sx")
		}
		for _, carrier := range inside {
			in, want := fmt.Sprintf(carrier, shape), fmt.Sprintf(carrier, marker)
			if got := redact.Text(in); got != want {
				t.Errorf("Text(%q)\n got %q\nwant %q", in, got, want)
			}
		}
	}
}

// Holds docs/spec/16-operations.md, "Logs": what finds a turn stays readable.
func TestTextKeeps(t *testing.T) {
	corpus := lines(kept)
	if len(corpus) < 80 {
		t.Fatalf("%d lines", len(corpus))
	}
	for _, line := range corpus {
		for _, in := range []string{line, "it says " + line + ", or so", `"` + line + `"`, "a\n" + line + "\nb"} {
			if got := redact.Text(in); got != in {
				t.Errorf("Text(%q)\n got %q", in, got)
			}
		}
	}
}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestTextBehindNames(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"bearer", "Bearer xyz", "Bearer [secret]"},
		{"header", "Authorization: Bearer abc.def", "Authorization: [secret]"},
		{"header of basic credentials", "got authorization: Basic YWRhOng=\nnext", "got authorization: [secret]\nnext"},
		{"cookie", "Cookie: a=b; c=d", "Cookie: [secret]"},
		{"in small letters", "bearer abc123", "bearer [secret]"},
		{"environment", "MANYCHAT_API_TOKEN=7 MAX=3", "MANYCHAT_API_TOKEN=[secret] MAX=3"},
		{"query", "a?token=x&b=1", "a?token=[secret]&b=1"},
		{"quoted", `password='hun ter2' user=x`, `password='[secret]' user=x`},
		{"JSON", `{"password": "hun\"ter2", "n": 1}`, `{"password": "[secret]", "n": 1}`},
		{"JSON in JSON", `"{\"apiKey\":\"x y\",\"n\":1}"`, `"{\"apiKey\":\"[secret]\",\"n\":1}"`},
		{"JSON number", `{"ai_token":7,"n":1}`, `{"ai_token":[secret],"n":1}`},
		{"camel case", "clientSecret=abc", "clientSecret=[secret]"},
		{"marked already", "token=[redacted]", "token=[redacted]"},
		{"tel", "tel:5551234", "tel:[phone]"},
		{"sms", "sms:12345", "sms:[phone]"},
		{"mailto", "mailto:ada@example.com", "mailto:[email]"},
		{"loopback with a query", "http://127.0.0.1:3000/x?subscriber=900000001", "http://127.0.0.1:3000/x?subscriber=[number]"},
		{"link in a path", "data/example.com/a", "data/[url]"},
		{"version with a number", "v1.2.3-20260102150405-xyz", "v1.2.3-[number]-xyz"},
		{"link in a quoted secret", `"password": "see https://example.com/a then b"`, `"password": "[secret]"`},
		{"flow without its last part", "content20260101000000_x", "content[number]_x"},
		{"nameless e-mail", "@example.com and a@b", "@example.com and a@b"},
		{"price behind a name", "EUR 123.456.789, call 123.456.789", "EUR 123.456.789, call [phone]"},
		{"listen address with a path", "http://0.0.0.0:8080/x/y?id=900000001", "http://0.0.0.0:8080/x/y?id=[number]"},
		{"several", "ada@example.com or 0170 1234567, id 900000001", "[email] or [phone], id [number]"},
		{"glued to letters", "id900000001x and tel0170-1234567", "id[number]x and tel[phone]"},
		{"before a time", "0170 1234567 2026-01-02 10:00", "[phone] 2026-01-02 10:00"},
		{"before a digit", "123-45-67 5", "[phone]"},
		{"behind a digit", "5 123-45-67", "[phone]"},
		{"found at a second look", "0 123-45-67 0v0 00 00000", "[phone]v0 [phone]"},
		{"after a number", "room 5 555-123-4567", "room [phone]"},
		{"invalid UTF-8", "\xff 0170 1234567 \xfe", "\xff [phone] \xfe"},
		{"empty", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := redact.Text(tt.in); got != tt.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", tt.in, got, tt.want)
			}
		})
	}
}

// Holds docs/spec/16-operations.md, "Logs": what hides nothing costs next to nothing.
func TestTextLeavesAloneWithoutAllocating(t *testing.T) {
	for _, in := range []string{"answered", "the turn has ended", "0193a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b", "anthropic:claude-haiku", "8.5s"} {
		if n := testing.AllocsPerRun(100, func() { redact.Text(in) }); n != 0 {
			t.Errorf("Text(%q) allocates %v times", in, n)
		}
	}
}

type quoting struct{ words string }

func (q quoting) Error() string { return q.words }

// brokenError claims to be the runtime's own and panics when it is asked.
type brokenError struct{ error }

func (brokenError) RuntimeError() {}

// Holds docs/spec/01-principles.md, "Rules nothing may break": C5.
func TestPanic(t *testing.T) {
	tests := []struct {
		name string
		do   func()
		want string
	}{
		{"index", func() { var s []int; i := 3; _ = s[i] }, "runtime error: index out of range [3] with length 0"},
		{"index that is an id", func() { var s []int; i := 900000001; _ = s[i] }, "runtime error: index out of range [[number]] with length 0"},
		{"words", func() { panic("Ada, 0170 1234567") }, "a value of type string"},
		{"error", func() { panic(quoting{"Ada"}) }, "a value of type redact_test.quoting"},
		{"wrapped", func() { panic(fmt.Errorf("say: %w", errors.New("Ada"))) }, "a value of type *fmt.wrapError"},
		{"broken", func() { panic(brokenError{}) }, "a value of type redact_test.brokenError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if got := redact.Panic(recover()); got != tt.want {
					t.Errorf("Panic says %q, want %q", got, tt.want)
				}
			}()
			tt.do()
		})
	}
}
