package anthropic

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// member is a member of a JSON object whose order counts: a model writes the properties
// in the order of the schema.
type member struct {
	name  string
	value jsontext.Value
}

// enforced reports whether the API takes a format of strings.
func enforced(format string) bool {
	switch format {
	case "date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid":
		return true
	}
	return false
}

// fit is a JSON Schema with nothing in it that output_config.format refuses: bounds and
// other keywords that the API does not enforce are told in the description instead, and
// every object is closed.
// (https://platform.claude.com/docs/en/build-with-claude/structured-outputs)
func fit(schema jsontext.Value) (jsontext.Value, error) {
	if schema.Kind() != '{' {
		if !schema.IsValid() {
			return nil, errors.New("a schema that is not JSON")
		}
		return schema, nil // true or false
	}
	members, err := membersOf(schema)
	if err != nil {
		return nil, err
	}
	var kept []member
	var told []string
	for _, m := range members {
		m, note, err := fitMember(m)
		switch {
		case err != nil:
			return nil, err
		case note != "":
			told = append(told, note)
		default:
			kept = append(kept, m)
		}
	}
	kept = closed(kept)
	if len(told) > 0 {
		if kept, err = describe(kept, "("+strings.Join(told, ", ")+")"); err != nil {
			return nil, err
		}
	}
	return objectOf(kept)
}

// fitMember fits one keyword; a note is what the description says in its place.
func fitMember(m member) (fitted member, note string, err error) {
	switch m.name {
	case "type", "enum", "const", "$ref", "description", "title", "required", "default", "pattern":
	case "properties", "$defs", "definitions":
		m.value, err = fitEach(m.value)
	case "oneOf":
		m.name = "anyOf"
		m.value, err = fitAll(m.value)
	case "anyOf", "allOf":
		m.value, err = fitAll(m.value)
	case "items":
		m.value, err = fit(m.value)
	case "additionalProperties":
		m.value = jsontext.Value("false")
	case "minItems":
		if n := string(m.value); n != "0" && n != "1" {
			note = m.name + ": " + n
		}
	case "format":
		var format string
		if json.Unmarshal(m.value, &format) != nil || !enforced(format) {
			note = m.name + ": " + string(m.value)
		}
	default:
		note = m.name + ": " + string(m.value)
	}
	return m, note, err
}

// fitEach fits the schemas that an object holds by name.
func fitEach(object jsontext.Value) (jsontext.Value, error) {
	members, err := membersOf(object)
	if err != nil {
		return nil, err
	}
	for i := range members {
		if members[i].value, err = fit(members[i].value); err != nil {
			return nil, err
		}
	}
	return objectOf(members)
}

// fitAll fits the schemas of a list.
func fitAll(list jsontext.Value) (jsontext.Value, error) {
	var schemas []jsontext.Value
	if err := json.Unmarshal(list, &schemas); err != nil {
		return nil, err
	}
	for i := range schemas {
		var err error
		if schemas[i], err = fit(schemas[i]); err != nil {
			return nil, err
		}
	}
	return json.Marshal(schemas)
}

// closed adds additionalProperties to an object that does not say it.
func closed(members []member) []member {
	is := func(name string) func(member) bool { return func(m member) bool { return m.name == name } }
	t := slices.IndexFunc(members, is("type"))
	if t < 0 || string(members[t].value) != `"object"` || slices.ContainsFunc(members, is("additionalProperties")) {
		return members
	}
	return append(members, member{"additionalProperties", jsontext.Value("false")})
}

// describe appends a note to the description.
func describe(members []member, note string) ([]member, error) {
	for i, m := range members {
		if m.name != "description" {
			continue
		}
		var before string
		if err := json.Unmarshal(m.value, &before); err != nil {
			return nil, err
		}
		value, err := json.Marshal(strings.TrimSpace(before + " " + note))
		members[i].value = value
		return members, err
	}
	value, err := json.Marshal(note)
	return append(members, member{"description", value}), err
}

func membersOf(object jsontext.Value) ([]member, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if t, err := d.ReadToken(); err != nil {
		return nil, err
	} else if t.Kind() != '{' {
		return nil, fmt.Errorf("a %v where a schema has an object", t.Kind())
	}
	var members []member
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		members = append(members, m)
	}
	return members, nil
}

func objectOf(members []member) (jsontext.Value, error) {
	b := jsontext.Value("{")
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, m.name); err != nil {
			return nil, err
		}
		b = append(append(b, ':'), m.value...)
	}
	return append(b, '}'), nil
}
