package refusal

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxRunes is the longest message that [Redact] returns, the ellipsis aside.
const MaxRunes = 300

// MinRunes is the shortest secret that [Redact] looks for. Shorter ones, such as the
// value 7, are in every other word and tell nothing.
const MinRunes = 3

const (
	probeRunes = 8             // enough of a secret to know it by when an answer cuts it short
	readRunes  = 10 * MaxRunes // of a message are looked at
	redacted   = "[redacted]"
)

// Redact returns the message on one line, cut after [MaxRunes], without the secrets that
// have [MinRunes] or more; white space counts as one space. An answer that quotes only
// the beginning of a secret is covered from 8 runes on.
func Redact(message string, secrets ...string) string {
	message = prefix(oneLine(message), readRunes)
	covered := make([]bool, len(message)) // by byte, so that secrets may overlap
	for _, s := range secrets {
		cover(covered, message, oneLine(s))
	}
	var b strings.Builder
	for i := range len(message) {
		switch {
		case !covered[i]:
			b.WriteByte(message[i])
		case i == 0 || !covered[i-1]:
			b.WriteString(redacted)
		}
	}
	shown := strings.ToValidUTF8(b.String(), "") // a redaction may end inside a rune
	if cut := prefix(shown, MaxRunes); cut != shown {
		return cut + "…"
	}
	return shown
}

// cover marks every place in the message where the secret, or its beginning, stands.
func cover(covered []bool, message, secret string) {
	if utf8.RuneCountInString(secret) < MinRunes {
		return
	}
	probe := prefix(secret, probeRunes)
	for at := 0; ; at++ {
		next := strings.Index(message[at:], probe)
		if next < 0 {
			return
		}
		at += next
		for i := range common(message[at:], secret) {
			covered[at+i] = true
		}
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
