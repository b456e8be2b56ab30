package placeholder_test

import (
	"encoding/json"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/placeholder"
)

func lookup(values map[string]any) placeholder.Lookup {
	return func(name string) (any, bool) {
		v, ok := values[name]
		return v, ok
	}
}

// Holds docs/reference/manychat-platform.md, 1.8 and 4.5.
func TestRender(t *testing.T) {
	values := lookup(map[string]any{"s": "a \"b\"\n<c>", "n": 2.5, "big": 1e21, "b": true, "none": nil})
	tests := []struct{ text, raw, encoded string }{
		{"", "", ""},
		{"plain } { {x}", "plain } { {x}", "plain } { {x}"},
		{"[{{s}}]", "[a \"b\"\n<c>]", `["a \"b\"\n<c>"]`},
		{"{{ n }}{{b}}", "2.5true", `"2.5""true"`},
		{"{{big}}", "1000000000000000000000", `"1000000000000000000000"`},
		{"<{{none}}>", "<>", `<"">`},
		{"{{cuf_1}} {{open", "{{cuf_1}} {{open", "{{cuf_1}} {{open"},
	}
	for _, tt := range tests {
		if diff := cmp.Diff([]string{tt.raw, tt.encoded}, []string{placeholder.Raw(tt.text, values), placeholder.Encoded(tt.text, values)}); diff != "" {
			t.Errorf("%q:\n%s", tt.text, diff)
		}
	}
}

// What is filled into JSON strings arrives as it was, and JSON stays JSON.
func FuzzStrings(f *testing.F) {
	for _, seed := range []string{"", "a\"b", "\\", "line\nbreak", "{{x}}", "\u2028<>&", "😀"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if !utf8.ValidString(value) {
			return // JSON cannot carry it
		}
		var got map[string]string
		filled := placeholder.Strings([]byte(`{"a":"<{{x}}>"}`), lookup(map[string]any{"x": value}))
		if err := json.Unmarshal([]byte(filled), &got); err != nil {
			t.Fatalf("%s: %v", filled, err)
		}
		if got["a"] != "<"+value+">" {
			t.Errorf("got %q, want %q", got["a"], value)
		}
	})
}
