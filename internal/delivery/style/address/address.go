// Package address recognises where links lead in what people and models write: URLs that
// are written out, and the addresses of Markdown and HTML links.
package address

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Find returns where the URLs of a text are, as byte offsets from and to: what has a
// scheme, begins with www, or is a host with a path. Each reaches to the next white
// space or to what no URL holds, so the punctuation of a sentence may be part of it.
func Find(text string) [][2]int {
	var found [][2]int
	for i, from := 0, 0; i < len(text); i++ {
		if !MayBe(text[i]) {
			continue
		}
		if start, end := At(text, i, from); end > i {
			found = append(found, [2]int{start, end})
			i, from = end-1, end
		}
	}
	return found
}

// MayBe reports whether a URL is recognised at the byte.
func MayBe(c byte) bool { return c == ':' || c == '/' || c == 'w' || c == 'W' }

// At returns the URL that is recognised at offset i and begins at from or later; end
// is 0 when there is none.
func At(s string, i, from int) (start, end int) {
	switch s[i] {
	case ':':
		if !strings.HasPrefix(s[i:], "://") {
			return 0, 0
		}
		if start = schemeStart(s, i, from); start == i {
			return 0, 0
		}
		if end = endOf(s, i+3); end == i+3 {
			return 0, 0
		}
	case '/':
		if start = hostStart(s, i, from); start == i {
			return 0, 0
		}
		end = endOf(s, i)
	default:
		if len(s)-i < 5 || !strings.EqualFold(s[i:i+4], "www.") || !alnum(s[i+4]) || i > from && joins(s[i-1]) {
			return 0, 0
		}
		start, end = i, endOf(s, i)
	}
	return start, end
}

// maxScheme and maxHost bound how far back a scheme and a host are looked for.
const (
	maxScheme = 20
	maxHost   = 253 // the longest name that DNS has
)

// schemeStart returns where the scheme begins that ends at i, or i.
func schemeStart(s string, i, from int) int {
	start := i
	for j := i - 1; j >= max(from, i-maxScheme) && (alnum(s[j]) || strings.IndexByte("+-.", s[j]) >= 0); j-- {
		if c := s[j] | 0x20; 'a' <= c && c <= 'z' {
			start = j
		}
	}
	return start
}

// hostStart returns where the host begins that ends at the slash at i, or i: letters,
// digits and hyphens with a dot between, the last part of two letters or more.
func hostStart(s string, i, from int) int {
	start := i
	for start > max(from, i-maxHost) && (alnum(s[start-1]) || s[start-1] == '-' || s[start-1] == '.') {
		start--
	}
	if !isHost(s[start:i]) || start > from && joins(s[start-1]) {
		return i
	}
	return start
}

// isHost reports whether a string looks like a host name with a top-level domain.
func isHost(s string) bool {
	dot := strings.LastIndexByte(s, '.')
	if dot < 1 || len(s)-dot < 3 || s[0] == '.' {
		return false
	}
	for i := dot + 1; i < len(s); i++ {
		if c := s[i] | 0x20; c < 'a' || 'z' < c {
			return false
		}
	}
	return true
}

// joins reports whether a byte before a host makes it part of something longer.
func joins(c byte) bool {
	return alnum(c) || strings.IndexByte("@_.-/\\", c) >= 0
}

func alnum(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// endOf returns where the URL ends that goes on at i: before white space, quotes, angle
// brackets, backticks, a bracket that the URL did not open, and any punctuation or symbol
// that is not ASCII.
func endOf(s string, i int) int {
	round, square := 0, 0
	for i < len(s) {
		c := s[i]
		switch {
		case c <= ' ', c == 0x7F, c == '<', c == '>', c == '"', c == '`':
			return i
		case c == '(':
			round++
		case c == ')':
			round--
		case c == '[':
			square++
		case c == ']':
			square--
		case c >= utf8.RuneSelf:
			r, size := utf8.DecodeRuneInString(s[i:])
			if !unicode.In(r, unicode.L, unicode.M, unicode.N) {
				return i
			}
			i += size - 1
		}
		if round < 0 || square < 0 {
			return i
		}
		i++
	}
	return i
}

// Trim returns where a URL ends without the marks and the punctuation that may stand
// behind it; they stay in the text whatever they are taken for.
func Trim(s string, start, end int) int {
	for end > start && strings.IndexByte("*_~.,;:!?'", s[end-1]) >= 0 {
		end--
	}
	return end
}
