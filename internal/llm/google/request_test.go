package google_test

import (
	"context"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/google"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/googleapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

var update = flag.Bool("update", false, "write the requests in testdata anew")

const key = "invented-key-of-tests"

// at makes a model that reaches a server.
func at(t testing.TB, name string, transport http.RoundTripper) *google.Model {
	t.Helper()
	m, err := google.New(google.Config{Model: name, Key: key, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func say(text string) llm.Message { return llm.Message{Role: llm.User, Text: text} }

func ptr(f float64) *float64 { return &f }

var lookup = llm.Tool{
	Name: "find_course", Description: "Finds a course by its topic.",
	Parameters: []byte(`{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{` +
		`"topic":{"type":"string","minLength":1,"description":"what it is about"},` +
		`"level":{"const":"beginner"},"day":{"type":"string","format":"date"},"mail":{"type":"string","format":"email"},` +
		`"pattern":{"type":["string","null"],"enum":["a",null],"default":"a"}},` +
		`"required":["topic"],"additionalProperties":false}`),
}

var plainTool = llm.Tool{Name: "opening_hours", Description: "Tells when the desk is open.", Parameters: []byte(`{"type":"object","properties":{},"additionalProperties":false}`)}

var (
	asked = llm.Message{Role: llm.Assistant, Text: "One moment.", Calls: []llm.ToolCall{
		{ID: "a1", Name: "find_course", Arguments: []byte(`{"topic":"glaze"}`)},
		{ID: "b2", Name: "opening_hours", Arguments: []byte(`not JSON`)},
	}}
	told = llm.Message{Role: llm.ToolResult, Results: []llm.Result{
		{CallID: "a1", Name: "find_course", Content: []byte(`{"title":"Glazing"}`)},
		{CallID: "b2", Name: "opening_hours", Content: []byte(`["9-17"]`)},
	}}
)

// Holds docs/spec/04-agent.md, "Models": the shapes of a provider's requests.
func TestRequests(t *testing.T) {
	own := asked
	own.State = []byte(`google:{"model":"gemini-3.8-flash","text":"dGV4dA==","calls":[{"id":"a1","given":"g-1","signature":"c2lnbmVkIGJ5IGdlbWluaS0zLjgtZmxhc2g6IGZpbmRfY291cnNl"},{"id":"b2"}]}`)
	foreign := asked
	foreign.State = []byte(`anthropic:{"thinking":"x"}`)
	tests := []struct {
		name, model string
		req         llm.Request
	}{
		{"plain", "gemini-3.8-flash", llm.Request{System: "You are the front desk.", Messages: []llm.Message{say("Hello")}}},
		{"history", "gemini-3.8-flash", llm.Request{System: "Desk.", Messages: []llm.Message{
			say("Hello"), {Role: llm.Assistant, Text: "Good morning."}, say("How much is glazing?"), {Role: llm.Assistant}, say("?")}}},
		{"schema", "gemini-2.5-flash", llm.Request{Messages: []llm.Message{say("Hello")}, Schema: []byte(`{"type":"object","$id":"x","allOf":[{}],"properties":{` +
			`"z":{"type":"array","items":{"type":"string","maxLength":9},"minItems":1,"maxItems":3,"uniqueItems":true},` +
			`"a":{"anyOf":[{"type":"number","minimum":0,"maximum":1,"exclusiveMinimum":0},{"type":"null"}]},` +
			`"r":{"$ref":"#/$defs/d","description":"beside a reference"}},` +
			`"$defs":{"d":{"oneOf":[{"enum":[1,true]},{"enum":[false]}]}},"required":["z","a"],"additionalProperties":false}`)}},
		{"tools", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{say("Hello")}, Tools: []llm.Tool{lookup, plainTool}, ToolChoice: llm.ToolsAuto}},
		{"tool-loop", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{say("Glaze?"), own, told}, Tools: []llm.Tool{lookup, plainTool}, ToolChoice: llm.ToolsAuto}},
		{"tool-loop-of-another-model", "gemini-3.6-flash", llm.Request{Messages: []llm.Message{say("Glaze?"), own, told}, Tools: []llm.Tool{lookup, plainTool}}},
		{"tool-loop-of-another-provider", "gemini-2.5-flash", llm.Request{Messages: []llm.Message{say("Glaze?"), foreign, told}, Tools: []llm.Tool{lookup, plainTool}}},
		{"tools-none", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{say("Glaze?"), own, told}, Tools: []llm.Tool{lookup}, ToolChoice: llm.ToolsNone, Schema: []byte(`{"type":"object","properties":{"a":{"type":"string"}}}`)}},
		{"calls-without-tools", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{say("Glaze?"), own, told}}},
		{"images", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{
			{Role: llm.User, Text: "This one?", Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}, {MediaType: "image/jpeg", Data: []byte("\xff\xd8")}}}}}},
		{"temperature", "gemini-2.5-flash", llm.Request{Messages: []llm.Message{say("Hello")}, Temperature: ptr(0)}},
		{"effort-by-level", "gemini-4-argon", llm.Request{Messages: []llm.Message{say("Hello")}, Effort: llm.EffortHigh, ReasoningTokens: 16384, MaxOutputTokens: 1000}},
		{"effort-least", "gemini-3.8-flash", llm.Request{Messages: []llm.Message{say("Hello")}, Effort: llm.EffortMinimal}},
		{"effort-minimal", "gemini-3.5-flash-lite", llm.Request{Messages: []llm.Message{say("Hello")}, Effort: llm.EffortMinimal}},
		{"effort-by-budget", "gemini-2.5-pro", llm.Request{Messages: []llm.Message{say("Hello")}, Effort: llm.EffortLow}},
		{"reasoning-reserved", "gemini-2.5-flash", llm.Request{Messages: []llm.Message{say("Hello")}, ReasoningTokens: 30000, MaxOutputTokens: 500}},
		{"reasoning-by-itself", "gemini-flash-latest", llm.Request{Messages: []llm.Message{say("Hello")}, ReasoningTokens: 6144, MaxOutputTokens: 500}},
		{"unicode", "gemini-3.8-flash", llm.Request{System: "Desk\x00", Messages: []llm.Message{say("¿Cuánto? 😀 e\u0301 \"q\" \\ </s>\n\xff\xed\xa0\x80\x00")}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := googleapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
			if resp, err := at(t, tt.model, s.Transport()).Generate(t.Context(), tt.req); err != nil || resp.Text != "ok" {
				t.Fatalf("Generate = %+v, %v", resp, err)
			}
			golden(t, tt.name, s.Requests()[0])
		})
	}
}

