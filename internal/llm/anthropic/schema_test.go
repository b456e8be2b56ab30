package anthropic_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
)

// schemaSent is what a schema becomes on its way to the API.
func schemaSent(t *testing.T, schema string) string {
	t.Helper()
	var body struct {
		OutputConfig struct {
			Format struct {
				Schema jsontext.Value `json:"schema"`
			} `json:"format"`
		} `json:"output_config"`
	}
	r := asked(t, newest, llm.Request{Messages: []llm.Message{says(llm.User, "?")}, Schema: []byte(schema)})
	if err := json.Unmarshal(r.Body, &body); err != nil {
		t.Fatal(err)
	}
	return string(body.OutputConfig.Format.Schema)
}

// Holds docs/spec/04-agent.md, "Reply contract": the schema reaches the provider in its order, and
// what the provider does not enforce is told in words.
func TestSchemaKeepsWhatTheAPITakes(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"order", `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}}}`, `{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"string"}},"additionalProperties":false}`},
		{"bounds of a number", `{"type":"number","minimum":0,"maximum":1,"description":"How sure."}`, `{"type":"number","description":"How sure. (minimum: 0, maximum: 1)"}`},
		{"bounds of a text", `{"type":"string","minLength":1}`, `{"type":"string","description":"(minLength: 1)"}`},
		{"items", `{"type":"array","items":{"type":"integer","exclusiveMinimum":0},"minItems":1,"maxItems":3}`, `{"type":"array","items":{"type":"integer","description":"(exclusiveMinimum: 0)"},"minItems":1,"description":"(maxItems: 3)"}`},
		{"more items", `{"type":"array","minItems":2}`, `{"type":"array","description":"(minItems: 2)"}`},
		{"choice", `{"oneOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`, `{"anyOf":[{"type":"string","enum":["a"]},{"type":"null"}]}`},
		{"open object", `{"type":"object","properties":{},"additionalProperties":{"type":"string"}}`, `{"type":"object","properties":{},"additionalProperties":false}`},
		{"formats", `{"anyOf":[{"type":"string","format":"date"},{"type":"string","format":"phone"}]}`, `{"anyOf":[{"type":"string","format":"date"},{"type":"string","description":"(format: \"phone\")"}]}`},
		{"property with a keyword's name", `{"type":"object","properties":{"minimum":{"type":"number"}}}`, `{"type":"object","properties":{"minimum":{"type":"number"}},"additionalProperties":false}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := schemaSent(t, test.schema); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": whatever schema is asked for, the API takes it.
func TestTheAPITakesEverySchema(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		schema, err := json.Marshal(drawSchema(rt, 3), json.Deterministic(true))
		if err != nil {
			rt.Fatal(err)
		}
		server := anthropicapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "{}"}}}, key)
		_, err = newModel(t, newest, server).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "?")}, Schema: schema})
		if err != nil {
			rt.Fatalf("%s: %v", schema, err)
		}
	})
}

func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	for _, keyword := range rapid.SliceOfDistinct(rapid.SampledFrom(strings.Fields("minimum maxLength minItems maxItems uniqueItems title multipleOf not if")), rapid.ID).Draw(t, "keywords") {
		s[keyword] = rapid.IntRange(0, 3).Draw(t, keyword)
	}
	kinds := []string{"string", "integer", "boolean", "null"}
	if depth > 0 {
		kinds = append(kinds, "object", "array", "anyOf", "oneOf")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "object":
		properties := map[string]any{}
		for _, name := range rapid.SliceOfN(rapid.StringMatching(`[a-z"\\]{1,4}`), 0, 3).Draw(t, "names") {
			properties[name] = drawSchema(t, depth-1)
		}
		s["type"], s["properties"] = kind, properties
	case "array":
		s["type"], s["items"] = kind, drawSchema(t, depth-1)
	case "anyOf", "oneOf":
		s[kind] = []any{drawSchema(t, depth-1), map[string]any{"type": "null"}}
	default:
		s["type"] = kind
	}
	return s
}

// Holds docs/spec/04-agent.md, "Reply contract": a schema that is none is refused here.
func TestBrokenSchemaIsRefused(t *testing.T) {
	for _, schema := range []string{`{`, `{"type":`, `{"properties":[]}`, `{"anyOf":{}}`, `{"type":"string","description":1,"minLength":1}`, `nonsense`} {
		server := anthropicapi.New(nil, key)
		_, err := newModel(t, newest, server).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "?")}, Schema: []byte(schema)})
		if e := failure(t, err); e.Kind != llm.KindRejected || len(server.Requests()) != 0 {
			t.Errorf("%s: %v after %d requests, want rejected after none", schema, e, len(server.Requests()))
		}
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": turns that run at once get each its own schema.
func TestSchemasAreNotMixedUp(t *testing.T) {
	server := anthropicapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}, Repeat: true}, key)
	m := newModel(t, newest, server)
	var turns sync.WaitGroup
	for _, word := range []string{"one", "two"} {
		for range 20 {
			turns.Go(func() {
				schema := `{"type":"object","properties":{"` + word + `":{"type":"string"}}}`
				if _, err := m.Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, word)}, Schema: []byte(schema)}); err != nil {
					t.Error(err)
				}
			})
		}
	}
	turns.Wait()
	for _, r := range server.Requests() {
		if n := strings.Count(string(r.Body), `"one"`); n != 0 && n != 2 {
			t.Errorf("the schema of another turn: %s", r.Body)
		}
	}
}
