package anthropic

import (
	"errors"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

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
	members, err := wire.Members(schema)
	if err != nil {
		return nil, err
	}
	var kept []wire.Member
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
	return wire.Object(kept)
}

// fitMember fits one keyword; a note is what the description says in its place.
func fitMember(m wire.Member) (fitted wire.Member, note string, err error) {
	switch m.Name {
	case "type", "enum", "const", "$ref", "description", "title", "required", "default", "pattern":
	case "properties", "$defs", "definitions":
		m.Value, err = wire.FitEach(m.Value, fit)
	case "oneOf":
		m.Name = "anyOf"
		m.Value, err = wire.FitAll(m.Value, fit)
	case "anyOf", "allOf":
		m.Value, err = wire.FitAll(m.Value, fit)
	case "items":
		m.Value, err = fit(m.Value)
	case "additionalProperties":
		m.Value = jsontext.Value("false")
	case "minItems":
		if n := string(m.Value); n != "0" && n != "1" {
			note = m.Name + ": " + n
		}
	case "format":
		var format string
		if json.Unmarshal(m.Value, &format) != nil || !enforced(format) {
			note = m.Name + ": " + string(m.Value)
		}
	default:
		note = m.Name + ": " + string(m.Value)
	}
	return m, note, err
}

// closed adds additionalProperties to an object that does not say it.
func closed(members []wire.Member) []wire.Member {
	is := func(name string) func(wire.Member) bool { return func(m wire.Member) bool { return m.Name == name } }
	t := slices.IndexFunc(members, is("type"))
	if t < 0 || string(members[t].Value) != `"object"` || slices.ContainsFunc(members, is("additionalProperties")) {
		return members
	}
	return append(members, wire.Member{Name: "additionalProperties", Value: jsontext.Value("false")})
}

// describe appends a note to the description.
func describe(members []wire.Member, note string) ([]wire.Member, error) {
	for i, m := range members {
		if m.Name != "description" {
			continue
		}
		var before string
		if err := json.Unmarshal(m.Value, &before); err != nil {
			return nil, err
		}
		value, err := json.Marshal(strings.TrimSpace(before + " " + note))
		members[i].Value = value
		return members, err
	}
	value, err := json.Marshal(note)
	return append(members, wire.Member{Name: "description", Value: value}), err
}
