package tool_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/rivo/uniseg"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// cleaned is what a note of so many characters keeps of a text.
func cleaned(text string, most int) string {
	d := tool.NewDesk(tool.Turn{Tools: &tenant.Tools{Notes: []tenant.Note{{ID: "n", MaxLength: most}}}})
	arguments, err := json.Marshal(map[string]string{"note": "n", "text": text})
	if err != nil {
		return "not JSON"
	}
	d.Tools()[0].Call(1, arguments)
	result := d.Close()
	if len(result.Pending) == 0 {
		return ""
	}
	if n := utf8.RuneCountInString(result.Pending[0].Text); result.Record[0].Length != n || result.Calls[0].Length != n {
		return "not its length"
	}
	return result.Pending[0].Text
}

// Holds docs/spec/07-tools.md, "Notes".
func TestNotes(t *testing.T) {
	family := "👨‍👩‍👧‍👦" // 7 code points
	tests := []struct {
		name, text string
		most       int
		want       string
	}{
		{"plain", "Wants a bowl.", 40, "Wants a bowl."},
		{"white space", " \tWants\n\n a\u00a0bowl\u2028. ", 40, "Wants a bowl ."},
		{"control characters", "Wa\x00nts\x1b[1m a \x7fbowl", 40, "Wants[1m a bowl"},
		{"what no one sees", "W\u200ba\u202en\ufefft\u2066s\u00ad a\u200e \u3164b\u034fo\u061cw\U000e0041l", 40, "Wants a bowl"},
		{"joiners that matter", family + " می\u200cخواهم", 40, family + " می\u200cخواهم"},
		{"telephone", "Call 0170 1234567 at 5", 40, "Call [removed] at 5"},
		{"telephone over a line", "Call 0170\n1234567 at 5", 40, "Call [removed] at 5"},
		{"telephone with something unseen in it", "Call 0170\u200b1234\u2060567 now", 40, "Call [removed] now"},
		{"telephone in other digits", "Call ٠١٧٠١٢٣٤٥٦٧ now", 40, "Call [removed] now"},
		{"e-mail", "ada@example.com, evenings", 40, "[removed], evenings"},
		{"link", "Saw https://example.com/a?b=c today", 40, "Saw [removed] today"},
		{"link to a picture", "https://example.com/a.png", 40, "[removed]"},
		{"long number", "Order 900000001 is late", 40, "Order [removed] is late"},
		{"token", "sk-abcdefghij1234567890ABCD", 40, "[removed]"},
		{"secret", "password=hunter2 works", 40, "password=[removed] works"},
		{"bracketed already", "Asked for [phone] and [removed]", 40, "Asked for [phone] and [removed]"},
		{"to the word", "Wants a bowl for breakfast", 14, "Wants a bowl"},
		{"to the word's last letter", "Wants a bowl for breakfast", 12, "Wants a bowl"},
		{"exactly", "Wants a bowl", 12, "Wants a bowl"},
		{"a word that is too long", "Donaudampfschifffahrt", 10, "Donaudampf"},
		{"a word that is too long behind another", "Die Donaudampfschifffahrt", 10, "Die"},
		{"script without spaces", "想要一个早餐碗", 4, "想要一个"},
		{"script without spaces behind a word", "Hi 想要一个早餐碗", 6, "Hi 想要一"},
		{"between characters as seen", family + family, 10, family},
		{"one character that is too long", family, 3, "👨‍👩"},
		{"not within a mark", "a900000001", 6, "a"},
		{"not even a mark", "900000001", 6, ""},
		{"a shape that the cut brings out", "Costs 123.456.789 EUR", 17, "Costs [removed]"},
		{"this machine", "See http://localhost/admin?x=1 or http://127.0.0.1:3000/x", 60, "See [removed] or [removed]"},
		{"a bare host", "Pay at evil-bank.com or evil.com:8080", 40, "Pay at [removed] or [removed]"},
		{"a number in parts", "555*123*4567 or 555|123|4567 or 555⠀123⠀4567", 60, "[removed] or [removed] or [removed]"},
		{"dates, times and prices", "10.12.2026 18:30, 11.12.2026 from 9:00, 1.250,50 EUR", 60, "10.12.2026 18:30, 11.12.2026 from 9:00, 1.250,50 EUR"},
		{"a variable", "Hi {{cuf_12345}} and {{ last_input_text | x }}", 40, "Hi [removed] and [removed]"},
		{"a variable in a variable", "{{a{{cuf_1}}b}} {{{cuf_1}}}", 40, "{a[removed]b} [removed]"},
		{"a variable put together", "{{{{cuf_1}}cuf_2}}", 40, "[removed]cuf_2}"},
		{"a variable with something unseen in it", "{\u200b{cuf_1}\u2060}", 40, "[removed]"},
		{"half a variable", "{{cuf_1 and }} and {x}", 40, "[removed] and {x}"},
		{"an open variable", "Hi {{cuf_1", 40, "Hi {cuf_1"},
		{"a formula", "=HYPERLINK(\"x\") now", 40, "HYPERLINK(\"x\") now"},
		{"a formula of another kind", " @SUM(1) ", 40, "SUM(1)"},
		{"a formula behind signs", "+-=- =cmd|' /C calc'!A0", 40, "cmd|' /C calc'!A0"},
		{"a formula behind what no one sees", "\u200b\u2800＝1+1", 40, "1+1"},
		{"an item of a list", "- wants a bowl", 40, "wants a bowl"},
		{"a negative number", "-5 % asked for", 40, "−5 % asked for"},
		{"signs alone", "=+-@", 40, ""},
		{"a sign within", "5 = 3 + 2 - @", 40, "5 = 3 + 2 - @"},
		{"blank cells", "\u2800\u2800", 40, ""},
		{"a head that is not drawn", "\U0001d159", 40, ""},
		{"controls of a script", "a\U0001bca0b \U00013430", 40, "ab"},
		{"a sign of a script", "\u0600 1", 40, "\u0600 1"},
		{"more than is read", strings.Repeat("\u200b", 81) + "bowl", 10, ""},
		{"as much as is read", strings.Repeat("\u200b", 76) + "bowl", 10, "bowl"},
		{"nothing", "", 40, ""},
		{"white space only", " \n\t", 40, ""},
		{"nothing to see", "\u200d\ufe0f\u200b", 40, ""},
		{"no UTF-8 in an escape", "a\ufffdb", 40, "a\ufffdb"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := cleaned(tt.text, tt.most)
			same(t, "note", tt.want, got)
			if got != "" {
				same(t, "cleaned again", got, cleaned(got, tt.most))
			}
		})
	}
}

