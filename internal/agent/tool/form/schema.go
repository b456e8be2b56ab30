// Package form is what a call of a tool looks like: the schema that a model is told, and the
// arguments that it writes.
package form

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Property is one argument in a tool's schema.
type Property struct {
	Name     string
	Optional bool
	Schema   Schema
}

type Schema struct {
	Type        string   `json:"type"`
	Enum        []string `json:"enum,omitempty"`
	Description string   `json:"description,omitempty"`
}

// Option is an id that an argument may be, and what the model is told of it.
type Option struct{ ID, Description string }

// Line is "id: description".
func (o Option) Line() string {
	description := strings.Join(strings.Fields(o.Description), " ")
	if description == "" {
		return o.ID
	}
	return o.ID + ": " + description
}

// IDs are those of options.
func IDs(options []Option) []string {
	var out []string
	for _, o := range options {
		out = append(out, o.ID)
	}
	return out
}

// Enum is an argument that is one of some ids, with a line about each.
func Enum(name string, options []Option) Property {
	var lines []string
	for _, o := range options {
		lines = append(lines, o.Line())
	}
	return Property{Name: name, Schema: Schema{Type: "string", Enum: IDs(options), Description: strings.Join(lines, "\n")}}
}

// Parameters is the JSON Schema of an arguments object, its properties in the order in
// which they are to be thought of.
func Parameters(properties []Property) []byte {
	var known [][]byte
	var required []string
	for _, p := range properties {
		known = append(known, append(append(Encode(p.Name), ':'), Encode(p.Schema)...))
		if !p.Optional {
			required = append(required, p.Name)
		}
	}
	out := []byte(`{"type":"object","properties":{`)
	out = append(append(out, bytes.Join(known, []byte(","))...), '}')
	if len(required) > 0 {
		out = append(append(out, `,"required":`...), Encode(required)...)
	}
	return append(out, `,"additionalProperties":false}`...)
}

// Encode writes what JSON can always write: strings, lists and maps of them.
func Encode(v any) []byte {
	out, err := json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	if err != nil {
		return []byte("null")
	}
	return out
}
