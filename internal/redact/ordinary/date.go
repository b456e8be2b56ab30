package ordinary

import "github.com/manychat-agent/manychat-agent/internal/redact/glyph"

// dateTime is the end of a date at i and of the time of day that follows it; it is i
// where there is no date. A date does not begin or end in the middle of more digits,
// unless another one stands there: kept is where the last one ended.
func dateTime(t string, i, kept int) int {
	if i > 0 && (glyph.Is(t[i-1], glyph.Digit) || t[i-1] == '+' || i != kept+1 && i > 1 && isDateMark(t[i-1]) && glyph.Is(t[i-2], glyph.Digit)) {
		return i
	}
	end := date(t, i)
	if end == i || !dateEnds(t, end) {
		return i
	}
	if end < len(t) && (t[end] == 'T' || t[end] == 't' || t[end] == ' ' || t[end] == '_') {
		if stop := clock(t, end+1); stop > end+1 {
			return zone(t, stop)
		}
	}
	return end
}

func isDateMark(c byte) bool { return c == '-' || c == '.' || c == '/' }

// dateEnds reports whether a date ends at i: no digit follows, and none behind a mark
// but another date's.
func dateEnds(t string, i int) bool {
	switch {
	case i == len(t):
		return true
	case glyph.Is(t[i], glyph.Digit):
		return false
	case isDateMark(t[i]) && i+1 < len(t) && glyph.Is(t[i+1], glyph.Digit):
		return t[i] != '.' && date(t, i+1) > i+1
	}
	return true
}

// date is the end of 2026-01-02, 2/1/2026, 02.01.26 and the like; i where there is none.
func date(t string, i int) int {
	var parts [3]string
	at := i
	var mark byte
	for n := range parts {
		end := glyph.Run(t, at, glyph.Digit)
		if parts[n] = t[at:end]; end == at {
			return i
		}
		if at = end; n == 2 {
			break
		}
		if at == len(t) || !isDateMark(t[at]) || n == 1 && t[at] != mark {
			return i
		}
		mark = t[at]
		at++
	}
	a, b, c := parts[0], parts[1], parts[2]
	switch {
	case IsYear(a) && IsMonth(b) && IsDay(c):
		return at
	case !IsDay(a) || !IsDay(b) || !IsMonth(a) && !IsMonth(b):
		return i
	case IsYear(c), len(c) == 2 && (mark == '.' || mark == '/'):
		return at
	}
	return i
}

// IsYear reports whether s is a year from 1900 to 2099.
func IsYear(s string) bool { return len(s) == 4 && (s[:2] == "19" || s[:2] == "20") }

// IsMonth reports whether s is a month.
func IsMonth(s string) bool { return Between(s, 1, 12) }

// IsDay reports whether s is a day of a month.
func IsDay(s string) bool { return Between(s, 1, 31) }

// Between reports whether s is one or two digits of a value from low to high.
func Between(s string, low, high int) bool {
	return len(s) >= 1 && len(s) <= 2 && Value(s) >= low && Value(s) <= high
}

// Value is what digits say; it is capped, since only small values are compared.
func Value(s string) int {
	v := 0
	for i := 0; i < len(s) && v < 1_000_000_000; i++ {
		v = 10*v + int(s[i]-'0')
	}
	return v
}
