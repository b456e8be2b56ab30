package google

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// fit is a JSON Schema with no more than the keywords that Google takes, in the order
// they had: models write properties in that order. The list is that of responseJsonSchema
// at https://ai.google.dev/api/generate-content#generationconfig.
func fit(schema jsontext.Value) (jsontext.Value, error) {
	if k := schema.Kind(); k == 't' || k == 'f' { // of anything, or of nothing
		return schema, nil
	}
	members, err := wire.Members(schema)
	if err != nil {
		return nil, err
	}
	alone := slices.ContainsFunc(members, func(m wire.Member) bool { return m.Name == "$ref" })
	kept := make([]wire.Member, 0, len(members))
	for _, m := range members {
		if alone && !strings.HasPrefix(m.Name, "$") {
			continue // beside a reference Google takes nothing else
		}
		m, taken, err := fitKeyword(m)
		if err != nil {
			return nil, err
		}
		if taken {
			kept = append(kept, m)
		}
	}
	return wire.Object(kept)
}

// fitKeyword is a keyword of a schema as Google takes it; taken is false when it does not.
func fitKeyword(m wire.Member) (_ wire.Member, taken bool, err error) {
	switch m.Name {
	case "$id", "$ref", "$anchor", "type", "title", "description",
		"minItems", "maxItems", "minimum", "maximum", "propertyOrdering":
	case "properties", "$defs":
		m.Value, err = wire.FitEach(m.Value, fit)
	case "items", "additionalProperties":
		if m.Value.Kind() == '[' {
			return m, false, nil // items of drafts before 2020-12
		}
		m.Value, err = fit(m.Value)
	case "prefixItems", "anyOf", "oneOf":
		m.Value, err = wire.FitAll(m.Value, fit)
	case "const":
		return fitKeyword(wire.Member{Name: "enum", Value: slices.Concat(jsontext.Value("["), m.Value, jsontext.Value("]"))})
	case "enum": // of strings and numbers alone; fewer values would forbid the others
		values, err := elements(m.Value)
		return m, !slices.ContainsFunc(values, func(v jsontext.Value) bool { return v.Kind() != '"' && v.Kind() != '0' }), err
	case "required": // none is refused
		names, err := elements(m.Value)
		return m, len(names) > 0, err
	case "format":
		switch string(m.Value) {
		case `"date-time"`, `"date"`, `"time"`:
			return m, true, nil
		}
		return m, false, nil
	default:
		return m, false, nil
	}
	return m, true, err
}

func elements(list jsontext.Value) (all []jsontext.Value, err error) {
	err = json.Unmarshal(list, &all)
	return all, err
}

// fitParameters fits the schema of a function's arguments; nil when that tells of no
// property. Google refuses such parameters; a function without any has no schema.
func fitParameters(schema jsontext.Value) (jsontext.Value, error) {
	if len(schema) == 0 {
		return nil, nil
	}
	fitted, err := fit(schema)
	if err != nil {
		return nil, err
	}
	members, err := wire.Members(fitted)
	if err != nil {
		return nil, err
	}
	for _, m := range members {
		switch m.Name {
		case "properties":
			if string(m.Value) != "{}" {
				return fitted, nil
			}
		case "$ref", "anyOf", "oneOf":
			return fitted, nil
		}
	}
	return nil, nil
}
