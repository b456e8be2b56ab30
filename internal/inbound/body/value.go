package body

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// white is the white space of JSON.
const white = " \t\r\n"

// meaning is what a value of a body that is not JSON says, from the way it is written
// there; see the package's documentation.
func meaning(literal string) field {
	if literal == "null" {
		return field{}
	}
	if s, ok := decoded(literal); ok {
		return field{value: s, given: true}
	}
	inner, quoted := peel(literal)
	if !quoted {
		return field{value: literal, given: true}
	}
	if s, ok := decoded(inner); ok {
		return field{value: s, given: true}
	}
	return field{value: inner, given: true}
}

// decoded reads a JSON string with its quotes; ok is false for anything else.
func decoded(literal string) (s string, ok bool) {
	if _, quoted := peel(literal); !quoted {
		return "", false
	}
	err := json.Unmarshal([]byte(literal), &s, jsontext.AllowInvalidUTF8(true))
	return s, err == nil
}

// peel takes the quotes from around a value.
func peel(literal string) (inner string, quoted bool) {
	if !opens(literal) || !closes(literal) {
		return literal, false
	}
	return literal[1 : len(literal)-1], true
}

func opens(literal string) bool  { return strings.HasPrefix(literal, `"`) }
func closes(literal string) bool { return len(literal) > 1 && strings.HasSuffix(literal, `"`) }

// fits reports whether a value looks like one of its key. A pinned key has no other
// values: they hold no quotes. Where a contact may have had a say it is only a hint: a
// language holds no quotes, the name of an offering may, but not together with braces.
func fits(k key, literal string) bool {
	inner, quoted := peel(literal)
	if again, twice := peel(inner); quoted && twice {
		inner = again
	}
	switch k {
	case text, firstName, lastName:
		return true
	case offering, course:
		return !strings.Contains(inner, `"`) || quoted && !strings.ContainsAny(inner, "{}")
	}
	return !strings.Contains(inner, `"`)
}
