// Package ordinary knows what has many digits and tells nothing about anybody: ids of
// this program, memory addresses, versions, dates, times, durations, network addresses.
package ordinary

import (
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/redact/glyph"
)

// At is the end of such a thing that begins at i, where a digit or the first letter of
// a word stands, in a text that glyph.Fold has written; it is i where there is none.
// Kept is where the one before ended, -1 for none: a date may follow another.
func At(t string, i, kept int) int {
	if IsUUID(t[i:]) && edge(t, i, i+UUIDLength) {
		return i + UUIDLength
	}
	if !glyph.Is(t[i], glyph.Digit) {
		return i
	}
	for _, end := range [...]int{
		hexAddress(t, i), dateTime(t, i, kept), clock(t, i), version(t, i), modelDate(t, i), duration(t, i), address(t, i),
	} {
		if end > i {
			return end
		}
	}
	return i
}

// UUIDLength is the length of a UUID as it is written.
const UUIDLength = len("00000000-0000-7000-8000-000000000000")

// IsUUID reports whether a UUID begins the text, as the ids of turns, conversations and
// rows are.
func IsUUID(t string) bool {
	if len(t) < UUIDLength || t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
		return false
	}
	for i := range UUIDLength {
		if !glyph.Is(t[i], glyph.Digit|glyph.HexLetter) && t[i] != '-' {
			return false
		}
	}
	return strings.Count(t[:UUIDLength], "-") == 4
}

// edge reports whether no letter or digit stands right before start or behind end.
func edge(t string, start, end int) bool {
	return (start == 0 || !glyph.Is(t[start-1], glyph.Alnum)) && (end == len(t) || !glyph.Is(t[end], glyph.Alnum))
}

// Starts reports whether something else than a further part of a number stands at i,
// which a space has set apart.
func Starts(t string, i int) bool {
	return dateTime(t, i, -1) > i || clock(t, i) > i || IsUUID(t[i:]) || hexAddress(t, i) > i
}

// hexAddress is the end of 0xc000123456.
func hexAddress(t string, i int) int {
	if t[i] != '0' || i+2 >= len(t) || t[i+1] != 'x' && t[i+1] != 'X' || !glyph.Is(t[i+2], glyph.Digit|glyph.HexLetter) {
		return i
	}
	return glyph.Run(t, i+2, glyph.Digit|glyph.HexLetter)
}

// ends reports whether a number ends at i: neither a digit follows nor a dot and one.
func ends(t string, i int) bool {
	return i == len(t) || !glyph.Is(t[i], glyph.Digit) && (t[i] != '.' || i+1 == len(t) || !glyph.Is(t[i+1], glyph.Digit))
}
