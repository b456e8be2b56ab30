package ollama_test

import (
	"flag"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/ollamaapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
	"github.com/manychat-agent/manychat-agent/internal/llm/ollama"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

var update = flag.Bool("update", false, "write the golden requests instead of comparing with them")

const key = "fictional-key"

const done = `{"model":"m","message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop","prompt_eval_count":1,"eval_count":1}`

// answered is an answer in JSON.
func answered(status int, body string) provider.Fault {
	return provider.Fault{Status: status, Header: http.Header{"Content-Type": {"application/json; charset=utf-8"}}, Body: body}
}

func newModel(t testing.TB, name string, server *provider.Server) *ollama.Model {
	t.Helper()
	m, err := ollama.New(ollama.Config{Model: name, Transport: server.Transport()})
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
		{Name: "set_note", Description: "Keeps a note.", Parameters: []byte(`{"type":"object","properties":{"name":{"type":"string"},"value":{"type":"string","maxLength":200}},"required":["name"]}`)},
		{Name: "list_offerings", Description: "Lists the offerings."},
	}
}

// toolLoop is a conversation in whose last step two tools were called.
func toolLoop(state string) []llm.Message {
	return []llm.Message{
		says(llm.User, "I paint glass. What do you teach?"),
		{Role: llm.Assistant, Text: "Let me look.", State: []byte(state), Calls: []llm.ToolCall{
			{ID: "call_a", Name: "set_note", Arguments: []byte(`{"name":"craft","value":12345678901234567890}`)},
			{ID: "call_b", Name: "list_offerings", Arguments: []byte(`{"broken`)},
		}},
		{Role: llm.ToolResult, Results: []llm.Result{
			{CallID: "call_a", Name: "set_note", Content: []byte(`{"ok":true}`)},
			{CallID: "call_b", Name: "list_offerings", Content: []byte(`["leaded-glass"]`)},
		}},
	}
}

// request is a request to a model, "qwen3:8b" where none is named.
type request struct {
	model string
	llm.Request
}

func requests(t *testing.T) map[string]request {
	warm := 0.3
	hello := []llm.Message{says(llm.User, "Hello")}
	plain := func(r llm.Request) request { return request{"qwen3:8b", r} }
	return map[string]request{
		"plain": plain(llm.Request{System: "Be brief.", Messages: hello}),
		"history": plain(llm.Request{System: "Be brief.", Messages: []llm.Message{
			says(llm.User, "Hello"), says(llm.Assistant, "Good day"), says(llm.User, "When?"), says(llm.Assistant, "On Monday"), says(llm.User, "Fine"),
		}}),
		"schema":         plain(llm.Request{Messages: hello, Schema: replySchema(t)}),
		"tools":          plain(llm.Request{Messages: hello, Tools: twoTools(), ToolChoice: llm.ToolsAuto, Schema: replySchema(t)}),
		"tools-none":     plain(llm.Request{Messages: toolLoop(""), Tools: twoTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(t)}),
		"tool-loop":      plain(llm.Request{Messages: toolLoop("ollama:Let me see."), Tools: twoTools()}),
		"foreign-state":  plain(llm.Request{Messages: toolLoop("openai-compatible:{}"), Tools: twoTools()}),
		"images":         plain(llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "Is this mine?", Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}, {MediaType: "image/jpeg", Data: []byte("\xff\xd8")}}}}}),
		"temperature":    plain(llm.Request{Messages: hello, Temperature: &warm}),
		"effort":         plain(llm.Request{Messages: hello, Effort: llm.EffortLow}),
		"effort-minimal": plain(llm.Request{Messages: hello, Effort: llm.EffortMinimal}),
		"degree":         {"gpt-oss:20b", llm.Request{Messages: hello, Effort: llm.EffortHigh}},
		"degree-minimal": {"gpt-oss:20b", llm.Request{Messages: hello, Effort: llm.EffortMinimal}},
		"max-tokens":     plain(llm.Request{Messages: hello, MaxOutputTokens: 1000}),
		"max-reasoning":  plain(llm.Request{Messages: hello, MaxOutputTokens: 1000, ReasoningTokens: 16384, Effort: llm.EffortHigh}),
		"unicode":        plain(llm.Request{System: "Прайс: «2 000 ₽»", Messages: []llm.Message{says(llm.User, "你好 👩‍👩‍👧 <b>&\u2028\"\\")}}),
		"broken-unicode": plain(llm.Request{System: "a\x00b\xff", Messages: []llm.Message{says(llm.User, "\xed\xa0\xbd half of an emoji")}}),
	}
}

