package conversation_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
)

// Holds docs/spec/02-inbound.md, "Request body": the text that keywords and the model see.
func TestPlain(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"nothing", "", ""},
		{"plain text stays", "Hello, how much is it?\n\tThanks", "Hello, how much is it?\n\tThanks"},
		{"lines of Windows", "one\r\ntwo\r\n", "one\ntwo\n"},
		{"a lone carriage return ends a line", "one\rtwo", "one\ntwo"},
		{"control characters", "a\x00b\x07c\x1bd\x7fe\u0085f\u009bg", "abcdefg"},
		{"soft hyphen", "re\u00adfund", "refund"},
		{"zero-width space", "re\u200bfund", "refund"},
		{"word joiner and byte order mark", "\ufeffre\u2060fund\ufeff", "refund"},
		{"invisible operators", "2\u2062x\u2063\u2064", "2x"},
		{"overrides of direction", "\u202edraobkcab\u202c \u202aa\u202b\u202d", "draobkcab a"},
		{"isolates", "\u2066a\u2067b\u2068c\u2069", "abc"},
		{"annotations", "\ufff9a\ufffab\ufffb", "ab"},
		{"words spelled in tags", "hi\U000e0001\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e0065\U000e007f", "hi"},
		{"the flag of Scotland", "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f!", "🏴!"},
		{"the flag of Italy", "🇮🇹", "🇮🇹"},
		{"a family is joined", "👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"},
		{"variation selectors", "❤\ufe0f ☎\ufe0e", "❤\ufe0f ☎\ufe0e"},
		{"skin tones", "👍🏽", "👍🏽"},
		{"Persian non-joiner", "می\u200cخواهم", "می\u200cخواهم"},
		{"marks of direction", "\u200fשלום\u200e!", "\u200fשלום\u200e!"},
		{"composed", "cafe\u0301", "café"},
		{"what stood between a letter and its accent", "e\u200b\u0301", "é"},
		{"not UTF-8", "a\xffb", "a\uFFFDb"},
		{"half an emoji", "a\uFFFD", "a\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := conversation.Plain(tt.text); got != tt.want {
				t.Errorf("Plain(%+q) = %+q, want %+q", tt.text, got, tt.want)
			}
		})
	}
}

// Holds docs/spec/02-inbound.md, "Request body": whatever a contact writes, its plain
// form is valid, composed, holds nothing that is to go, and is its own plain form.
func FuzzPlain(f *testing.F) {
	for _, seed := range []string{
		"", "hello", "a\r\u200b\nb", "\u202e\u2066\U000e0041", "e\u00ad\u0301", "\xff\xfe", "❤\ufe0f\u200d🔥", "\u1100\u200b\u1161",
		"a" + strings.Repeat("\u0301", 70), "\u0344\u0340\u2126",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := conversation.Plain(text)
		if !utf8.ValidString(got) || !norm.NFC.IsNormalString(got) {
			t.Errorf("Plain(%+q) = %+q: valid %t", text, got, utf8.ValidString(got))
		}
		if again := conversation.Plain(got); again != got {
			t.Errorf("Plain(%+q) = %+q, and the plain form of that is %+q", text, got, again)
		}
		if strings.ContainsAny(got, "\r\x00\x1b\x7f\u0085\u00ad\u200b\u2060\ufeff\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\U000e0020\U000e007f") {
			t.Errorf("Plain(%+q) = %+q", text, got)
		}
	})
}
