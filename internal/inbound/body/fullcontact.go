package body

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Fields are the names of the account's custom fields that a Full Contact Data object
// is searched for. ManyChat compares field names without case. Empty: not searched for.
type Fields struct {
	Token    string
	Offering string
}

// FullContact reads ManyChat's Full Contact Data object (docs/spec/02-inbound.md,
// "Full Contact Data"): the id, the last text, the two fields and the first name.
// Whatever else it holds is passed over. Only the id can be a reason to refuse an
// object; anything of the rest that is missing or of another type is left empty,
// because a contact is waiting. ManyChat builds the object itself, so one that is not
// JSON is refused.
func FullContact(data []byte, fields Fields) (Read, *Problem) {
	if !utf8.Valid(data) {
		return Read{}, notUTF8()
	}
	depth, parsed := nesting(data)
	switch {
	case !parsed:
		return Read{}, invalid("", `the body is not JSON: insert ManyChat's "Full Contact Data" as the whole body`)
	case depth > maxDepth:
		return Read{}, invalid("", "the body is nested deeper than 64 levels")
	}
	var (
		r      Read
		id     field
		ids    int
		said   string
		wanted = finder{Fields: fields}
	)
	object := members(data, func(name string, value jsontext.Value) {
		switch name {
		case contactID:
			id = scalar(value)
			ids++
		case contactText:
			said = stringOf(value)
		case contactFirstName:
			r.FirstName = named(stringOf(value))
		case contactFields:
			wanted.search(value)
		}
	})
	if !object {
		return Read{}, notAnObject()
	}
	if ids > 1 {
		return Read{}, invalid(contactID, "given twice")
	}
	var bad *Problem
	if r.SubscriberID, bad = identify(id); bad != nil {
		bad.Key = contactID
		return Read{}, bad
	}
	r.setText(said)
	r.Token, r.Offering = wanted.token.value, wanted.offering.value
	return r, nil
}

// finder looks for the wanted fields among a contact's custom fields.
type finder struct {
	Fields
	token, offering found
}

// found is the value of a field; exact: under the very name that was wanted.
type found struct {
	value string
	exact bool
}

// search goes through custom fields as an object of values by name, which Full Contact
// Data has, or as a list of objects with a name and a value, which ManyChat's API has.
func (f *finder) search(value jsontext.Value) {
	if members(value, f.take) || value.Kind() != '[' {
		return
	}
	dec := decoder(value)
	if _, err := dec.ReadToken(); err != nil {
		return
	}
	for dec.PeekKind() != ']' {
		element, err := dec.ReadValue()
		if err != nil {
			return
		}
		f.element(element)
	}
}

// element is one field of the list form.
func (f *finder) element(object jsontext.Value) {
	var (
		name    string
		content = jsontext.Value("null")
	)
	members(object, func(key string, value jsontext.Value) {
		switch key {
		case "name":
			name = stringOf(value)
		case "value":
			content = bytes.Clone(value)
		}
	})
	f.take(name, content)
}

// take keeps a field that is wanted.
func (f *finder) take(name string, value jsontext.Value) {
	f.token.take(f.Token, name, value)
	f.offering.take(f.Offering, name, value)
}

// take keeps a value under the wanted name. Of several whose names differ in case the
// one that is spelled as wanted counts, else the first that names something.
func (d *found) take(wanted, name string, value jsontext.Value) {
	if wanted == "" || !strings.EqualFold(wanted, name) {
		return
	}
	exact := wanted == name
	if !exact && (d.exact || d.value != "") {
		return
	}
	content := scalar(value).value
	if value.Kind() == 't' || value.Kind() == 'f' || utf8.RuneCountInString(content) > maxField {
		content = ""
	}
	*d = found{value: named(content), exact: exact}
}

// members calls visit with each key of an object and its value, which is good until
// visit returns; false: it is no object. The JSON must be valid.
func members(data []byte, visit func(name string, value jsontext.Value)) bool {
	dec := decoder(data)
	if dec.PeekKind() != '{' {
		return false
	}
	if _, err := dec.ReadToken(); err != nil {
		return false
	}
	for dec.PeekKind() != '}' {
		token, err := dec.ReadToken()
		if err != nil {
			return false
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return false
		}
		visit(name, value)
	}
	return true
}

func decoder(data []byte) *jsontext.Decoder {
	return jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// scalar is a value as text: a string as it reads, a number, true or false as they are
// written. null, an object and a list are not given.
func scalar(value jsontext.Value) field {
	switch value.Kind() {
	case '"':
		s, _ := decoded(string(value))
		return field{value: s, given: true}
	case '0', 't', 'f':
		return field{value: string(value), given: true}
	}
	return field{}
}

// stringOf is a string as it reads, and nothing for anything else.
func stringOf(value jsontext.Value) string {
	if value.Kind() != '"' {
		return ""
	}
	return scalar(value).value
}
