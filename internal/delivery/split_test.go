package delivery_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2".
func TestSplit(t *testing.T) {
	family := "👨‍👩‍👧‍👦"
	tests := []struct {
		name, text string
		limit      int
		want       []string
	}{
		{"short stays whole", "hello", 10, []string{"hello"}},
		{"white space is nothing", " \n ", 10, nil},
		{"at a paragraph", "one two\n\nthree four", 14, []string{"one two", "three four"}},
		{"at a sentence", "It is red. It is big.", 14, []string{"It is red.", "It is big."}},
		{"at a word", "alpha beta gamma", 12, []string{"alpha beta", "gamma"}},
		{"a long word goes whole to the next piece", "hi abcdefghijk", 12, []string{"hi", "abcdefghijk"}},
		{"between graphemes", strings.Repeat(family, 3), 12, []string{family, family, family}},
		{"never in a link", "see https://a.example/b.c/d now", 26, []string{"see", "https://a.example/b.c/d", "now"}},
		{"a link longer than the limit", "https://a.example/0123456789", 20, []string{"https://a.example/01", "23456789"}},
		{"a grapheme longer than the limit", family, 4, []string{"👨‍", "👩‍", "👧‍", "👦"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, delivery.Split(tt.text, tt.limit)); diff != "" {
				t.Errorf("Split (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": nothing is cut off.
func TestSplitLosesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOf(rapid.RuneFrom([]rune("ab .\n,?é世😀\u200d👩https://"))).Draw(t, "text")
		limit := rapid.IntRange(4, 40).Draw(t, "limit")
		pieces := delivery.Split(text, limit)
		for _, p := range pieces {
			if n := manychat.UTF16Len(p); n > limit || n == 0 {
				t.Fatalf("a piece has %d units, the limit is %d", n, limit)
			}
		}
		if got, want := letters(strings.Join(pieces, "")), letters(text); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func letters(s string) string { return strings.Join(strings.Fields(s), "") }
