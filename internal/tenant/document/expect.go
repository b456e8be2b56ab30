package document

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// shown is the most code points of a found value that a problem repeats.
const shown = 60

// found describes a value as it stands in the file.
func found(v *hujson.Value) string {
	switch value := v.Value.(type) {
	case *hujson.Object:
		return "an object"
	case *hujson.Array:
		return "a list"
	case hujson.Literal:
		return clip(string(value))
	}
	return "nothing"
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= shown {
		return s
	}
	return string([]rune(s)[:shown]) + "…"
}

// expected says in words what a type and its rule want.
func expected(t reflect.Type, r *rule) string {
	switch t.Kind() {
	case reflect.Pointer:
		return expected(t.Elem(), r)
	case reflect.String:
		return r.text()
	case reflect.Bool:
		return r.boolean()
	case reflect.Int, reflect.Int64:
		return r.number("a whole number")
	case reflect.Float64:
		return r.number("a number")
	case reflect.Slice:
		return listOf(t.Elem().Kind(), r.minItems)
	}
	return "an object"
}

// listOf says what a list holds, and how many at least.
func listOf(elements reflect.Kind, least int) string {
	noun := "object"
	if elements == reflect.String {
		noun = "text"
	}
	if least != 1 {
		noun += "s"
	}
	if least > 0 {
		return fmt.Sprintf("a list of at least %d %s", least, noun)
	}
	return "a list of " + noun
}

func (r *rule) text() string {
	switch {
	case r.expect != "":
		return r.expect
	case r.url:
		return "an https URL"
	case len(r.enum) == 1:
		return strconv.Quote(r.enum[0])
	case len(r.enum) > 1:
		return "one of " + strings.Join(r.enum, ", ")
	case r.maxLength > 0:
		return fmt.Sprintf("a text of %d to %d characters", r.minLength, r.maxLength)
	case r.minLength > 0:
		return "a text that is not empty"
	}
	return "a text"
}

func (r *rule) number(noun string) string {
	switch {
	case r.minimum != nil && r.maximum != nil:
		return fmt.Sprintf("%s from %v to %v", noun, *r.minimum, *r.maximum)
	case r.above != nil && r.maximum != nil:
		return fmt.Sprintf("%s above %v, at most %v", noun, *r.above, *r.maximum)
	case r.minimum != nil:
		return fmt.Sprintf("%s of at least %v", noun, *r.minimum)
	case r.above != nil:
		return fmt.Sprintf("%s above %v", noun, *r.above)
	}
	return noun
}

func (r *rule) boolean() string {
	if len(r.enum) == 1 {
		return r.enum[0]
	}
	return "true or false"
}

func (r *rule) admits(n float64) bool {
	return (r.minimum == nil || n >= *r.minimum) &&
		(r.maximum == nil || n <= *r.maximum) &&
		(r.above == nil || n > *r.above)
}
