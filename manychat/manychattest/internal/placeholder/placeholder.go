// Package placeholder fills {{variables}} into text, the ways ManyChat does
// (platform notes, 1.8 and 4.5).
package placeholder

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Lookup gives the value of a variable: a string, a float64, a bool, or nil for
// an empty field. ok is false when ManyChat does not know the name.
type Lookup func(name string) (value any, ok bool)

// Raw pastes values as they are: a quote or a line break in one makes a JSON body
// invalid. Unknown names stay literal, an empty field becomes nothing.
func Raw(text string, lookup Lookup) string {
	return replace(text, lookup, Format)
}

// Encoded is Raw with "Encode to JSON" switched on: every value arrives as a
// quoted and escaped JSON string, so the text must not quote it again.
func Encoded(text string, lookup Lookup) string {
	return replace(text, lookup, func(v any) string { return quote(Format(v)) })
}

// Strings fills the strings inside a JSON value and escapes what it fills in, so
// that valid JSON stays valid.
func Strings(data []byte, lookup Lookup) string {
	return replace(string(data), lookup, func(v any) string {
		q := quote(Format(v))
		return q[1 : len(q)-1]
	})
}

func replace(text string, lookup Lookup, format func(any) string) string {
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		name, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		if v, ok := lookup(strings.TrimSpace(name)); ok {
			b.WriteString(format(v))
		} else {
			b.WriteString("{{" + name + "}}")
		}
		text = after
	}
}

// Format is a value as text.
func Format(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}

func quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return `""` // unreachable: a string always encodes
	}
	return strings.TrimSuffix(b.String(), "\n")
}
