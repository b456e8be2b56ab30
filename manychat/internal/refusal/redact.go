package refusal

import (
	"strings"
	"unicode"
)

// MaxRunes is the longest message that [Redact] returns, the ellipsis aside.
const MaxRunes = 300

const (
	probeRunes = 8 // enough of a secret to know it by when an answer cuts it short
	redacted   = "[redacted]"
)

// Redact returns the message on one line, without the secrets and cut after [MaxRunes].
// An answer that quotes only the beginning of a secret is covered from 8 runes on.
func Redact(message string, secrets ...string) string {
	message = oneLine(message)
	for _, s := range secrets {
		message = redactOne(message, oneLine(s))
	}
	message = strings.ToValidUTF8(message, "") // a redaction may end inside a rune
	if cut := prefix(message, MaxRunes); cut != message {
		return cut + "…"
	}
	return message
}

func redactOne(message, secret string) string {
	if secret == "" {
		return message
	}
	probe := prefix(secret, probeRunes)
	var b strings.Builder
	for {
		before, found, ok := strings.Cut(message, probe)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		b.WriteString(redacted)
		message = found[common(found, secret[len(probe):]):]
	}
}

// common returns the length in bytes of the longest common prefix.
func common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// oneLine makes the text valid UTF-8 and turns every run of space and control
// characters into one space.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}

// prefix returns the first n runes of s, or all of it.
func prefix(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}
