package style_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": whatever a model writes is
// rendered, into text of the same order of length, and no URL is altered.
func FuzzRender(f *testing.F) {
	for _, archive := range corpus(f) {
		for _, file := range archive.Files {
			f.Add(body(file))
		}
	}
	f.Fuzz(func(t *testing.T, text string) { checkRender(t, text) })
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": the same of Markdown put
// together at random.
func TestRandomMarkdown(t *testing.T) {
	pieces := []string{
		"*", "**", "***", "_", "__", "~~", "`", "``", "```", "[", "]", "(", ")", "![", "](", "][", "[1]", "[1]: https://d.example/x_y \"t\"",
		"[a]: https://e.example", "<", ">", "<b>", "</b>", "<br>", "<p>", "<li>", "<a href=\"https://f.example/_x_\">", "</a>", "&amp;", "&",
		"\\", "\\*", "|", "|-|", "---", "===", "# ", "> ", "- ", "* ", "1. ", "\n", "\n\n", "\r\n", " ", "a", "5", "€", "é", "重", "。", "👍🏽",
		"\u0301", "https://a.example", "https://b.example/a_b_c", "http://c.example/*x*/(y)_", "www.g.example/_z_", "\"", "'", ".", ":", "\xff", "“", "”",
	}
	rapid.Check(t, func(t *rapid.T) {
		checkRender(t, strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), ""))
	})
}

type failer interface {
	Helper()
	Errorf(format string, args ...any)
}

// checkRender renders a text and checks what holds for every text.
func checkRender(t failer, text string) {
	t.Helper()
	for _, channel := range channels {
		got := style.Render(text, channel.bold)
		if !utf8.ValidString(got) {
			t.Errorf("%s: not valid UTF-8: %q", channel.name, got)
		}
		if len(got) > 5*len(text) {
			t.Errorf("%s: %d bytes became %d", channel.name, len(text), len(got))
		}
		for _, u := range urlsOf(text) {
			if !strings.Contains(got, u) {
				t.Errorf("%s: %q lost %q: %q", channel.name, text, u, got)
			}
		}
	}
}

var written = regexp.MustCompile(`https?://\S+`)

// urlsOf returns the URLs of a text without what Markdown or a sentence has around them.
func urlsOf(text string) []string {
	var urls []string
	for _, u := range written.FindAllString(text, -1) {
		depth := map[rune]int{}
		end := strings.IndexFunc(u, func(r rune) bool {
			switch r {
			case '(', '[':
				depth[r]++
			case ')':
				depth['(']--
			case ']':
				depth['[']--
			}
			return depth['('] < 0 || depth['['] < 0 || strings.ContainsRune("<>\"`|", r) ||
				r < ' ' || r > '~' && !unicode.In(r, unicode.L, unicode.M, unicode.N)
		})
		if end >= 0 {
			u = u[:end]
		}
		u = strings.TrimRight(u, "*_~.,;:!?'")
		if _, rest, _ := strings.Cut(u, "://"); rest != "" {
			urls = append(urls, u)
		}
	}
	return urls
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": names and sums are not
// Markdown.
func TestNamesAndSums(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z0-9]+(_[a-zA-Z0-9]+)*`)
	sum := rapid.StringMatching(`[0-9]+(\*[0-9]+| \* [0-9]+| x [0-9]+|\*\*[0-9]+)*`)
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.OneOf(name, sum)).Draw(t, "words")
		text := strings.Join(words, rapid.SampledFrom([]string{" ", "\n", ", ", ". "}).Draw(t, "between"))
		for _, channel := range channels {
			if got := style.Render(text, channel.bold); got != text {
				t.Fatalf("%s: %q became %q", channel.name, text, got)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": what was rendered is plain for
// its channel, so rendering again changes nothing in what is usual; where something was protected from
// being read, or a mark was left over, it may.
func TestTwice(t *testing.T) {
	archives := corpus(t)
	for _, name := range []string{"lines", "tables", "scripts", "messages", "unchanged"} {
		for _, f := range archives["testdata/"+name+".txtar"].Files {
			for _, channel := range channels {
				first := style.Render(body(f), channel.bold)
				if again := style.Render(first, channel.bold); again != first {
					t.Errorf("%s of %s: %q became %q", channel.name, f.Name, first, again)
				}
			}
		}
	}
}
