package anthropic_test

import (
	"flag"
	"io"
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
	"github.com/manychat-agent/manychat-agent/internal/llm/anthropic"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

var update = flag.Bool("update", false, "write the golden requests instead of comparing with them")

const key = "sk-ant-fictional-key"

// answered is an answer of status 200.
func answered(body string) provider.Fault {
	return provider.Fault{Status: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: body}
}

const done = `{"type":"message","role":"assistant","content":[{"type":"text","text":"ok"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`

// asked is what reaches the API of a request to a model.
func asked(t *testing.T, model string, req llm.Request) provider.Request {
	t.Helper()
	server := anthropicapi.New(nil, key)
	server.Break(answered(done))
	if _, err := newModel(t, model, server).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0]
}

func newModel(t testing.TB, model string, server *provider.Server) *anthropic.Model {
	t.Helper()
	m, err := anthropic.New(anthropic.Config{Model: model, Key: key, Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	return m
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

// twoTools are a tool with parameters and one without.
func twoTools() []llm.Tool {
	return []llm.Tool{
		{Name: "set_note", Description: "Keeps a note.", Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string","maxLength":200}},"required":["name","value"],"additionalProperties":false}`)},
		{Name: "list_offerings", Description: "Lists the offerings."},
	}
}

// toolLoop is a conversation in whose last step two tools were called.
func toolLoop() []llm.Message {
	return []llm.Message{
		says(llm.User, "I paint glass. What do you teach?"),
		{Role: llm.Assistant, Text: "Let me look.", Calls: []llm.ToolCall{
			{ID: "toolu_1", Name: "set_note", Arguments: []byte(`{"name":"craft","value":"glass"}`)},
			{ID: "toolu_2", Name: "list_offerings", Arguments: []byte(`{}`)},
		}},
		{Role: llm.ToolResult, Results: []llm.Result{
			{CallID: "toolu_1", Name: "set_note", Content: []byte(`{"ok":true}`)},
			{CallID: "toolu_2", Name: "list_offerings", Content: []byte(`["leaded-glass"]`)},
		}},
	}
}

func withState(messages []llm.Message, state string) []llm.Message {
	messages[1].State = []byte(state)
	return messages
}

const (
	newest = "claude-sonnet-5-5"
	older  = "claude-haiku-4-5-20251001"
)

// golden is a request of each part that the API has a form for.
type golden struct {
	name, model string
	req         llm.Request
}

func goldens(t *testing.T) []golden {
	hello := []llm.Message{says(llm.User, "Hello!")}
	warm := 0.3
	hot := 1.7
	return []golden{
		{"plain", newest, llm.Request{Messages: hello, MaxOutputTokens: 800}},
		{"system", newest, llm.Request{System: "You are a front desk.", Messages: hello, MaxOutputTokens: 800}},
		{"max tokens of none", newest, llm.Request{Messages: hello}},
		{"history", newest, llm.Request{Messages: []llm.Message{
			says(llm.User, "Hello!"), says(llm.Assistant, "Hi. What can I do for you?"), says(llm.User, "How much is it?"),
		}, MaxOutputTokens: 800}},
		{"same side twice", newest, llm.Request{Messages: append(toolLoop(), says(llm.User, "Answer now.")), Tools: twoTools(), MaxOutputTokens: 800}},
		{"blank text", newest, llm.Request{Messages: []llm.Message{says(llm.User, " \n"), says(llm.Assistant, ""), says(llm.User, "?")}, MaxOutputTokens: 800}},
		{"unicode", newest, llm.Request{System: "Nul\x00 and half a rune \xe2\x82.", Messages: []llm.Message{
			says(llm.User, "Привет 👋🏽 \u2028 \xed\xa0\x80 שלום"),
		}, MaxOutputTokens: 800}},
		{"temperature", newest, llm.Request{Messages: hello, MaxOutputTokens: 800, Temperature: &warm}},
		{"temperature above the range", newest, llm.Request{Messages: hello, MaxOutputTokens: 800, Temperature: &hot}},
		{"schema", newest, llm.Request{Messages: hello, MaxOutputTokens: 800, Schema: replySchema(t)}},
		{"images", newest, llm.Request{Messages: []llm.Message{
			{Role: llm.User, Text: "What is this?", Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}, {MediaType: "image/webp", Data: []byte("RIFF")}}},
		}, MaxOutputTokens: 800}},
		{"tools", newest, llm.Request{System: "Static.", Messages: hello, Tools: twoTools(), ToolChoice: llm.ToolsAuto, MaxOutputTokens: 800}},
		{"tool loop", newest, llm.Request{System: "Static.", Messages: toolLoop(), Tools: twoTools(), Schema: replySchema(t), MaxOutputTokens: 800}},
		{"tools none", newest, llm.Request{System: "Static.", Messages: toolLoop(), Tools: twoTools(), ToolChoice: llm.ToolsNone, MaxOutputTokens: 800}},
		{"tools gone", newest, llm.Request{Messages: toolLoop(), MaxOutputTokens: 800}},
		{"calls of another provider", newest, llm.Request{Messages: []llm.Message{
			says(llm.User, "Hello!"),
			{Role: llm.Assistant, State: []byte(`google:{}`), Calls: []llm.ToolCall{
				{ID: "functions.set_note:0", Name: "set note!", Arguments: []byte(`{"name":"a","name":"b","value":"\ud800"}`)},
				{ID: "call_2", Name: "", Arguments: []byte(`{"name":`)},
			}},
			{Role: llm.ToolResult, Results: []llm.Result{
				{CallID: "functions.set_note:0", Name: "set note!", Content: []byte(`{"ok":true}`)}, {CallID: "call_2", Content: []byte(`{"error":"no such tool"}`)},
			}},
		}, Tools: twoTools(), MaxOutputTokens: 800}},
		{"effort", newest, llm.Request{Messages: hello, MaxOutputTokens: 800, ReasoningTokens: 2048, Effort: llm.EffortMinimal, Temperature: &warm, Schema: replySchema(t)}},
		{"effort by a budget", older, llm.Request{Messages: hello, MaxOutputTokens: 800, ReasoningTokens: 6144, Effort: llm.EffortMedium, Temperature: &warm}},
		{"effort by the smallest budget", older, llm.Request{Messages: hello, MaxOutputTokens: 800, ReasoningTokens: 10, Effort: llm.EffortLow}},
		{"reasoning that nobody asked for", newest, llm.Request{Messages: hello, MaxOutputTokens: 800, ReasoningTokens: 6144}},
		{"signed reasoning", older, llm.Request{
			Messages: withState(toolLoop(), `anthropic:{"model":"claude-haiku-4-5-20251001","calls":["toolu_1","toolu_2"],"content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"tool_use","id":"toolu_1","name":"set_note","input":{}},{"type":"tool_use","id":"toolu_2","name":"list_offerings","input":{}}]}`),
			Tools:    twoTools(), MaxOutputTokens: 800, ReasoningTokens: 1024, Effort: llm.EffortMinimal,
		}},
		{"reasoning of another model", older, llm.Request{
			Messages: withState(toolLoop(), `anthropic:{"model":"claude-opus-4-5","calls":["toolu_1","toolu_2"],"content":[{"type":"thinking","thinking":"hm","signature":"c2ln"}]}`),
			Tools:    twoTools(), MaxOutputTokens: 800, ReasoningTokens: 1024, Effort: llm.EffortMinimal,
		}},
	}
}

// Holds docs/spec/04-agent.md, "Models": what is sent for each part of a request.
func TestRequestsAreTheOnesThatTheAPIDocuments(t *testing.T) {
	for _, g := range goldens(t) {
		t.Run(g.name, func(t *testing.T) {
			got := jsontext.Value(asked(t, g.model, g.req).Body)
			if err := got.Indent(); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", strings.ReplaceAll(g.name, " ", "-")+".json")
			if *update {
				if err := os.WriteFile(path, append(got, '\n'), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)+"\n"); diff != "" {
				t.Errorf("%s differs (-want +got); run with -update if that is meant:\n%s", path, diff)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": the credential goes to the one address, in the one header.
func TestHeadersAndAddress(t *testing.T) {
	tests := []struct {
		name, base, key, url string
	}{
		{"public", "", key, "https://api.anthropic.com/v1/messages"},
		{"own", "http://127.0.0.1:8080/proxy/", key, "http://127.0.0.1:8080/proxy/v1/messages"},
		{"own with the version", "https://llm.example.com/v1", key, "https://llm.example.com/v1/messages"},
		{"own without a key", "https://llm.example.com", "", "https://llm.example.com/v1/messages"},
		{"key with a line end", "", key + "\n", "https://api.anthropic.com/v1/messages"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var got *http.Request
			m, err := anthropic.New(anthropic.Config{Model: newest, Key: test.key, BaseURL: test.base, Transport: record(func(r *http.Request) { got = r })})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}}); err != nil {
				t.Fatal(err)
			}
			if got.URL.String() != test.url || got.Method != http.MethodPost {
				t.Errorf("%s %s, want POST %s", got.Method, got.URL, test.url)
			}
			want := http.Header{"Accept": {"application/json"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"}}
			if test.key != "" {
				want["X-Api-Key"] = []string{key}
			}
			if diff := cmp.Diff(want, got.Header); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
		})
	}
}

// record answers every request, and shows it.
type record func(*http.Request)

func (f record) RoundTrip(r *http.Request) (*http.Response, error) {
	f(r)
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(done))}, nil
}

// Holds docs/spec/10-config.md, "Variables": what is missing is named, and no credential is quoted.
func TestNewNamesWhatIsWrong(t *testing.T) {
	tests := []struct {
		name   string
		config anthropic.Config
		want   string
	}{
		{"no model", anthropic.Config{Key: key}, "AGENT_MODEL names no model"},
		{"no key", anthropic.Config{Model: newest}, "ANTHROPIC_API_KEY is missing"},
		{"key with a line end within", anthropic.Config{Model: newest, Key: "sk-ant\nfictional"}, "ANTHROPIC_API_KEY holds a character that no key has"},
		{"address without a host", anthropic.Config{Model: newest, Key: key, BaseURL: "api.example.com"}, "the address of Anthropic's API is not http or https with a host and a path alone"},
		{"address with a password", anthropic.Config{Model: newest, Key: key, BaseURL: "https://u:hush@example.com"}, "the address of Anthropic's API is not http or https with a host and a path alone"},
		{"address that is none", anthropic.Config{Model: newest, Key: key, BaseURL: "http://%"}, "the address of Anthropic's API is not http or https with a host and a path alone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := anthropic.New(test.config)
			if err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": which models think by effort, and which by a number of tokens.
func TestThinkingFollowsTheModel(t *testing.T) {
	want := map[string]string{
		"claude-fable-5-2": "adaptive", "claude-opus-5": "adaptive", "claude-sonnet-5-5": "adaptive", "claude-haiku-5-5": "adaptive",
		"claude-opus-4-8": "adaptive", "claude-sonnet-4-6": "adaptive", "claude-opus-4-6": "adaptive",
		"claude-mythos-preview": "adaptive", "claude-opus-latest": "adaptive",
		"claude-opus-4-5-20251101": "enabled", "claude-sonnet-4-5": "enabled", "claude-haiku-4-5-20251001": "enabled",
		"claude-opus-4-1": "enabled", "claude-opus-4-20250514": "enabled", "claude-sonnet-4@20250514": "enabled",
		"claude-3-7-sonnet-latest": "enabled", "claude-3.7-sonnet": "enabled", "anthropic.claude-sonnet-4-5-20250929-v1:0": "enabled",
	}
	for _, model := range slices.Sorted(maps.Keys(want)) {
		body := string(asked(t, model, llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}, Effort: llm.EffortHigh}).Body)
		if !strings.Contains(body, `"thinking":{"type":"`+want[model]+`"`) {
			t.Errorf("%s: want thinking %s: %s", model, want[model], body)
		}
	}
}
