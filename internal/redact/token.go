package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

const (
	fewestHex    = 32 // 16 random bytes
	fewestRandom = 40
	contactToken = 43 // 32 random bytes in base64url; docs/spec/06-contact.md, "Contact token"
	fewestMixed  = 24 // of small and capital letters and digits together
	fewestAPIKey = 16 // behind the digits and the colon of a ManyChat API token
	fewestPrefix = 12 // behind sk- and its like
)

// keyPrefixes are what providers begin their keys with.
var keyPrefixes = [...]string{
	"sk-", "sk_", "pk_", "rk_", "ghp_", "gho_", "ghs_", "github_pat_", "glpat-",
	"xoxb-", "xoxp-", "xapp-", "whsec_", "AIza", "AKIA", "ASIA", "EAA", "gsk_", "hf_",
}

// findTokens takes out keys and tokens: long hexadecimal, what looks drawn at random,
// what a provider's prefix gives away, JSON Web Tokens and ManyChat's digits:secret.
func (f *finder) findTokens() {
	t := f.text
	for i := 0; i < len(t); {
		if !glyph.Is(t[i], glyph.Word) {
			i++
			continue
		}
		end := glyph.Run(t, i, glyph.Word)
		if stop := tokenEnd(t, i, end); stop > i {
			f.take(i, stop, token)
			i = stop
			continue
		}
		f.findHex(i, end)
		i = end
	}
}

// tokenEnd is the end of the token that begins with the word between start and end; 0
// when there is none.
func tokenEnd(t string, start, end int) int {
	text := t[start:end]
	switch {
	case strings.HasPrefix(text, "eyJ") && end < len(t) && t[end] == '.':
		stop := end
		for stop < len(t) && t[stop] == '.' && glyph.Run(t, stop+1, glyph.Word) > stop+1 {
			stop = glyph.Run(t, stop+1, glyph.Word)
		}
		if stop > end {
			return stop
		}
	case end < len(t) && t[end] == ':' && len(text) >= fewestDigits && glyph.Run(t, start, glyph.Digit) == end:
		stop := glyph.Run(t, end+1, glyph.Word)
		if stop-end-1 >= fewestAPIKey && glyph.Has(t[end+1:stop], glyph.Digit) {
			return stop
		}
	}
	switch {
	case hasKeyPrefix(text), looksRandom(text):
		return padded(t, end)
	case start == 0 || !glyph.In("+/", t[start-1]):
		return base64End(t, start)
	}
	return 0
}

// hasKeyPrefix reports whether a word is a provider's key.
func hasKeyPrefix(text string) bool {
	if len(text) < longWord {
		return false
	}
	for _, prefix := range keyPrefixes {
		if rest, ok := strings.CutPrefix(text, prefix); ok {
			return len(rest) >= fewestPrefix && glyph.Has(rest, glyph.Digit|glyph.Upper)
		}
	}
	return false
}

// looksRandom reports whether a word looks drawn at random: its letters change between
// small, capital and digit more often than those of names do. A word of just the length
// of 32 bytes, or a long one with digits and few marks, is hardly ever a name.
func looksRandom(text string) bool {
	n, many := len(text), changes(text)
	if n < fewestMixed || !glyph.Has(text, glyph.Upper) || !glyph.Has(text, glyph.Lower) {
		return false
	}
	digits := glyph.Has(text, glyph.Digit)
	switch {
	case n < fewestRandom:
		return digits && 20*many >= 9*n
	case n == contactToken, digits && strings.Count(text, "-")+strings.Count(text, "_") < 5:
		return 6*many >= n
	}
	return 3*many >= n
}

// base64End is the end of standard base64, which holds + and / too, from start on; 0
// for anything else, such as a path.
func base64End(t string, start int) int {
	end := start
	for end < len(t) && (glyph.Is(t[end], glyph.Alnum|glyph.Slash) || t[end] == '+') {
		end++
	}
	text := t[start:end]
	if len(text) < fewestRandom || !glyph.Has(text, glyph.Upper) || !glyph.Has(text, glyph.Lower) || !glyph.Has(text, glyph.Digit) {
		return 0
	}
	stop := padded(t, end)
	if 50*changes(text) >= 21*len(text) || stop > end && (stop-start)%4 == 0 && 3*changes(text) >= len(text) {
		return stop
	}
	return 0
}

// padded is the end with the padding of base64.
func padded(t string, end int) int {
	for range 2 {
		if end < len(t) && t[end] == '=' {
			end++
		}
	}
	return end
}

// findHex takes out what is long and hexadecimal, or long, in small letters and
// scattered with digits, between start and end; a UUID's parts are short.
func (f *finder) findHex(start, end int) {
	t := f.text
	for i := start; i < end; {
		stop := glyph.Run(t[:end], i, glyph.Alnum)
		part := strings.TrimPrefix(t[i:stop], "0x")
		if glyph.Run(part, 0, glyph.Digit|glyph.HexLetter) >= fewestHex && glyph.Has(part, glyph.Digit) ||
			len(part) >= fewestHex && 4*changes(part) >= len(part) && glyph.Has(part, glyph.Digit) {
			f.take(i, stop, token)
		}
		i = stop + 1
	}
}

// changes counts where a text goes from one kind of letter to another.
func changes(text string) int {
	count := 0
	var before glyph.Kind
	for i := range len(text) {
		now := glyph.Of(text[i]) & glyph.Alnum
		if now == 0 {
			continue
		}
		if before != 0 && now != before {
			count++
		}
		before = now
	}
	return count
}