// golden compares a request, byte by byte but for white space, with the one in testdata.
func golden(t *testing.T, name string, r provider.Request) {
	t.Helper()
	got, err := json.Marshal(struct {
		Path   string
		Header http.Header
		Body   jsontext.Value
	}{r.Path, r.Header, r.Body}, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%s", path, diff)
	}
}

// Holds docs/spec/04-agent.md, "Loop": what is asked reaches the model, and what it
// answers comes back, over two steps with tools.
func TestRoundTrip(t *testing.T) {
	schema, err := reply.Schema()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		model string
		req   llm.Request
		ids   []string
	}{
		{"gemini-3.8-flash", llm.Request{Effort: llm.EffortLow, ReasoningTokens: 2048, Schema: schema}, []string{"g-1", "g-2"}},
		{"gemini-2.5-pro", llm.Request{ReasoningTokens: 4000, Temperature: ptr(0.4)}, []string{"call_1", "call_2"}},
	} {
		t.Run(tt.model, func(t *testing.T) {
			first := llm.Response{
				Text: "One moment.", Stop: llm.StopTools, Usage: llm.Usage{Input: 900, Cached: 400, Output: 70},
				Calls: []llm.ToolCall{
					{ID: tt.ids[0], Name: "find_course", Arguments: []byte(`{"topic":"glaze","n":1}`)},
					{ID: tt.ids[1], Name: "find_course", Arguments: []byte(`{}`)},
				},
			}
			last := llm.Response{Text: `{"messages":["Yes"]}`, Stop: llm.StopEnd, Usage: llm.Usage{Input: 1000, Output: 9}}
			model := &llmtest.Scripted{Steps: []llmtest.Step{{Response: first}, {Response: last}}}
			m := at(t, tt.model, googleapi.New(model, key).Transport())

			req := tt.req
			req.System, req.MaxOutputTokens = "You are the front desk.", 700
			req.Tools = []llm.Tool{{Name: "find_course", Description: "Finds.", Parameters: []byte(`{"type":"object","properties":{"topic":{"type":"string"}}}`)}}
			req.ToolChoice = llm.ToolsAuto
			req.Messages = []llm.Message{say("Hi"), {Role: llm.Assistant, Text: "Hello."},
				{Role: llm.User, Text: "This?", Images: []llm.Image{{MediaType: "image/webp", Data: []byte("RIFF")}}}}
			for _, want := range []llm.Response{first, last} {
				got, err := m.Generate(t.Context(), req)
				if err != nil {
					t.Fatal(err)
				}
				arrived := model.Requests()[len(model.Requests())-1]
				if diff := cmp.Diff(req, arrived, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(llm.Message{}, "State")); diff != "" {
					t.Errorf("request (-sent +arrived):\n%s", diff)
				}
				if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(llm.Response{}, "State")); diff != "" {
					t.Errorf("response (-given +got):\n%s", diff)
				}
				req.Messages = append(req.Messages,
					llm.Message{Role: llm.Assistant, Text: got.Text, Calls: got.Calls, State: got.State},
					llm.Message{Role: llm.ToolResult, Results: []llm.Result{
						{CallID: tt.ids[0], Name: "find_course", Content: []byte(`{"title":"Glazing"}`)},
						{CallID: tt.ids[1], Name: "find_course", Content: []byte(`{"error":"no topic"}`)},
					}})
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": no text that a contact can send makes a request
// that the provider cannot read.
func TestAnyTextIsTaken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "text"))
		raw := rapid.SliceOf(rapid.Byte()).Draw(t, "raw")
		if rapid.Bool().Draw(t, "escape") {
			raw = []byte(`{"a":"\ud800` + text + `"}`)
		}
		model := &llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}
		m, err := google.New(google.Config{Model: "gemini-3.8-flash", Key: key, Transport: googleapi.New(model, key).Transport()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = m.Generate(context.Background(), llm.Request{System: text, Tools: []llm.Tool{lookup}, Messages: []llm.Message{
			say("x" + text),
			{Role: llm.Assistant, Text: text, State: raw, Calls: []llm.ToolCall{{ID: text, Name: "find_course", Arguments: raw}}},
			{Role: llm.ToolResult, Results: []llm.Result{{CallID: text, Name: "find_course", Content: raw}}},
		}})
		if err != nil {
			t.Errorf("%q, %q: %v", text, raw, err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Models": the key stands in its header alone, and what
// cannot work is told at the start.
func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		config google.Config
		want   string // part of the error; empty: none
	}{
		{"fine", google.Config{Model: "models/gemini-3.8-flash", Key: "k", BaseURL: "http://127.0.0.1:80/gemini/"}, ""},
		{"no key", google.Config{Model: "gemini-3.8-flash"}, "GOOGLE_GENERATIVE_AI_API_KEY"},
		{"key with a line break", google.Config{Model: "gemini-3.8-flash", Key: "k\n"}, "GOOGLE_GENERATIVE_AI_API_KEY"},
		{"no model", google.Config{Key: "k"}, "AGENT_MODEL"},
		{"a path", google.Config{Model: "../files", Key: "k"}, "AGENT_MODEL"},
		{"a query", google.Config{Model: "x?key=y", Key: "k"}, "AGENT_MODEL"},
		{"another method", google.Config{Model: "x:streamGenerateContent", Key: "k"}, "AGENT_MODEL"},
		{"an address with a query", google.Config{Model: "x", Key: "k", BaseURL: "https://example.com?a=b"}, "address"},
		{"an address of another kind", google.Config{Model: "x", Key: "k", BaseURL: "ftp://example.com"}, "address"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := google.New(tt.config)
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New = %v, want an error on %q", err, tt.want)
			}
			if err != nil && tt.config.Key != "" && tt.config.Key != "k" && strings.Contains(err.Error(), tt.config.Key) {
				t.Errorf("New = %v quotes the key", err)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a schema that is none is no request at all.
func TestBrokenSchemas(t *testing.T) {
	s := googleapi.New(&llmtest.Scripted{}, key)
	for name, req := range map[string]llm.Request{
		"answer": {Schema: []byte(`{"type":`)},
		"list":   {Schema: []byte(`[]`)},
		"tool":   {Tools: []llm.Tool{{Name: "find_course", Parameters: []byte(`x`)}}},
	} {
		_, err := at(t, "gemini-3.8-flash", s.Transport()).Generate(t.Context(), req)
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindRejected || len(s.Requests()) != 0 {
			t.Errorf("%s: %v after %d requests", name, err, len(s.Requests()))
		}
	}
}
