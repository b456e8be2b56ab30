package redact

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

// findEmails takes out e-mail addresses, with names and hosts in any script. What
// stands behind the @ has to end in letters: a module's version does not.
func (f *finder) findEmails() {
	t := f.text
	free := 0
	for i := 0; i < len(t); i++ {
		if t[i] != '@' {
			continue
		}
		end := domainEnd(t, i+1)
		start := localStart(t[:i], free)
		if end < 0 || start == i {
			continue
		}
		f.take(start, end, email)
		free, i = end, end-1
	}
}

// localStart is where the part before the @ begins, at the earliest at floor.
func localStart(t string, floor int) int {
	start := len(t)
	if start > floor && t[start-1] == '"' { // "ada of the shop"@example.com
		if open := strings.LastIndexByte(t[floor:start-1], '"'); open >= 0 {
			return floor + open
		}
	}
	letters := glyph.Alnum
	if start > floor && glyph.Is(t[start-1], glyph.Beyond) {
		letters = glyph.Alnum | glyph.Beyond
	}
	for start > floor && (glyph.Is(t[start-1], letters|glyph.Dot|glyph.WordMark) || t[start-1] == glyph.Alphabetic ||
		strings.IndexByte("+%'!#$&*~^", t[start-1]) >= 0) {
		start--
	}
	for start < len(t) && (t[start] == '\'' || t[start] == '*' || t[start] == '.') { // quoted, or bold
		start++
	}
	return start
}

// domainEnd is where the longest host name ends that begins at i and whose last part
// is of letters; -1 when there is none.
func domainEnd(t string, i int) int {
	if isVersion(t[i:]) {
		return -1
	}
	letters := glyph.Alnum | glyph.Beyond
	if i < len(t) && glyph.Is(t[i], glyph.Alnum) {
		letters = glyph.Alnum
	}
	end, parts := -1, 0
	for {
		start := i
		for i < len(t) && (glyph.Is(t[i], letters) || t[i] == '-' || t[i] == glyph.Alphabetic) {
			i++
		}
		if i == start {
			return end
		}
		if parts++; parts > 1 && isLettered(t[start:i]) {
			end = start + len(strings.TrimRight(t[start:i], "-"))
		}
		if i == len(t) || t[i] != '.' {
			return end
		}
		i++
	}
}

// isLettered reports whether a last part of a host name can be a top-level domain.
func isLettered(part string) bool {
	letters := 0
	for i := range len(part) {
		if glyph.Is(part[i], glyph.Letter) {
			letters++
		}
	}
	return letters >= 2 && glyph.Is(part[0], glyph.Letter) || strings.HasPrefix(strings.ToLower(part), "xn--")
}

// isVersion reports whether a module's version begins the text, such as v0.44.0.
func isVersion(t string) bool {
	if len(t) < 2 || t[0] != 'v' {
		return false
	}
	end := glyph.Run(t, 1, glyph.Digit)
	return end > 1 && end+1 < len(t) && t[end] == '.' && glyph.Is(t[end+1], glyph.Digit)
}