// asked is what reaches the server of a request.
func asked(t *testing.T, req request) provider.Request {
	t.Helper()
	server := ollamaapi.New(nil, "")
	server.Break(answered(http.StatusOK, done))
	if _, err := newModel(t, req.model, server).Generate(t.Context(), req.Request); err != nil {
		t.Fatal(err)
	}
	return server.Requests()[0]
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

// Holds docs/spec/04-agent.md, "Models": the context is as large as the prompt and the
// answer need, since the server would cut the prompt without a word
// (https://github.com/ollama/ollama/issues/4967); it never shrinks, since the server loads
// the model anew at each change.
func TestContextIsSized(t *testing.T) {
	steps := []struct {
		name    string
		request llm.Request
		want    float64
	}{
		{"short", llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}}, 8192},
		{"a catalog", llm.Request{System: strings.Repeat("кириллица ", 1500), MaxOutputTokens: 1000}, 16384},
		{"short again", llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}}, 16384},
		{"long answer", llm.Request{MaxOutputTokens: 20000, ReasoningTokens: 16384}, 65536},
		{"a large catalog", llm.Request{System: strings.Repeat("x", 200_000)}, 131072},
	}
	server := ollamaapi.New(nil, "")
	m := newModel(t, "m", server)
	for i, s := range steps {
		server.Break(answered(http.StatusOK, done))
		if _, err := m.Generate(t.Context(), s.request); err != nil {
			t.Fatal(err)
		}
		var sent struct {
			Options map[string]float64 `json:"options"`
		}
		if err := json.Unmarshal(server.Requests()[i].Body, &sent); err != nil {
			t.Fatal(err)
		}
		if got := sent.Options["num_ctx"]; got != s.want {
			t.Errorf("%s: num_ctx = %v, want %v", s.name, got, s.want)
		}
	}
	image := []llm.Message{{Role: llm.User, Images: []llm.Image{{Data: []byte("x")}, {Data: []byte("y")}}}}
	if got := string(asked(t, request{"m", llm.Request{Messages: image}}).Body); !strings.Contains(got, `"num_ctx":16384`) {
		t.Errorf("with two images: %s", got)
	}
}

// Holds docs/spec/04-agent.md, "Models": a key goes into one header, and what is said
// into none.
func TestHeaders(t *testing.T) {
	for _, given := range []string{"", key} {
		server := ollamaapi.New(nil, given)
		server.Break(answered(http.StatusOK, done))
		m, err := ollama.New(ollama.Config{Model: "m", Key: given, BaseURL: "https://ollama.example.com/", Transport: server.Transport()})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Generate(t.Context(), llm.Request{System: "secret system", Messages: []llm.Message{says(llm.User, "secret words")}}); err != nil {
			t.Fatal(err)
		}
		got := server.Requests()[0]
		want := http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json"}}
		if given != "" {
			want["Authorization"] = []string{"Bearer " + key}
		}
		if d := cmp.Diff(want, got.Header); d != "" || got.Path != "/api/chat" {
			t.Errorf("to %s, headers differ (-want +got):\n%s", got.Path, d)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": what is missing or wrong is said by name.
func TestNew(t *testing.T) {
	tests := []struct {
		name   string
		config ollama.Config
		want   string // a part of the error; empty: none
	}{
		{"this machine", ollama.Config{Model: "m"}, ""},
		{"another", ollama.Config{Model: "m", BaseURL: "https://ollama.example.com"}, ""},
		{"no model", ollama.Config{}, "the name of the model"},
		{"odd key", ollama.Config{Model: "m", Key: "a b"}, "the key of ollama holds"},
		{"no address", ollama.Config{Model: "m", BaseURL: "127.0.0.1:11434"}, "OLLAMA_BASE_URL is not"},
		{"address of the other protocol", ollama.Config{Model: "m", BaseURL: "http://h:11434/v1/"}, "OLLAMA_BASE_URL has a path"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ollama.New(tt.config)
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("New = %v, want %q", err, tt.want)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": turns that are under way together agree on one
// size, the largest.
func TestContextIsSizedTogether(t *testing.T) {
	server := ollamaapi.New(nil, "")
	m := newModel(t, "m", server)
	var turns sync.WaitGroup
	for i := range 8 {
		server.Break(answered(http.StatusOK, done))
		turns.Go(func() {
			if _, err := m.Generate(t.Context(), llm.Request{System: strings.Repeat("x", 10_000*i)}); err != nil {
				t.Error(err)
			}
		})
	}
	turns.Wait()
	server.Break(answered(http.StatusOK, done))
	if _, err := m.Generate(t.Context(), llm.Request{}); err != nil {
		t.Fatal(err)
	}
	if got := string(server.Requests()[8].Body); !strings.Contains(got, `"num_ctx":65536`) {
		t.Errorf("after all of them: %s", got)
	}
}
