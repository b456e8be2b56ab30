package google

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// member is one name of an object with its value.
type member struct {
	name  string
	value jsontext.Value
}

// fitted is a JSON Schema with no more than the keywords that Google takes, in the order
// they had: models write properties in that order. The list is that of responseJsonSchema
// at https://ai.google.dev/api/generate-content#generationconfig.
func fitted(schema []byte) (jsontext.Value, error) {
	v := jsontext.Value(schema)
	if !v.IsValid() || v.Kind() != '{' {
		return nil, errors.New("is not a JSON object")
	}
	return appendSchema(make([]byte, 0, len(schema)), v), nil
}

// appendSchema writes what Google takes of a valid schema.
func appendSchema(out []byte, v jsontext.Value) []byte {
	if v.Kind() != '{' { // true or false
		return append(out, v...)
	}
	members := membersOf(v)
	alone := slices.ContainsFunc(members, func(m member) bool { return m.name == "$ref" })
	kept := make([]member, 0, len(members))
	for _, m := range members {
		if alone && !strings.HasPrefix(m.name, "$") {
			continue // beside a reference Google takes nothing else
		}
		if m, ok := fittedKeyword(m); ok {
			kept = append(kept, m)
		}
	}
	return appendObject(out, kept)
}

// fittedKeyword is a keyword of a schema as Google takes it; ok is false when it does not.
func fittedKeyword(m member) (_ member, ok bool) {
	switch m.name {
	case "$id", "$ref", "$anchor", "type", "title", "description",
		"minItems", "maxItems", "minimum", "maximum", "propertyOrdering":
		return m, true
	case "properties", "$defs":
		named := membersOf(m.value)
		for i := range named {
			named[i].value = appendSchema(nil, named[i].value)
		}
		m.value = appendObject(nil, named)
		return m, true
	case "items", "additionalProperties":
		if m.value.Kind() == '[' {
			return m, false // items of drafts before 2020-12
		}
		m.value = appendSchema(nil, m.value)
		return m, true
	case "prefixItems", "anyOf", "oneOf":
		var each []jsontext.Value
		for _, v := range elementsOf(m.value) {
			each = append(each, appendSchema(nil, v))
		}
		m.value = appendArray(nil, each)
		return m, len(each) > 0
	case "const":
		return fittedKeyword(member{"enum", appendArray(nil, []jsontext.Value{m.value})})
	case "enum": // of strings and numbers alone; fewer values would forbid the others
		return m, !slices.ContainsFunc(elementsOf(m.value), func(v jsontext.Value) bool { return v.Kind() != '"' && v.Kind() != '0' })
	case "required":
		names := slices.DeleteFunc(elementsOf(m.value), func(v jsontext.Value) bool { return v.Kind() != '"' })
		m.value = appendArray(nil, names)
		return m, len(names) > 0
	case "format":
		switch string(m.value) {
		case `"date-time"`, `"date"`, `"time"`:
			return m, true
		}
	}
	return m, false
}

// isEmptyObject reports whether a schema tells of no property. Google refuses such
// parameters; a function without any has no schema.
func isEmptyObject(schema jsontext.Value) bool {
	for _, m := range membersOf(schema) {
		switch m.name {
		case "properties":
			return len(membersOf(m.value)) == 0
		case "$ref", "anyOf", "oneOf":
			return false
		}
	}
	return true
}

func appendObject(out []byte, members []member) []byte {
	out = append(out, '{')
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		quoted, err := jsontext.AppendQuote(out, m.name)
		if err != nil {
			continue // names of valid JSON can be quoted
		}
		out = append(append(quoted, ':'), m.value...)
	}
	return append(out, '}')
}

func appendArray(out []byte, elements []jsontext.Value) []byte {
	out = append(out, '[')
	for i, v := range elements {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v...)
	}
	return append(out, ']')
}

// membersOf lists the members of an object in order; of another value, none.
func membersOf(v jsontext.Value) []member {
	var members []member
	each(v, '{', func(dec *jsontext.Decoder) error {
		name, err := dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String()}
		value, err := dec.ReadValue()
		m.value = value.Clone()
		members = append(members, m)
		return err
	})
	return members
}

// elementsOf lists the elements of an array; of another value, none.
func elementsOf(v jsontext.Value) []jsontext.Value {
	var elements []jsontext.Value
	each(v, '[', func(dec *jsontext.Decoder) error {
		value, err := dec.ReadValue()
		elements = append(elements, value.Clone())
		return err
	})
	return elements
}

// each reads a valid object or array member by member.
func each(v jsontext.Value, kind jsontext.Kind, read func(*jsontext.Decoder) error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(v), jsontext.AllowDuplicateNames(true))
	if dec.PeekKind() != kind {
		return
	}
	if _, err := dec.ReadToken(); err != nil {
		return
	}
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		if read(dec) != nil {
			return
		}
	}
}
