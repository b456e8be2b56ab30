package refusal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/internal/refusal"
)

// Holds docs/spec/05-delivery.md, "ManyChat client": error bodies come as message with
// details.messages[] (objects or strings), or with an integer code.
func TestDecode(t *testing.T) {
	tests := []struct {
		name, body, message string
		code                int
	}{
		{"objects", `{"message":"a","details":{"messages":[{"message":"b"},{"message":"c"}]}}`, "a: b: c", 0},
		{"strings", `{"message":"a","details":{"messages":["b","c"]}}`, "a: b: c", 0},
		{"bare string", `{"message":"a","details":{"messages":"b"}}`, "a: b", 0},
		{"details without message", `{"details":{"messages":["b"]}}`, "b", 0},
		{"details as a list", `{"message":"a","details":["b",{"message":"c"}]}`, "a: b: c", 0},
		{"details that repeat the message", `{"message":"a","details":{"messages":[{"message":"a"},{"message":"b"},"b"]}}`, "a: b", 0},
		{"code", `{"message":"a","code":3011}`, "a", 3011},
		{"code as text", `{"message":"a","code":"3011"}`, "a", 0},
		{"code too big", `{"message":"a","code":1e99}`, "a", 0},
		{"message as number", `{"message":5}`, "", 0},
		{"a list", `["a"]`, "", 0},
		{"null", `null`, "", 0},
		{"HTML", `<html>`, "", 0},
		{"empty", ``, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			message, code := refusal.Decode([]byte(tt.body))
			if message != tt.message || code != tt.code {
				t.Errorf("Decode = %q, %d; want %q, %d", message, code, tt.message, tt.code)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) }
	tests := map[string]time.Duration{
		"":                              0,
		"0":                             0,
		"120":                           2 * time.Minute,
		"-5":                            0,
		"soon":                          0,
		"1.5":                           0,
		"99999999":                      24 * time.Hour,
		"Mon, 30 Nov 2026 12:00:45 GMT": 45 * time.Second,
		"Mon, 30 Nov 2026 11:00:00 GMT": 0,
		"Thu, 31 Dec 9999 23:59:59 GMT": 24 * time.Hour,
	}
	for header, want := range tests {
		if got := refusal.RetryAfter(header, now); got != want {
			t.Errorf("RetryAfter(%q) = %v, want %v", header, got, want)
		}
	}
}

// Holds docs/spec/01-principles.md, C5.
func TestRedact(t *testing.T) {
	tests := []struct {
		name, message, want string
		secrets             []string
	}{
		{"nothing to hide", "Wrong field", "Wrong field", []string{"", "12345"}},
		{"every occurrence", "12345 is not 12345", "[redacted] is not [redacted]", []string{"12345"}},
		{"several secrets", "a-secret b-secret", "[redacted] [redacted]", []string{"a-secret", "b-secret"}},
		{"cut short", "got 'Ada lives i...'", "got '[redacted]...'", []string{"Ada lives in Springfield"}},
		{"too short to know", "Ada liv", "Ada liv", []string{"Ada lives in Springfield"}},
		{"too short to search for", "Wrong field a", "Wrong field a", []string{"a", "ie", "", " 1 "}},
		{"three runes", "got éàü", "got [redacted]", []string{"éàü"}},
		{"the mark itself", "got 12345 red", "got [redacted] [redacted]", []string{"12345", "red"}},
		{"a secret in a secret", "got I am 12345, call me", "got [redacted]", []string{"12345", "I am 12345, call me"}},
		{"overlapping secrets", "got one two three", "got [redacted]", []string{"one two", "two three"}},
		{"a secret after its own beginning", "abcabcabcabX", "[redacted]", []string{"abcabcabX"}},
		{"other spaces", "got Ada\tlives\n in Springfield.", "got [redacted].", []string{"Ada lives\nin  Springfield"}},
		{"cut inside a rune", "Ada liveé!", "[redacted]!", []string{"Ada liveè"}},
		{"control characters", "a\x00b\r\nc\u0085d", "a b c d", nil},
		{"invalid UTF-8", "a\xffb", "a\uFFFDb", nil},
		{"as long as allowed", strings.Repeat("é", 300), strings.Repeat("é", 300), nil},
		{"too long", strings.Repeat("é", 301), strings.Repeat("é", 300) + "…", nil},
		{"secret across the cut", strings.Repeat("x", 295) + "Ada lives", strings.Repeat("x", 295) + "[reda…", []string{"Ada lives"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := refusal.Redact(tt.message, tt.secrets...); got != tt.want {
				t.Errorf("Redact = %q, want %q", got, tt.want)
			}
		})
	}
}