// Holds docs/spec/07-tools.md, "Notes", whatever a model writes: no shape of what must not be
// kept, nothing that no one sees, one line, within its length, and the same when cleaned again.
func TestNotesAlways(t *testing.T) {
	pieces := []string{"a", "bowl", " ", "\n", "0170", "1234567", "123.456.789", " EUR", "ada@", "example.com", "https://", "/x.png", "token=", "password: ", "[removed]", "[rem",
		"٠١٢٣٤", "想要", "👨‍👩‍👧‍👦", "\u0301", "\u200b", "\u200d", "\ufe0f", "\u3164", "\x00", "\U000e0041", "ข้าว", "é", "-", "(", "Bearer ", "sk-abcdefghij1234567890", "\u202e", "'", `"`, "{{", "}}", "{", "cuf_1", "=", "+", "@", "\u2800", ".com", "evil", "*", "|"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(pieces), rapid.StringN(0, 4, -1)), 0, 30).Draw(t, "pieces"), "")
		most := rapid.IntRange(1, 60).Draw(t, "most")
		got := cleaned(text, most)
		if got == "" {
			return
		}
		again := cleaned(got, most)
		switch {
		case again != got:
			t.Errorf("cleaned(%q, %d) is %q, and again %q", text, most, got, again)
		case redact.Text(got) != got || redact.Removed(got) != got || strings.Contains(got, "{{") || strings.Contains("=+-@", got[:1]):
			t.Errorf("%q is kept of %q", got, text)
		case utf8.RuneCountInString(got) > most || !utf8.ValidString(got):
			t.Errorf("%q is kept of %q, at most %d", got, text, most)
		case strings.TrimSpace(got) != got || strings.Contains(got, "  ") || strings.ContainsFunc(got, func(r rune) bool { return unicode.IsControl(r) || r != ' ' && unicode.IsSpace(r) }):
			t.Errorf("%q is kept of %q", got, text)
		}
	})
}

// Holds docs/spec/07-tools.md, "Notes": a text of any length costs what its beginning does.
func TestLongNotesCostLittle(t *testing.T) {
	for _, piece := range []string{"=", "a=", "1*", "a.b ", "{{", "{{}}", "0170 1234567 ", "\u200b", "ada@", "[removed"} {
		cost := func(n int) float64 {
			d := tool.NewDesk(tool.Turn{Tools: &tenant.Tools{Notes: []tenant.Note{{ID: "n", MaxLength: 20}}}})
			arguments, err := json.Marshal(map[string]string{"note": "n", "text": strings.Repeat(piece, n)})
			if err != nil || len(arguments) > 32<<10 {
				t.Fatalf("%d bytes, %v", len(arguments), err)
			}
			return testing.AllocsPerRun(5, func() { d.Tools()[0].Call(1, arguments) })
		}
		if short, long := cost(200), cost(30_000/len(piece)); long > short+20 {
			t.Errorf("of %q: %v allocations for a long text, %v for a short one", piece, long, short)
		}
	}
}

// Holds docs/spec/07-tools.md, "Notes": what is cut is a beginning, and no character is cut
// that is short enough to stay.
func TestCutKeepsABeginning(t *testing.T) {
	pieces := []string{"bowl", " ", "想要", "👨‍👩‍👧‍👦", "e\u0301", "don't", "x-y", "ข้าว", "🇵🇹"}
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(strings.Fields(strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 30).Draw(t, "pieces"), "")), " ")
		most := rapid.IntRange(8, 60).Draw(t, "most")
		whole := cleaned(text, 1000)
		got := cleaned(text, most)
		if !strings.HasPrefix(whole, got) || utf8.RuneCountInString(whole) <= most && got != whole || got == "" && whole != "" {
			t.Fatalf("%q is kept of %q, at most %d", got, whole, most)
		}
		if a, b := uniseg.GraphemeClusterCount(got), uniseg.GraphemeClusterCount(whole[len(got):]); a+b != uniseg.GraphemeClusterCount(whole) {
			t.Errorf("%q of %q, at most %d, ends within a character", got, whole, most)
		}
	})
}
