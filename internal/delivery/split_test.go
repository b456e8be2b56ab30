package delivery_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2".
func TestSplit(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	zalgo := "a" + strings.Repeat("\u0301", 9)
	tests := []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"short stays whole", "hello", 10, []string{"hello"}},
		{"exactly the limit", "hello", 5, []string{"hello"}},
		{"white space is nothing", " \n ", 10, nil},
		{"white space around", "\n hello  world \n", 8, []string{"hello", "world"}},
		{"at a paragraph", "one two\n\nthree four", 14, []string{"one two", "three four"}},
		{"at a paragraph before a line", "one two three\n\nfour\nfive six", 22, []string{"one two three", "four\nfive six"}},
		{"at a paragraph of Windows", "one two three\r\n\r\nfour\r\nfive six", 24, []string{"one two three", "four\r\nfive six"}},
		{"at a line", "one two three\nfour. five six", 24, []string{"one two three", "four. five six"}},
		{"at a sentence", "It is red. It is big.", 14, []string{"It is red.", "It is big."}},
		{"at a sentence in quotes", `He said "Yes." Then he left.`, 24, []string{`He said "Yes."`, "Then he left."}},
		{"at a sentence in bold", "Get *all of them.* Then see", 25, []string{"Get *all of them.*", "Then see"}},
		{"at a clause", "red or blue, not green or so", 20, []string{"red or blue,", "not green or so"}},
		{"at a word", "alpha beta gamma", 12, []string{"alpha beta", "gamma"}},
		{"at a word that fills the piece", "alpha beta gamma", 10, []string{"alpha beta", "gamma"}},
		{"a long word goes whole to the next piece", "hi abcdefghijk", 12, []string{"hi", "abcdefghijk"}},
		{"a word longer than the limit", "abcdefghijk", 5, []string{"abcde", "fghij", "k"}},
		{"not in a decimal", "The rate now is 1.5 today", 19, []string{"The rate now is 1.5", "today"}},
		{"not behind an abbreviation", "Now call Dr. Ana Lima", 16, []string{"Now call Dr. Ana", "Lima"}},
		{"not behind an abbreviation before a small letter", "Bring soap, e.g. two or more", 23, []string{"Bring soap,", "e.g. two or more"}},
		{"not behind an abbreviation that is longer", "It takes about, approx. ten or so", 24, []string{"It takes about,", "approx. ten or so"}},
		{"not behind an abbreviation with dots", "Drop it, U.S.A. Today and", 17, []string{"Drop it,", "U.S.A. Today and"}},
		{"not behind a date", "Wir sind am 5. Mai da", 16, []string{"Wir sind am 5.", "Mai da"}},
		{"not behind the number of a list", "Bring this:\n1. soap\n2. towel", 22, []string{"Bring this:\n1. soap", "2. towel"}},
		{"a number stays with its text", "1. abcdefgh ijkl", 12, []string{"1. abcdefgh", "ijkl"}},
		{"a bullet stays with its text", "abc def\n- ghijklm", 12, []string{"abc def", "- ghijklm"}},
		{"an amount stays with its unit", "the price is 5\u00a0€ now", 15, []string{"the price is", "5\u00a0€ now"}},
		{"Arabic sentences", "ما السعر؟ السعر خمسون دينار", 18, []string{"ما السعر؟", "السعر خمسون دينار"}},
		{"Chinese sentences", "我们九点开门。请早点来，谢谢。", 10, []string{"我们九点开门。", "请早点来，谢谢。"}},
		{"Chinese clauses", "我们每天九点开门，请早点来谢谢", 12, []string{"我们每天九点开门，", "请早点来谢谢"}},
		{"Japanese quotes", "「九時に開店。」そしてまた来て", 11, []string{"「九時に開店。」", "そしてまた来て"}},
		{"a quote stays closed", "九時。「明日も開店。」そして", 10, []string{"九時。", "「明日も開店。」", "そして"}},
		{"a full stop that carries a mark", "你好。\u0301你好你好", 6, []string{"你好。\u0301你好", "你好"}},
		{"a sentence too early is not looked for", "Oh. One two three four", 16, []string{"Oh. One two", "three four"}},
		{"Hindi sentences", "हम खुले हैं। कल फिर आइए।", 18, []string{"हम खुले हैं।", "कल फिर आइए।"}},
		{"Thai, between graphemes", "ที่นี่ที่นี่", 7, []string{"ที่นี่", "ที่นี่"}},
		{"between graphemes", strings.Repeat(family, 3), 12, []string{family, family, family}},
		{"between flags", "🇪🇸🇵🇹🇩🇪", 10, []string{"🇪🇸🇵🇹", "🇩🇪"}},
		{"between skin tones", "👍🏽👍🏽", 6, []string{"👍🏽", "👍🏽"}},
		{"beyond the basic plane counts two", "😀😀😀", 5, []string{"😀😀", "😀"}},
		{"space that carries a mark", "abc \u0301 def ghi", 6, []string{"abc \u0301", "def", "ghi"}},
		{"never in a link", "see https://a.example/b.c/d now", 26, []string{"see", "https://a.example/b.c/d", "now"}},
		{"never in a link without a scheme", "see a.example/b.c/d/e now", 20, []string{"see", "a.example/b.c/d/e", "now"}},
		{"a link longer than the limit", "https://a.example/0123456789", 20, []string{"https://a.example/01", "23456789"}},
		{"a link longer than the limit in a text", "see https://a.example/0123456789 now", 20, []string{"see", "https://a.example/01", "23456789 now"}},
		{"a link behind letters", "世世世https://a.example/b", 20, []string{"世世世", "https://a.example/b"}},
		{"a link that a grapheme runs into", "看看\u0600https://a.example/b", 20, []string{"看看", "\u0600https://a.example/b"}},
		{"a link in brackets", "(https://a.example/b) and more", 23, []string{"(https://a.example/b)", "and more"}},
		{"a grapheme longer than the limit", family, 4, []string{"👨‍", "👩‍", "👧‍", "👦"}},
		{"marks longer than the limit", zalgo + zalgo, 4, []string{"a\u0301\u0301\u0301", "\u0301\u0301\u0301\u0301", "\u0301\u0301", "a\u0301\u0301\u0301", "\u0301\u0301\u0301\u0301", "\u0301\u0301"}},
		{"bytes that are no text", "\xff\xfe\xfd", 2, []string{"\xff\xfe", "\xfd"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, delivery.Split(tt.text, tt.limit)); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": a pair of WhatsApp's marks
// stays together where the channel shows it.
func TestSplitKeepsMarksTogether(t *testing.T) {
	lead := strings.Repeat("word ", 390) // 1950 units
	bold := "*" + strings.Repeat("bold ", 19) + "bold*"
	long := "*" + strings.Repeat("bold ", 500) + "bold*"
	tests := []struct {
		name    string
		channel contact.Channel
		text    string
		want    []string
	}{
		{"bold", contact.WhatsApp, lead + bold + " end", []string{strings.TrimSpace(lead), bold + " end"}},
		{"two lines of bold", contact.WhatsApp, lead + "*a*\n" + bold, []string{lead + "*a*", bold}},
		{"a footnote is no pair", contact.WhatsApp, lead + "5* and then go on for long enough to be cut now, 6*", []string{lead + "5* and then go on for long enough to be cut now,", "6*"}},
		{"bold longer than a text is cut", contact.WhatsApp, long, []string{long[:1996] + "bold", strings.TrimSpace(long[2000:])}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, shapeOf(t, tt.channel, true).Texts([]string{tt.text})); diff != "" {
				t.Errorf("Texts (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": nothing is cut off, nothing
// is longer than the limit, and no grapheme and no URL is cut that fits a text.
func TestSplitLosesNothing(t *testing.T) {
	pieces := []string{"a", "b", " ", ".", "\n", "\r\n", ",", "?", "é", "世", "。", "😀", "\u200d", "👩", "\u0301", "🇪", "🏽",
		"https://", "https://a.example/b", "*", "*b*", "1. ", "- ", "\u00a0", "\u0600", "\"", "(", ")", "กำ"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")
		checkSplit(t, text, rapid.IntRange(2, 40).Draw(t, "limit"))
	})
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": the same of any text.
func FuzzSplit(f *testing.F) {
	f.Add("It is red. It is big.", 14)
	f.Add("see https://a.example/b.c/d now", 26)
	f.Add("👨‍👩‍👧‍👦🇪🇸e\u0301\u0301\u0301", 4)
	f.Add("1. one\r\n2. two\n\n我们九点开门。「好。」", 7)
	f.Add("a \u0301\u00a0\u0600 b\xff", 2)
	f.Fuzz(func(t *testing.T, text string, limit int) {
		limit = max(2, limit%3000)
		for _, p := range delivery.Split(text, limit) {
			if n := manychat.UTF16Len(p); n > limit || n == 0 {
				t.Fatalf("%q at %d: a piece has %d units", text, limit, n)
			}
		}
		checkSplit(t, strings.ToValidUTF8(text, "\uFFFD"), limit)
	})
}

// written finds what is a URL for certain: of simple characters, between white space.
var written = regexp.MustCompile(`(?:^|\s)(https?://[a-z0-9./]+)(?:\s|$)`)

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

// checkSplit splits a text and checks what holds for every text.
func checkSplit(t failer, text string, limit int) {
	t.Helper()
	cuts := map[int]bool{} // where pieces begin and end
	at := 0
	for _, p := range delivery.Split(text, limit) {
		if n := manychat.UTF16Len(p); n > limit || n == 0 {
			t.Fatalf("%q at %d: a piece has %d units", text, limit, n)
		}
		next := strings.Index(text[at:], p)
		if next < 0 || strings.TrimFunc(text[at:at+next], unicode.IsSpace) != "" {
			t.Fatalf("%q at %d: %q is not the next piece", text, limit, p)
		}
		cuts[at+next], cuts[at+next+len(p)] = true, true
		at += next + len(p)
	}
	if strings.TrimFunc(text[at:], unicode.IsSpace) != "" {
		t.Fatalf("%q at %d: %q is lost", text, limit, text[at:])
	}
	for from, state, rest := 0, -1, text; rest != ""; {
		var g string
		g, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		whole(t, cuts, split{text, limit, from, from + len(g)})
		from += len(g)
	}
	for _, u := range written.FindAllStringSubmatchIndex(text, -1) {
		whole(t, cuts, split{text, limit, u[2], u[3]})
	}
}

// split is a stretch of a text that is split.
type split struct {
	text             string
	limit, from, end int
}

// whole checks that a stretch is not cut, if it fits a piece; white space at its end may
// be lost.
func whole(t failer, cuts map[int]bool, s split) {
	t.Helper()
	stretch := s.text[s.from:s.end]
	if manychat.UTF16Len(stretch) > s.limit || strings.TrimFunc(stretch, unicode.IsSpace) == "" {
		return
	}
	for at := s.from + 1; at < s.end; at++ {
		if cuts[at] && strings.TrimFunc(s.text[at:s.end], unicode.IsSpace) != "" {
			t.Fatalf("%q at %d: %q is cut", s.text, s.limit, stretch)
		}
	}
}
