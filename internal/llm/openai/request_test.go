package openai_test

import (
	"flag"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/llm/openai"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

var update = flag.Bool("update", false, "write the golden requests instead of comparing with them")

const key = "sk-fictional-key"

const done = `{"status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"ok"}]}],"usage":{"input_tokens":1,"output_tokens":1}}`

// Models of the provider that differ in what they take.
const (
	newest = "gpt-6-sol"
	first  = "gpt-5-mini"
	plain  = "gpt-4.1"
)

// answered is an answer in JSON.
func answered(status int, body string) provider.Fault {
	return provider.Fault{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

func newModel(t testing.TB, name string, server *provider.Server) *openai.Model {
	t.Helper()
	m, err := openai.New(openai.Config{Model: name, Key: key, Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked is what reaches the server of a request.
func asked(t *testing.T, model string, req llm.Request) provider.Request {
	t.Helper()
	server := openaiapi.New(nil, key)
	server.Break(answered(http.StatusOK, done))
	if _, err := newModel(t, model, server).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0]
}

func says(role llm.Role, text string) llm.Message { return llm.Message{Role: role, Text: text} }

var hello = []llm.Message{says(llm.User, "Hello")}

func replySchema(t testing.TB) []byte {
	t.Helper()
	schema, err := reply.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// twoTools are a tool with parameters and one without.
func twoTools() []llm.Tool {
	return []llm.Tool{
		{Name: "set_note", Description: "Keeps a note.", Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string","maxLength":200}},"required":["name"],"additionalProperties":false}`)},
		{Name: "list_offerings", Description: "Lists the offerings.", Parameters: []byte(`{"type":"object"}`)},
	}
}

// toolLoop is a conversation in whose last step two tools were called.
func toolLoop(state string) []llm.Message {
	return []llm.Message{
		says(llm.User, "I paint glass. What do you teach?"),
		{Role: llm.Assistant, Text: "One moment.", State: []byte(state), Calls: []llm.ToolCall{
			{ID: "call_a", Name: "set_note", Arguments: []byte(`{"name":"craft","value":"glass"}`)},
			{ID: "toolu " + strings.Repeat("b", 70), Name: "list offerings!", Arguments: []byte(`{"broken`)},
		}},
		{Role: llm.ToolResult, Results: []llm.Result{
			{CallID: "call_a", Name: "set_note", Content: []byte(`{"ok":true}`)},
			{CallID: "toolu " + strings.Repeat("b", 70), Name: "list offerings!", Content: []byte(`{"error":"the arguments are not JSON"}`)},
		}},
	}
}

const ownState = `openai:[{"type":"reasoning","summary":[],"encrypted_content":"gAAA1"},{"type":"message","phase":"commentary"},{"type":"function_call"},{"type":"reasoning","summary":[],"encrypted_content":"gAAA2"},{"type":"function_call"}]`

type golden struct {
	model string
	req   llm.Request
}

func requests(t *testing.T) map[string]golden {
	warm := 0.3
	png := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG")}
	jpeg := llm.Image{MediaType: "image/jpeg", Data: []byte("\xff\xd8")}
	optional := []byte(`{"$schema":"x","title":"T","type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"z":{"oneOf":[{"type":"integer","minimum":1},{"const":"a"}]},"e":{"type":"object"}}},"minItems":1},"a":{"type":"string","pattern":"^a","default":"a"}},"required":["a"]}`)
	return map[string]golden{
		"plain":          {plain, llm.Request{System: "Be brief.", Messages: hello}},
		"cache-mark":     {newest, llm.Request{System: "Be brief.", Messages: hello}},
		"history":        {newest, llm.Request{Messages: []llm.Message{says(llm.User, "Hello"), says(llm.Assistant, "Good day"), says(llm.User, "When?"), says(llm.Assistant, "On Monday"), says(llm.User, "Fine")}}},
		"schema":         {newest, llm.Request{Messages: hello, Schema: replySchema(t)}},
		"optional":       {plain, llm.Request{Messages: hello, Schema: optional}},
		"optional-tuned": {"ft:gpt-4.1-mini:example::id", llm.Request{Messages: hello, Schema: optional}},
		"tools":          {newest, llm.Request{Messages: hello, Tools: twoTools(), ToolChoice: llm.ToolsAuto, Schema: replySchema(t)}},
		"tools-plain":    {plain, llm.Request{Messages: hello, Tools: append(twoTools(), llm.Tool{Name: "ping"})}},
		"tools-none":     {newest, llm.Request{Messages: toolLoop(ownState), Tools: twoTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(t)}},
		"tool-loop":      {newest, llm.Request{Messages: toolLoop(""), Tools: twoTools()}},
		"tool-state":     {newest, llm.Request{Messages: toolLoop(ownState), Tools: twoTools()}},
		"foreign-state":  {newest, llm.Request{Messages: toolLoop(strings.Replace(ownState, "openai:", "anthropic:", 1)), Tools: twoTools()}},
		"nameless-state": {newest, llm.Request{Messages: toolLoop(strings.TrimPrefix(ownState, "openai:")), Tools: twoTools()}},
		"unlike-state":   {newest, llm.Request{Messages: toolLoop(`openai:[{"type":"reasoning","encrypted_content":"gAAA1"},{"type":"function_call"}]`), Tools: twoTools()}},
		"without-tools":  {newest, llm.Request{Messages: toolLoop(ownState)}},
		"images":         {newest, llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Is this mine?", Images: []llm.Image{png, jpeg}}, says(llm.Assistant, "Yes"), {Role: llm.User, Images: []llm.Image{png}}}}},
		"temperature":    {plain, llm.Request{Messages: hello, Temperature: &warm}},
		"effort":         {first, llm.Request{Messages: hello, Effort: llm.EffortMinimal, Temperature: &warm}},
		"max-tokens":     {plain, llm.Request{Messages: hello, MaxOutputTokens: 1000}},
		"max-reasoning":  {newest, llm.Request{Messages: hello, MaxOutputTokens: 1000, ReasoningTokens: 2048, Effort: llm.EffortLow}},
		"least-tokens":   {plain, llm.Request{Messages: hello, MaxOutputTokens: 5}},
		"unicode":        {plain, llm.Request{System: "Прайс: «2 000 ₽»", Messages: []llm.Message{says(llm.User, "你好 👩‍👩‍👧 <b>&\u2028\"\\")}}},
		"broken-unicode": {plain, llm.Request{System: "a\x00b\xff", Messages: []llm.Message{says(llm.User, "\xed\xa0\xbd half of an emoji")}}},
	}
}

// Holds docs/spec/04-agent.md, "Models": the request of each feature, as it goes over
// the wire.
func TestRequest(t *testing.T) {
	for name, g := range requests(t) {
		t.Run(name, func(t *testing.T) {
			got := jsontext.Value(asked(t, g.model, g.req).Body)
			if err := got.Indent(jsontext.WithIndent("  ")); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), string(got)+"\n"); d != "" {
				t.Errorf("request differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": no golden request is left that nothing makes.
func TestGoldenFilesAreUsed(t *testing.T) {
	files, err := filepath.Glob("testdata/*.json")
	if err != nil {
		t.Fatal(err)
	}
	made := slices.Collect(maps.Keys(requests(t)))
	for _, f := range files {
		if !slices.Contains(made, strings.TrimSuffix(filepath.Base(f), ".json")) {
			t.Errorf("%s belongs to no request", f)
		}
	}
}

// The provider keeps nothing, and is told of nobody, whatever is asked.
//
// Holds docs/spec/01-principles.md, "Rules nothing may break".
func TestNothingIsKeptAndNobodyNamed(t *testing.T) {
	for name, g := range requests(t) {
		var sent map[string]jsontext.Value
		if err := json.Unmarshal(asked(t, g.model, g.req).Body, &sent); err != nil {
			t.Fatal(err)
		}
		if string(sent["store"]) != "false" {
			t.Errorf("%s: store is %s", name, sent["store"])
		}
		for _, member := range []string{"user", "safety_identifier", "metadata", "previous_response_id", "conversation"} {
			if value, there := sent[member]; there {
				t.Errorf("%s: %s is %s", name, member, value)
			}
		}
	}
}

// Holds docs/spec/04-agent.md, "Prompt": the key that routes to a prompt's cache follows
// the static part alone.
func TestTheCacheKeyFollowsTheStaticPart(t *testing.T) {
	keyOf := func(system, said string) string {
		var sent struct {
			Key string `json:"prompt_cache_key"`
		}
		if err := json.Unmarshal(asked(t, newest, llm.Request{System: system, Messages: []llm.Message{says(llm.User, said)}}).Body, &sent); err != nil {
			t.Fatal(err)
		}
		return sent.Key
	}
	one := keyOf("Static.", "Hello")
	if other := keyOf("Static.", "My number is 555-0100"); one == "" || other != one {
		t.Errorf("keys %q and %q of one static part", one, other)
	}
	if other := keyOf("Another.", "Hello"); other == one {
		t.Errorf("one key %q of two static parts", one)
	}
}

// Holds docs/spec/04-agent.md, "Models": the effort that each model takes, by OpenAI's
// page of the model; what is known of a model by its name.
func TestWhatAModelTakes(t *testing.T) {
	tests := []struct {
		model                      string
		minimal, low, medium, high string
		sealed, marked             bool
	}{
		{"gpt-5", "minimal", "low", "medium", "high", true, false},
		{"gpt-5-nano-2025-08-07", "minimal", "low", "medium", "high", true, false},
		{"gpt-5-codex", "low", "low", "medium", "high", true, false},
		{"gpt-5-pro", "high", "high", "high", "high", true, false},
		{"gpt-5-chat-latest", "low", "low", "medium", "high", false, false},
		// https://github.com/anomalyco/opencode/issues/4451
		{"gpt-5.1", "low", "low", "medium", "high", true, false},
		{"gpt-5.2-pro", "medium", "medium", "medium", "high", true, false},
		{"gpt-5.5", "low", "low", "medium", "high", true, false},
		// https://github.com/pydantic/pydantic-ai/issues/7081
		{"gpt-5.6-sol", "low", "low", "medium", "high", true, true},
		{"gpt-5.10", "low", "low", "medium", "high", true, true},
		{"gpt-6-astra", "low", "low", "medium", "high", true, true},
		{"gpt-6.2-sol-2026-11-01", "low", "low", "medium", "high", true, true},
		{"o3", "low", "low", "medium", "high", true, false},
		{"o4-mini-2025-04-16", "low", "low", "medium", "high", true, false},
		{"gpt-4o", "low", "low", "medium", "high", false, false},
		{"gpt-4.1-mini", "low", "low", "medium", "high", false, false},
		{"ft:gpt-5.6-luna:example::id", "low", "low", "medium", "high", true, true},
		{"ft:gpt-5-mini:example::id", "minimal", "low", "medium", "high", true, false},
		{"omni-something", "low", "low", "medium", "high", false, false},
		{"gpt-99999999999999999999", "low", "low", "medium", "high", false, false},
	}
	for _, test := range tests {
		t.Run(test.model, func(t *testing.T) {
			for effort, want := range map[llm.Effort]string{llm.EffortMinimal: test.minimal, llm.EffortLow: test.low, llm.EffortMedium: test.medium, llm.EffortHigh: test.high} {
				body := string(asked(t, test.model, llm.Request{System: "s", Messages: hello, Effort: effort, Tools: twoTools()}).Body)
				if !strings.Contains(body, `"reasoning":{"effort":"`+want+`"}`) {
					t.Errorf("effort %s: want %s in %s", effort, want, body)
				}
				if sealed := strings.Contains(body, `"include":["reasoning.encrypted_content"]`); sealed != test.sealed {
					t.Errorf("encrypted reasoning is asked for: %v", sealed)
				}
				if marked := strings.Contains(body, `"prompt_cache_breakpoint":{"mode":"explicit"}`); marked != test.marked {
					t.Errorf("the static part is marked: %v", marked)
				}
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a key goes into one header, and what is said
// into none.
func TestHeaders(t *testing.T) {
	got := asked(t, newest, llm.Request{System: "secret system", Messages: []llm.Message{says(llm.User, "secret words")}})
	want := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Authorization": {"Bearer " + key}}
	if d := cmp.Diff(want, got.Header); d != "" {
		t.Errorf("headers differ (-want +got):\n%s", d)
	}
	if got.Path != "/v1/responses" {
		t.Errorf("path = %s", got.Path)
	}
}

// A server that stands for OpenAI may be Azure's, whose strict schemas have no bounds:
// https://learn.microsoft.com/azure/ai-services/openai/how-to/structured-outputs
//
// Holds docs/spec/04-agent.md, "Models".
func TestAnotherAddress(t *testing.T) {
	server := openaiapi.New(nil, key)
	server.Break(answered(http.StatusOK, done))
	m, err := openai.New(openai.Config{Model: newest, Key: key, BaseURL: "https://llm.example.com/openai/v1/", Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Generate(t.Context(), llm.Request{Messages: hello, Schema: replySchema(t)}); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()[0]
	if got.Path != "/openai/v1/responses" {
		t.Errorf("path = %s", got.Path)
	}
	if strings.Contains(string(got.Body), "maxItems") {
		t.Errorf("bounds in %s", got.Body)
	}
}

// Holds docs/spec/04-agent.md, "Models": what is missing or wrong is said by name, and
// no key is repeated.
func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		config openai.Config
		want   string // a part of the error; empty: none
	}{
		{"right", openai.Config{Model: "m", Key: key}, ""},
		{"own address", openai.Config{Model: "m", Key: key, BaseURL: "http://h/v1"}, ""},
		{"no key", openai.Config{Model: "m"}, "OPENAI_API_KEY is missing"},
		{"key with a line break", openai.Config{Model: "m", Key: key + "\n"}, "OPENAI_API_KEY holds"},
		{"odd key", openai.Config{Model: "m", Key: "schlüssel"}, "OPENAI_API_KEY holds"},
		{"no model", openai.Config{Key: key}, "the name of the model"},
		{"address without a scheme", openai.Config{Model: "m", Key: key, BaseURL: "llm.example.com/v1"}, "the base URL of openai"},
		{"address of a file", openai.Config{Model: "m", Key: key, BaseURL: "file://h/v1"}, "the base URL of openai"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := openai.New(test.config)
			switch {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("New = %v, want %q", err, test.want)
			case err != nil && test.config.Key != "" && strings.Contains(err.Error(), strings.TrimSpace(test.config.Key)):
				t.Errorf("the key is in %v", err)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a schema that is none is said before anything is
// sent.
func TestSchemasThatAreNone(t *testing.T) {
	for _, req := range []llm.Request{
		{Schema: []byte(`[]`)}, {Schema: []byte(`{"type":"object","properties":[]}`)}, {Schema: []byte(`{"type":`)},
		{Schema: []byte(`{"anyOf":{}}`)}, {Schema: []byte(`{"items":true}`)}, {Schema: []byte(``)},
		{Tools: []llm.Tool{{Name: "f", Parameters: []byte(`null`)}}}, {Tools: []llm.Tool{{Name: "f", Parameters: []byte(`{"a"}`)}}},
	} {
		req.Messages = hello
		server := openaiapi.New(nil, key)
		_, err := newModel(t, newest, server).Generate(t.Context(), req)
		if got, _ := failureOf(t, err); got.Kind != llm.KindRejected || len(server.Requests()) != 0 {
			t.Errorf("%s: %v after %d requests", req.Schema, err, len(server.Requests()))
		}
	}
}
