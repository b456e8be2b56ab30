package openai

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// strict is a schema as strict mode takes it: every property required, those that were
// not may be null, none beside them, and no keyword that it does not know. Bounds of
// numbers and lists stay where they are taken.
func strict(schema jsontext.Value, bounds bool) (jsontext.Value, error) {
	if schema.Kind() != '{' {
		return nil, errors.New("not a JSON object")
	}
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	var out []member
	var names []string
	isObject := false
	for _, m := range all {
		switch m.name {
		case "type":
			isObject = isObject || string(m.value) == `"object"`
		case "description", "enum", "const", "$ref":
		case "minimum", "maximum", "minItems", "maxItems":
			if !bounds {
				continue
			}
		case "properties":
			isObject = true
			names, m.value, err = strictProperties(m.value, required(all), bounds)
			if err == nil && len(names) == 0 {
				continue // written below
			}
		case "$defs":
			_, m.value, err = strictProperties(m.value, nil, bounds)
		case "items":
			m.value, err = strict(m.value, bounds)
		case "anyOf", "oneOf":
			m.name = "anyOf"
			m.value, err = strictAll(m.value, bounds)
		default:
			continue
		}
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if isObject {
		if names == nil {
			names = []string{}
			out = append(out, member{"properties", jsontext.Value("{}")})
		}
		list, err := json.Marshal(names)
		if err != nil {
			return nil, err
		}
		out = append(out, member{"required", list}, member{"additionalProperties", jsontext.Value("false")})
	}
	return object(out)
}

// strictProperties makes each schema of an object strict; one that is not required may be
// null too. required nil: all are.
func strictProperties(properties jsontext.Value, required map[string]bool, bounds bool) (names []string, _ jsontext.Value, _ error) {
	all, err := members(properties)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range all {
		value, err := strict(m.value, bounds)
		if err != nil {
			return nil, nil, err
		}
		if required != nil && !required[m.name] {
			value = jsontext.Value(`{"anyOf":[` + string(value) + `,{"type":"null"}]}`)
		}
		names, all[i].value = append(names, m.name), value
	}
	out, err := object(all)
	return names, out, err
}

func strictAll(schemas jsontext.Value, bounds bool) (jsontext.Value, error) {
	var all []jsontext.Value
	if err := json.Unmarshal(schemas, &all); err != nil {
		return nil, err
	}
	for i := range all {
		var err error
		if all[i], err = strict(all[i], bounds); err != nil {
			return nil, err
		}
	}
	return json.Marshal(all)
}

// required are the names that an object's schema requires; what is no list of names
// requires nothing.
func required(all []member) map[string]bool {
	out := map[string]bool{}
	for _, m := range all {
		var names []string
		if m.name != "required" || json.Unmarshal(m.value, &names) != nil {
			continue
		}
		for _, n := range names {
			out[n] = true
		}
	}
	return out
}

// parameters is a tool's schema as it is, but for the properties that every object of
// arguments has to have.
func parameters(schema jsontext.Value) (jsontext.Value, error) {
	if len(schema) == 0 {
		return jsontext.Value(`{"type":"object","properties":{}}`), nil
	}
	all, err := members(schema)
	if err != nil {
		return nil, err
	}
	for _, m := range all {
		if m.name == "properties" {
			return object(all)
		}
	}
	return object(append(all, member{"properties", jsontext.Value("{}")}))
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

// object writes members; their names were read from JSON, so they are valid text.
func object(all []member) (jsontext.Value, error) {
	out := jsontext.Value{'{'}
	for i, m := range all {
		if i > 0 {
			out = append(out, ',')
		}
		var err error
		if out, err = jsontext.AppendQuote(out, m.name); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), m.value...)
	}
	return append(out, '}'), nil
}
