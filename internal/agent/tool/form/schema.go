package tool

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// property is one argument in a tool's schema.
type property struct {
	name     string
	optional bool
	schema   schema
}

type schema struct {
	Type        string   `json:"type"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
}

// option is an id that an argument may be, and what the model is told of it.
type option struct{ id, description string }

// line is "id: description".
func (o option) line() string {
	description := strings.Join(strings.Fields(o.description), " ")
	if description == "" {
		return o.id
	}
	return o.id + ": " + description
}

// ids are those of options.
func ids(options []option) []string {
	var out []string
	for _, o := range options {
		out = append(out, o.id)
	}
	return out
}

// enum is an argument that is one of some ids, with a line about each.
func enum(name string, options []option) property {
	var lines []string
	for _, o := range options {
		lines = append(lines, o.line())
	}
	return property{name: name, schema: schema{Type: "string", Enum: ids(options), Description: strings.Join(lines, "\n")}}
}

// parameters is the JSON Schema of an arguments object, its properties in the order in
// which they are to be thought of.
func parameters(properties []property) []byte {
	var known [][]byte
	var required []string
	for _, p := range properties {
		known = append(known, append(append(encode(p.name), ':'), encode(p.schema)...))
		if !p.optional {
			required = append(required, p.name)
		}
	}
	out := []byte(`{"type":"object","properties":{`)
	out = append(append(out, bytes.Join(known, []byte(","))...), '}')
	if len(required) > 0 {
		out = append(append(out, `,"required":`...), encode(required)...)
	}
	return append(out, `,"additionalProperties":false}`...)
}

// encode writes what JSON can always write: strings, lists and maps of them.
func encode(v any) []byte {
	out, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte("null")
	}
	return out
}
