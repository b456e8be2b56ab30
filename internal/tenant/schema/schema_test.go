package schema_test

import (
	"bytes"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/tailscale/hujson"

	demo "github.com/manychat-agent/manychat-agent/config"
	"github.com/manychat-agent/manychat-agent/internal/tenant/schema"
)

var update = flag.Bool("update", false, "rewrite the committed schemas")

const committed = "../../../config/schema"

// Holds docs/spec/10-config.md, first section: the example files point at committed
// copies of the schemas.
func TestCommittedSchemas(t *testing.T) {
	for name, want := range all(t) {
		path := filepath.Join(committed, name)
		if *update {
			if err := os.WriteFile(path, want, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s is out of date (-want +got); run: go test ./internal/tenant/schema -update\n%s", path, diff)
		}
	}
}

// The examples must pass their own schema, in the words of an independent validator.
func TestExamplesMatchSchemas(t *testing.T) {
	for name, text := range all(t) {
		s := compile(t, name, text)
		example, err := fs.ReadFile(demo.FS(), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(decode(t, example)); err != nil {
			t.Errorf("%s.example: %v", name, err)
		}
	}
}

// The schemas refuse what the reader refuses.
func TestSchemasRefuse(t *testing.T) {
	tests := []struct{ name, file, text string }{
		{"unknown key", "rules.json", `{"messages":{"acknowledgement":"a","escalation":"b"},"tone":"warm"}`},
		{"missing copy", "rules.json", `{"messages":{"acknowledgement":"a"}}`},
		{"threshold above 1", "rules.json", `{"messages":{"acknowledgement":"a","escalation":"b"},"confidenceThreshold":2}`},
		{"unknown mode", "rules.json", `{"messages":{"acknowledgement":"a","escalation":"b"},"audience":{"mode":"some"}}`},
		{"a number of a contact", "rules.json", `{"messages":{"acknowledgement":"a","escalation":"b"},"audience":{"subscribers":[12]}}`},
		{"id with a capital", "tools.json", `{"tags":[{"id":"Gift","tag":"t","description":"d"}]}`},
		{"a note that is rendered", "tools.json", `{"notes":[{"id":"n","field":"f","maxLength":9,"neverRendered":false,"description":"d"}]}`},
		{"unknown stage", "tools.json", `{"events":[{"id":"e","stage":"new","flowNs":"x"}]}`},
		{"no offerings", "catalog.json", `{"businessName":"b","currency":"EUR","offerings":[]}`},
	}
	schemas := all(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if compile(t, tt.file, schemas[tt.file]).Validate(decode(t, []byte(tt.text))) == nil {
				t.Errorf("the schema of %s takes %s", tt.file, tt.text)
			}
		})
	}
}

func all(t *testing.T) map[string][]byte {
	t.Helper()
	schemas, err := schema.All()
	if err != nil {
		t.Fatal(err)
	}
	return schemas
}

func compile(t *testing.T, name string, text []byte) *jsonschema.Schema {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource(name, decode(t, text)); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func decode(t *testing.T, text []byte) any {
	t.Helper()
	standard, err := hujson.Standardize(bytes.Clone(text))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(standard))
	if err != nil {
		t.Fatal(err)
	}
	return value
}
