package openapi_test

import (
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/manychat-agent/manychat-agent/internal/app/openapi"
	"github.com/manychat-agent/manychat-agent/internal/inbound/body"
)

// schemaOf is a schema of a document, as a check of bodies.
func schemaOf(t *testing.T, text, name string) func(data string) error {
	t.Helper()
	parse := func(s string) any {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(s))
		if err != nil {
			t.Fatalf("%s: %v", s, err)
		}
		return value
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.json", parse(text)); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("openapi.json#/components/schemas/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return func(data string) error { return schema.Validate(parse(data)) }
}

// values are JSON values of every kind around every limit. Those are left out that no
// schema tells apart: an integer with a fraction of zero or an exponent.
func values() []string {
	all := []string{
		"0", "-1", "-0.5", "5.5", "null", "true", "false", "{}", "[]", `["1"]`, `{"1":"1"}`,
		`""`, `" "`, `" 1"`, `"-1"`, `"+1"`, `"1.0"`, `"1e3"`, `"٣"`, `"1\n"`, `"whatsapp"`, `"{{contact.id}}"`,
	}
	for _, n := range []int{1, 19, 20, 31, 32, 33, 60} {
		all = append(all, strings.Repeat("3", n), `"`+strings.Repeat("3", n)+`"`)
	}
	for _, n := range []int{128, 255, 256, 257, 4096, 4097} {
		all = append(all, `"`+strings.Repeat("é", n)+`"`, `"`+strings.Repeat("😀", n)+`"`)
	}
	return all
}

// bodies are objects with the keys that are required, one of which is left out, or one more
// key of any value.
func bodies(keys []body.Key) (all []string) {
	with := func(name, value string) string {
		pairs := []string{}
		for _, k := range keys {
			if k.Name != name && (k.Kind == body.ID || k.Kind == body.Text) {
				pairs = append(pairs, `"`+k.Name+`":"1234567890"`)
			}
		}
		if value != "" {
			pairs = append(pairs, `"`+name+`":`+value)
		}
		return "{" + strings.Join(pairs, ",") + "}"
	}
	names := []string{"Text", "other", ""}
	for _, k := range keys {
		names = append(names, k.Name)
	}
	for _, name := range names {
		all = append(all, with(name, ""))
		for _, value := range values() {
			all = append(all, with(name, value))
		}
	}
	return all
}

// Holds docs/spec/02-inbound.md, "Request body": the document allows what the readers take,
// and nothing else.
func TestRequestsAgreeWithTheirReaders(t *testing.T) {
	document := text(t, openapi.Config{})
	readers := map[string]struct {
		keys []body.Key
		read func(data string) *body.Problem
	}{
		"MessageRequest": {body.MessageKeys(), func(data string) *body.Problem { _, bad := body.Message([]byte(data)); return bad }},
		"FullContactData": {body.FullContactKeys(), func(data string) *body.Problem {
			_, bad := body.FullContact([]byte(data), body.Fields{Token: "ai_token", Offering: "other"})
			return bad
		}},
	}
	for schema, reader := range readers {
		t.Run(schema, func(t *testing.T) {
			allows := schemaOf(t, document, schema)
			for _, data := range bodies(reader.keys) {
				said, bad := allows(data), reader.read(data)
				if (said == nil) != (bad == nil) {
					t.Errorf("%.300s: the document says %v, the reader %+v", data, said, bad)
				}
			}
		})
	}
}
