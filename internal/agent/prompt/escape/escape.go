// Package escape reads characters that are written in another way: as HTML, in a URL, in source
// code.
package escape

import (
	"html"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// longestEntity is a bound on an HTML entity's length in bytes: the longest name has 33.
const longestEntity = 40

// Signs are the characters that an escape begins with.
const Signs = `&%\`

// Begins reports whether an escape may begin with a character.
func Begins(c byte) bool { return c == '&' || c == '%' || c == '\\' }

// Read decodes the escape that a text begins with: an HTML entity, percent-encoding
// or an escape of source code, each also escaped again. The size is that of the escape
// in bytes, 0 when there is none.
func Read(text string) (decoded string, size int) {
	switch text[0] {
	case '&':
		return entity(text)
	case '%':
		return percent(text)
	case '\\':
		return backslash(text)
	}
	return "", 0
}

// entity decodes &lt; and the like, and &amp;lt;.
func entity(text string) (string, int) {
	i := 1
	for len(text)-i >= 4 && strings.EqualFold(text[i:i+4], "amp;") {
		i += 4
	}
	end := i
	for end < len(text) && end-i < longestEntity && (isAlnum(text[end]) || text[end] == '#') {
		end++
	}
	if end < len(text) && text[end] == ';' {
		end++
	}
	escaped := "&" + text[i:end]
	if escaped == "&" && i > 1 {
		return "&", i
	}
	for _, try := range []string{escaped, strings.ToLower(escaped)} { // &LT; is one, &Lsaquo; is not
		if decoded := html.UnescapeString(try); decoded != try {
			return decoded, end
		}
	}
	return "", 0
}

// percent decodes the bytes of one character, each as %3C, %3c or %253C.
func percent(text string) (string, int) {
	b, size := make([]byte, 0, utf8.UTFMax), 0
	for len(b) < utf8.UTFMax && !utf8.FullRune(b) {
		i := size
		if i >= len(text) || text[i] != '%' {
			return "", 0
		}
		for i++; strings.HasPrefix(text[i:], "25"); i += 2 {
		}
		c, ok := number(text, i, i+2, 16)
		if !ok {
			return "", 0
		}
		b, size = append(b, byte(c)), i+2
	}
	if !utf8.Valid(b) {
		return "", 0
	}
	return string(b), size
}

// backslash decodes \u003c, \u{3c}, \U0000003c, \x3c, \x{3c}, \074 and pairs of
// surrogates, behind any number of backslashes.
func backslash(text string) (string, int) {
	r, size := escapedRune(text)
	if size == 0 {
		return `\`, len(text) - len(strings.TrimLeft(text, `\`))
	}
	if utf16.IsSurrogate(r) {
		second, more := escapedRune(text[size:])
		if pair := utf16.DecodeRune(r, second); more > 0 && pair != utf8.RuneError {
			return string(pair), size + more
		}
	}
	return string(r), size
}

func escapedRune(text string) (rune, int) {
	i := len(text) - len(strings.TrimLeft(text, `\`))
	if i == 0 || i == len(text) {
		return 0, 0
	}
	digits, start, base := 0, i+1, 16
	switch text[i] {
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	case 'x', 'X':
		digits = 2
	case '0', '1', '2', '3', '4', '5', '6', '7':
		start, base = i, 8
		for digits < 3 && i+digits < len(text) && '0' <= text[i+digits] && text[i+digits] <= '7' {
			digits++
		}
	default:
		return 0, 0
	}
	end := start + digits
	if strings.HasPrefix(text[start:], "{") {
		inside := strings.IndexByte(text[start:min(len(text), start+10)], '}')
		if r, ok := number(text, start+1, start+inside, base); ok {
			return r, start + inside + 1
		}
		return 0, 0
	}
	if r, ok := number(text, start, end, base); ok {
		return r, end
	}
	return 0, 0
}

// number reads text[from:to] as the number of a character.
func number(text string, from, to, base int) (n rune, ok bool) {
	if to > len(text) || from >= to {
		return 0, false
	}
	for _, c := range []byte(strings.ToLower(text[from:to])) {
		digit := strings.IndexByte("0123456789abcdef"[:base], c)
		if n = n*rune(base) + rune(digit); digit < 0 || n > utf8.MaxRune {
			return 0, false
		}
	}
	return n, true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}
