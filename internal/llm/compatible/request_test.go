package compatible_test

import (
	"flag"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/compatible"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

var update = flag.Bool("update", false, "write the golden requests instead of comparing with them")

const key = "sk-fictional-key"

const done = `{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`

// answered is an answer in JSON.
func answered(status int, body string) provider.Fault {
	return provider.Fault{Status: status, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

// base is the address of a server.
const base = "http://llm.example.com:8000/v1"

func newModel(t testing.TB, transport http.RoundTripper) *compatible.Model {
	t.Helper()
	m, err := compatible.New(compatible.Config{Model: "qwen3:8b", Key: key, BaseURL: base, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// asked is what reaches the server of a request.
func asked(t *testing.T, req llm.Request) provider.Request {
	t.Helper()
	server := chatapi.New(nil, key)
	server.Break(answered(http.StatusOK, done))
	if _, err := newModel(t, server.Transport()).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0]
}

func says(role llm.Role, text string) llm.Message { return llm.Message{Role: role, Text: text} }

func replySchema(t testing.TB) []byte {
	t.Helper()
	schema, err := reply.Schema()
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// threeTools are a tool with parameters, one without, and one that may have none.
func threeTools() []llm.Tool {
	return []llm.Tool{
		{Name: "set_note", Description: "Keeps a note.", Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string","maxLength":200}},"required":["name"],"additionalProperties":false}`)},
		{Name: "list_offerings", Description: "Lists the offerings."},
		{Name: "ping", Parameters: []byte(`{"type":"object"}`)},
	}
}

// toolLoop is a conversation in whose last step two tools were called.
func toolLoop(state string) []llm.Message {
	return []llm.Message{
		says(llm.User, "I paint glass. What do you teach?"),
		{Role: llm.Assistant, State: []byte(state), Calls: []llm.ToolCall{
			{ID: "call_a", Name: "set_note", Arguments: []byte(`{"name":"craft","value":"glass"}`)},
			{ID: "call_b", Name: "list offerings!", Arguments: []byte(`{"broken`)},
		}},
		{Role: llm.ToolResult, Results: []llm.Result{
			{CallID: "call_a", Name: "set_note", Content: []byte(`{"ok":true}`)},
			{CallID: "call_b", Name: "list offerings!", Content: []byte(`{"error":"the arguments are not JSON"}`)},
		}},
	}
}

func requests(t *testing.T) map[string]llm.Request {
	warm := 0.3
	hello := []llm.Message{says(llm.User, "Hello")}
	return map[string]llm.Request{
		"plain": {System: "Be brief.", Messages: hello},
		"history": {System: "Be brief.", Messages: []llm.Message{
			says(llm.User, "Hello"), says(llm.Assistant, "Good day"), says(llm.User, "When?"), says(llm.Assistant, "On Monday"), says(llm.User, "Fine"),
		}},
		"schema":         {Messages: hello, Schema: replySchema(t)},
		"optional":       {Messages: hello, Schema: []byte(`{"$schema":"x","title":"T","type":"object","properties":{"b":{"type":"array","items":{"type":"object","properties":{"z":{"oneOf":[{"type":"integer","minimum":1},{"const":"a"}]}}},"minItems":1},"a":{"type":"string","pattern":"^a","default":"a"}},"required":["a"]}`)},
		"tools":          {Messages: hello, Tools: threeTools(), ToolChoice: llm.ToolsAuto, Schema: replySchema(t)},
		"tools-none":     {Messages: toolLoop(""), Tools: threeTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(t)},
		"tool-loop":      {Messages: toolLoop(""), Tools: threeTools()},
		"tool-state":     {Messages: toolLoop(`openai-compatible:{"reasoning_content":"Let me see.","reasoning_details":[{"text":"x"}],"extra_content":[null,{"google":{"thought_signature":"c2ln"}}]}`), Tools: threeTools()},
		"foreign-state":  {Messages: toolLoop(`anthropic:{"reasoning_content":"Let me see."}`), Tools: threeTools()},
		"without-tools":  {Messages: toolLoop("")},
		"images":         {Messages: []llm.Message{{Role: llm.User, Text: "Is this mine?", Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}, {MediaType: "image/jpeg", Data: []byte("\xff\xd8")}}}, says(llm.Assistant, "Yes"), {Role: llm.User, Images: []llm.Image{{MediaType: "image/webp", Data: []byte("RIFF")}}}}},
		"temperature":    {Messages: hello, Temperature: &warm},
		"effort":         {Messages: hello, Effort: llm.EffortLow},
		"max-tokens":     {Messages: hello, MaxOutputTokens: 1000},
		"max-reasoning":  {Messages: hello, MaxOutputTokens: 1000, ReasoningTokens: 2048, Effort: llm.EffortLow},
		"unicode":        {System: "Прайс: «2 000 ₽»", Messages: []llm.Message{says(llm.User, "你好 👩‍👩‍👧 <b>&\u2028\"\\")}},
		"broken-unicode": {System: "a\x00b\xff", Messages: []llm.Message{says(llm.User, "\xed\xa0\xbd half of an emoji")}},
	}
}

// Holds docs/spec/04-agent.md, "Models": the request of each feature, as it goes over
// the wire.
func TestRequest(t *testing.T) {
	for name, req := range requests(t) {
		t.Run(name, func(t *testing.T) {
			got := jsontext.Value(asked(t, req).Body)
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

// Holds docs/spec/04-agent.md, "Models": a key goes into one header, and what is said
// into none.
func TestHeaders(t *testing.T) {
	tests := []struct{ name, key, want string }{
		{"a key", key, "Bearer " + key},
		{"none", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := chatapi.New(nil, "")
			server.Break(answered(http.StatusOK, done))
			m, err := compatible.New(compatible.Config{Model: "m", Key: tt.key, BaseURL: base + "/", Transport: server.Transport()})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Generate(t.Context(), llm.Request{System: "secret system", Messages: []llm.Message{says(llm.User, "secret words")}}); err != nil {
				t.Fatal(err)
			}
			got := server.Requests()[0]
			want := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
			if tt.want != "" {
				want["Authorization"] = []string{tt.want}
			}
			if d := cmp.Diff(want, got.Header); d != "" {
				t.Errorf("headers differ (-want +got):\n%s", d)
			}
			if got.Path != "/v1/chat/completions" {
				t.Errorf("path = %s", got.Path)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": what is missing or wrong is said by name, and
// no key is repeated.
func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		config compatible.Config
		want   string // a part of the error; empty: none
	}{
		{"all there", compatible.Config{Model: "m", Key: key, BaseURL: base}, ""},
		{"no key", compatible.Config{Model: "m", BaseURL: base}, ""},
		{"no model", compatible.Config{Key: key, BaseURL: base}, "the name of the model"},
		{"no address", compatible.Config{Model: "m", Key: key}, "OPENAI_COMPATIBLE_BASE_URL is missing"},
		{"address without a scheme", compatible.Config{Model: "m", BaseURL: "llm.example.com/v1"}, "OPENAI_COMPATIBLE_BASE_URL is not"},
		{"address with a query", compatible.Config{Model: "m", BaseURL: base + "?api-version=preview"}, "without a query"},
		{"key with a line break", compatible.Config{Model: "m", BaseURL: base, Key: key + "\n"}, "OPENAI_COMPATIBLE_API_KEY holds"},
		{"odd key", compatible.Config{Model: "m", BaseURL: base, Key: "schlüssel"}, "OPENAI_COMPATIBLE_API_KEY holds"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := compatible.New(tt.config)
			switch {
			case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("New = %v, want %q", err, tt.want)
			case err != nil && tt.config.Key != "" && strings.Contains(err.Error(), strings.TrimSpace(tt.config.Key)):
				t.Errorf("the key is in %v", err)
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
		name := strings.TrimSuffix(filepath.Base(f), ".json")
		if !slices.Contains(made, name) {
			t.Errorf("%s belongs to no request", f)
		}
	}
}
