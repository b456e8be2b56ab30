package form

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxArguments of one call are read, in bytes: the longest note is 500 characters.
const maxArguments = 32 << 10

// Arguments are those of a call, as the model wrote them. What a tool does not ask for is
// never looked at: an argument that names a contact goes nowhere.
type Arguments map[string]jsontext.Value

// Parse reads the arguments of a call: one object, as such or written into a string, as
// some providers do. Nothing at all is an object without arguments. What names a thing
// twice says two things, and is refused.
func Parse(written []byte) (a Arguments, ok bool) {
	if len(written) > maxArguments {
		return nil, false
	}
	var text string
	if json.Unmarshal(written, &text) == nil {
		written = []byte(text)
	}
	if len(written) == 0 {
		return nil, true
	}
	return a, json.Unmarshal(written, &a) == nil
}

// Text is an argument that is a string.
func (a Arguments) Text(name string) (s string, ok bool) {
	if a.missing(name) {
		return "", false
	}
	return s, json.Unmarshal(a[name], &s) == nil
}

// Flag is an argument that may be left out, or is true or false.
func (a Arguments) Flag(name string) (b, ok bool) {
	if a.missing(name) {
		return false, true
	}
	return b, json.Unmarshal(a[name], &b) == nil
}

func (a Arguments) missing(name string) bool {
	v, found := a[name]
	return !found || v.Kind() == 'n'
}
