// Package schema makes the JSON Schemas by which an editor completes and checks a
// tenant's files. They come from the same types and tags that the files are read by.
package schema

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/invopop/jsonschema"

	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// All returns the schemas by the name of the file they describe, such as
// catalog.json, as indented JSON that ends in a line break.
func All() (map[string][]byte, error) {
	schemas := map[string][]byte{}
	for file, value := range map[string]any{
		tenant.CatalogFile: &tenant.Catalog{},
		tenant.RulesFile:   &tenant.Rules{},
		tenant.ToolsFile:   &tenant.Tools{},
	} {
		text, err := render(file, value)
		if err != nil {
			return nil, fmt.Errorf("schema of %s: %w", file, err)
		}
		schemas[file] = text
	}
	return schemas, nil
}

func render(file string, value any) ([]byte, error) {
	reflector := jsonschema.Reflector{
		Anonymous:                  true,
		ExpandedStruct:             true,
		RequiredFromJSONSchemaTags: true,
	}
	s := reflector.Reflect(value)
	s.Title = file
	// Editors that know these keywords stop marking what the files may have.
	s.Extras = map[string]any{"allowComments": true, "allowTrailingCommas": true}
	if note := s.Definitions["Note"]; note != nil {
		promise, _ := note.Properties.Get("neverRendered")
		promise.Const = true // the reflector knows no enum of a boolean
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(s); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
