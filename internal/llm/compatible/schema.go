package compatible

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"
)

// strict is a schema as strict mode takes it: every property required, those that were
// not may be null, none beside them, and only the keywords that OpenAI, its fine-tuned
// models and Azure all know. Bounds go; the reply's own rules hold them.
func strict(schema []byte) (jsontext.Value, error) {
	if jsontext.Value(schema).Kind() != '{' {
		return jsontext.Value(schema), nil
	}
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	var out []member
	var names []string
	optional := optionals(all)
	for _, m := range all {
		switch m.name {
		case "type", "description", "enum", "const", "$ref":
		case "properties":
			names, m.value, err = strictProperties(m.value, optional)
		case "$defs":
			_, m.value, err = strictProperties(m.value, nil)
		case "items":
			m.value, err = strict(m.value)
		case "anyOf", "oneOf":
			m.name = "anyOf"
			m.value, err = strictAll(m.value)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if isObject(all) {
		out = append(out, member{"required", list(names)}, member{"additionalProperties", jsontext.Value("false")})
	}
	return object(out), nil
}

// strictProperties makes each schema of an object strict; one of an optional name may be
// null too.
func strictProperties(properties jsontext.Value, optional func(string) bool) (names []string, _ jsontext.Value, _ error) {
	all, err := members(properties)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range all {
		value, err := strict(m.value)
		if err != nil {
			return nil, nil, err
		}
		if optional != nil && optional(m.name) {
			value = jsontext.Value(`{"anyOf":[` + string(value) + `,{"type":"null"}]}`)
		}
		names, all[i].value = append(names, m.name), value
	}
	return names, object(all), nil
}

func strictAll(schemas jsontext.Value) (jsontext.Value, error) {
	all, err := elements(schemas)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i], err = strict(all[i]); err != nil {
			return nil, err
		}
	}
	return array(all), nil
}

// optionals reports which properties an object's schema does not require.
func optionals(all []member) func(string) bool {
	required := map[string]bool{}
	for _, m := range all {
		if m.name != "required" {
			continue
		}
		names, _ := elements(m.value) // what is no list requires nothing
		for _, n := range names {
			required[string(n)] = true
		}
	}
	return func(name string) bool { return !required[quote(name)] }
}

func isObject(all []member) bool {
	for _, m := range all {
		if m.name == "properties" || m.name == "type" && string(m.value) == `"object"` {
			return true
		}
	}
	return false
}

// parameters is a tool's schema as it is, but for the properties that OpenAI wants every
// object of arguments to have.
func parameters(schema []byte) (jsontext.Value, error) {
	if len(schema) == 0 {
		return jsontext.Value(`{"type":"object","properties":{}}`), nil
	}
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.name == "properties" {
			return object(all), nil
		}
	}
	return object(append(all, member{"properties", jsontext.Value("{}")})), nil
}

// member is one of an object, whose order is kept: models write in the order of a schema.
type member struct {
	name  string
	value jsontext.Value
}

func members(data jsontext.Value) ([]member, error) {
	if data.Kind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var out []member
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		m := member{name: name.String()}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		m.value = value.Clone()
		out = append(out, m)
	}
	_, err := dec.ReadToken()
	return out, err
}

func elements(data jsontext.Value) ([]jsontext.Value, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(data))
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	var out []jsontext.Value
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		out = append(out, value.Clone())
	}
	return out, nil
}

func object(all []member) jsontext.Value {
	out := []byte{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(m.name)...), ':'), m.value...)
	}
	return append(out, '}')
}

func array(all []jsontext.Value) jsontext.Value {
	return append(append([]byte{'['}, bytes.Join(raw(all), []byte{','})...), ']')
}

func raw(all []jsontext.Value) [][]byte {
	out := make([][]byte, len(all))
	for i, v := range all {
		out[i] = v
	}
	return out
}

func list(names []string) jsontext.Value {
	out := make([]jsontext.Value, len(names))
	for i, n := range names {
		out[i] = jsontext.Value(quote(n))
	}
	return array(out)
}

// quote writes a name as JSON; names were read from JSON, so they are valid text.
func quote(s string) string {
	out, _ := jsontext.AppendQuote(nil, s)
	return string(out)
}
