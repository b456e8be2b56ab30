package openapi

import (
	"encoding/json"
	"strconv"

	"github.com/invopop/jsonschema"

	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// A subscriber id (docs/spec/02-inbound.md, "Request body"), as a string and as an integer.
const (
	digits    = "^[0-9]{1,32}$"
	largestID = "99999999999999999999999999999999"
)

// requestSchema describes a body that is read key by key; others says what holds for the
// keys that are not listed.
func requestSchema(keys []body.Key, others *jsonschema.Schema) *jsonschema.Schema {
	s := &jsonschema.Schema{
		Type:                 "object",
		Properties:           jsonschema.NewProperties(),
		AdditionalProperties: others,
	}
	for _, k := range keys {
		s.Properties.Set(k.Name, valueSchema(k))
		if k.Kind == body.ID || k.Kind == body.Text {
			s.Required = append(s.Required, k.Name)
		}
	}
	return s
}

// valueSchema describes what the reader takes as a key's value.
func valueSchema(k body.Key) *jsonschema.Schema {
	p := &jsonschema.Schema{}
	if k.MaxChars > 0 {
		p.MaxLength = number(k.MaxChars)
	}
	switch k.Kind {
	case body.ID:
		p.OneOf = []*jsonschema.Schema{{Type: "string", Pattern: digits}, {Type: "integer", Minimum: "0", Maximum: largestID}}
	case body.Text:
		p.Type = "string"
	case body.Hours:
		p.Type, p.Minimum, p.Maximum, p.Default = "number", "0", decimal(body.MaxHours), body.DefaultHours
	case body.Optional:
		orNull(p, "string")
	}
	return p
}

func keyNames(keys []body.Key) (names []any) {
	for _, k := range keys {
		names = append(names, k.Name)
	}
	return names
}

// number is a limit of JSON Schema on a length.
func number(n int) *uint64 {
	u := uint64(n)
	return &u
}

// decimal is a limit of JSON Schema on a value.
func decimal(n int) json.Number { return json.Number(strconv.Itoa(n)) }
