package address_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/delivery/style/address"
)

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": what is a URL, which is never
// altered and never cut.
func TestFind(t *testing.T) {
	tests := []struct {
		name, text string
		want       []string
	}{
		{"none", "we open at 9:00, 5/10 or a/b. Hello: you", nil},
		{"with a scheme", "see https://a.example/b?c=d#e now", []string{"https://a.example/b?c=d#e"}},
		{"two", "http://a.example\nftp://b.example/c", []string{"http://a.example", "ftp://b.example/c"}},
		{"with www", "see www.a.example or WWW.b.example", []string{"www.a.example", "WWW.b.example"}},
		{"a host with a path", "see a.example/b and c.d.example/", []string{"a.example/b", "c.d.example/"}},
		{"not a name", "see a.b, v1.2/3, x.y1/z, a@b.example/c and wwww.x", nil},
		{"punctuation belongs to it for now", "at https://a.example/b.", []string{"https://a.example/b."}},
		{"up to a bracket that it did not open", "(https://a.example/b_(c)) [https://d.example/[e]]", []string{"https://a.example/b_(c)", "https://d.example/[e]"}},
		{"up to a quote", `"https://a.example/b" <https://c.example>`, []string{"https://a.example/b", "https://c.example"}},
		{"up to other punctuation", "https://a.example/b，c https://d.example/é…", []string{"https://a.example/b", "https://d.example/é"}},
		{"other letters", "https://пример.example/цена", []string{"https://пример.example/цена"}},
		{"nothing behind the scheme", "https:// and :// and x://", nil},
		{"behind a letter of another script", "看https://a.example", []string{"https://a.example"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, at := range address.Find(tt.text) {
				got = append(got, tt.text[at[0]:at[1]])
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Find (-want +got):\n%s", diff)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Response: Dynamic Block v2": a link becomes its label and
// its address.
func TestTargets(t *testing.T) {
	tests := []struct {
		target, label string
		is            bool
		shown         string
		same          bool
	}{
		{"https://a.example/b", "our page", true, "https://a.example/b", false},
		{"https://a.example/b", "a.example/b", true, "https://a.example/b", true},
		{"https://www.a.example/", "A.example", true, "https://www.a.example/", true},
		{"https://a.example/b", "https://a.example", true, "https://a.example/b", false},
		{"https://a.example/", "https://a.example", true, "https://a.example/", true},
		{"http://a.example", "https://a.example", true, "http://a.example", false},
		{"https://a.example/b", "", true, "https://a.example/b", true},
		{"a.example/b", "here", true, "a.example/b", false},
		{"/prices", "here", true, "/prices", false},
		{"#top", "top", true, "", false},
		{"mailto:a@b.example", "write", true, "a@b.example", false},
		{"mailto:a@b.example?subject=x", "write", true, "mailto:a@b.example?subject=x", false},
		{"a@b.example", "a@b.example", true, "a@b.example", true},
		{"tel:+10000000000", "+1 (000) 000-0000", true, "+10000000000", true},
		{"see below", "sic", false, "see below", false},
		{"2.5", "1", false, "2.5", false},
		{"x", "0", false, "x", false},
	}
	for _, tt := range tests {
		if got := address.Is(tt.target); got != tt.is {
			t.Errorf("Is(%q) = %t", tt.target, got)
		}
		shown := address.Shown(tt.target)
		if shown != tt.shown {
			t.Errorf("Shown(%q) = %q, want %q", tt.target, shown, tt.shown)
		}
		if got := address.Same(tt.label, shown); got != tt.same {
			t.Errorf("Same(%q, %q) = %t", tt.label, shown, got)
		}
	}
}
