package wire

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Strict fits a schema to the strict mode that OpenAI has: every property required, those
// that were not may be null, none beside them, and no keyword that it does not know. Bounds
// of numbers and lists stay where they are taken: not by OpenAI's fine-tuned models, nor by
// Azure.
func Strict(bounds bool) Fit {
	return func(schema jsontext.Value) (jsontext.Value, error) { return strict(schema, bounds) }
}

func strict(schema jsontext.Value, bounds bool) (jsontext.Value, error) {
	again := Strict(bounds)
	all, err := Members(schema)
	if err != nil {
		return nil, err
	}
	var out []Member
	var names []string
	isObject := false
	for _, m := range all {
		switch m.Name {
		case "type":
			isObject = isObject || string(m.Value) == `"object"`
		case "description", "enum", "const", "$ref":
		case "minimum", "maximum", "minItems", "maxItems":
			if !bounds {
				continue
			}
		case "properties":
			isObject = true
			names, m.Value, err = strictProperties(m.Value, required(all), bounds)
			if err == nil && len(names) == 0 {
				continue // written below
			}
		case "$defs":
			m.Value, err = FitEach(m.Value, again)
		case "items":
			m.Value, err = again(m.Value)
		case "anyOf", "oneOf":
			m.Name = "anyOf"
			m.Value, err = FitAll(m.Value, again)
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
			out = append(out, Member{"properties", jsontext.Value("{}")})
		}
		list, err := json.Marshal(names)
		if err != nil {
			return nil, err
		}
		out = append(out, Member{"required", list}, Member{"additionalProperties", jsontext.Value("false")})
	}
	return Object(out)
}

// strictProperties makes each schema of an object strict; one that is not required may be
// null too.
func strictProperties(properties jsontext.Value, required map[string]bool, bounds bool) (names []string, _ jsontext.Value, _ error) {
	all, err := Members(properties)
	if err != nil {
		return nil, nil, err
	}
	for i, m := range all {
		value, err := strict(m.Value, bounds)
		if err != nil {
			return nil, nil, err
		}
		if !required[m.Name] {
			value = jsontext.Value(`{"anyOf":[` + string(value) + `,{"type":"null"}]}`)
		}
		names, all[i].Value = append(names, m.Name), value
	}
	out, err := Object(all)
	return names, out, err
}

// required are the names that an object's schema requires; what is no list of names
// requires nothing.
func required(all []Member) map[string]bool {
	out := map[string]bool{}
	for _, m := range all {
		var names []string
		if m.Name != "required" || json.Unmarshal(m.Value, &names) != nil {
			continue
		}
		for _, n := range names {
			out[n] = true
		}
	}
	return out
}
