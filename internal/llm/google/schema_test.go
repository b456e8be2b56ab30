package google_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/googleapi"
)

// Holds docs/spec/04-agent.md, "Reply contract": of a schema goes what Google takes, in
// its order.
func TestSchema(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"order", `{"properties":{"z":{"type":"string"},"a":{"type":"string"}}}`, `{"properties":{"z":{"type":"string"},"a":{"type":"string"}}}`},
		{"bounds", `{"type":"array","items":{"type":"string","maxLength":9},"minItems":1}`, `{"type":"array","items":{"type":"string"},"minItems":1}`},
		{"items of older drafts", `{"type":"array","items":[{"type":"string"}],"maxItems":1}`, `{"type":"array","maxItems":1}`},
		{"anything", `{"items":true,"additionalProperties":false}`, `{"items":true,"additionalProperties":false}`},
		{"one value", `{"const":"a"}`, `{"enum":["a"]}`},
		{"one value that no list takes", `{"const":null}`, `{}`},
		{"nothing required", `{"properties":{},"required":[]}`, `{"properties":{}}`},
		{"beside a reference", `{"$defs":{"a":{"format":"email"}},"$ref":"#/$defs/a","description":"x"}`, `{"$defs":{"a":{}},"$ref":"#/$defs/a"}`},
		{"choices", `{"anyOf":[{"format":"date"},{"oneOf":[{"pattern":"a"}]}]}`, `{"anyOf":[{"format":"date"},{"oneOf":[{}]}]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := googleapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
			if _, err := at(t, "gemini-3.8-flash", s.Transport()).Generate(t.Context(), llm.Request{Messages: []llm.Message{say("?")}, Schema: []byte(tt.in)}); err != nil {
				t.Fatal(err)
			}
			var sent struct {
				Generation struct {
					Schema jsontext.Value `json:"responseJsonSchema"`
				} `json:"generationConfig"`
			}
			if err := json.Unmarshal(s.Requests()[0].Body, &sent); err != nil {
				t.Fatal(err)
			}
			if got := string(sent.Generation.Schema); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
