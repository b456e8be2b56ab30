package openai_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
)

// A server that checks as the API does reads back what was asked, and its answer arrives.
//
// Holds docs/spec/04-agent.md, "Models": each provider's request and response shapes.
func TestRequestsAndAnswersArriveAsTheyWereMeant(t *testing.T) {
	warm := 0.3
	closed := []byte(`{"type":"object","properties":{"answer":{"type":"string"},"sure":{"anyOf":[{"type":"number","minimum":0,"maximum":1},{"type":"null"}]}},"required":["answer","sure"],"additionalProperties":false}`)
	tools := twoTools()
	tools[1].Parameters = []byte(`{"type":"object","properties":{}}`)
	png := llm.Image{MediaType: "image/png", Data: []byte("\x89PNG\r\n")}
	loop := []llm.Message{
		says(llm.User, "I paint glass."),
		{Role: llm.Assistant, Text: "One moment.", Calls: []llm.ToolCall{{ID: "call_a", Name: "set_note", Arguments: []byte(`{"name":"craft"}`)}, {ID: "call_b", Name: "list_offerings", Arguments: []byte(`{}`)}}},
		{Role: llm.ToolResult, Results: []llm.Result{{CallID: "call_a", Name: "set_note", Content: []byte(`{"ok":true}`)}, {CallID: "call_b", Name: "list_offerings", Content: []byte(`[]`)}}},
	}
	tests := []struct {
		name, model string
		req         llm.Request
		resp        llm.Response
	}{
		{
			"plain", plain,
			llm.Request{System: "Static.", Messages: hello, MaxOutputTokens: 800, Temperature: &warm},
			llm.Response{Text: "Hi.", Stop: llm.StopEnd, Usage: llm.Usage{Input: 1200, Cached: 900, Written: 100, Output: 20}},
		},
		{
			"history and effort", newest,
			llm.Request{System: "Static.", Messages: []llm.Message{says(llm.User, "Hi"), says(llm.Assistant, "Good day"), says(llm.User, "When?")}, MaxOutputTokens: 800, Effort: llm.EffortHigh},
			llm.Response{Text: "On Monday.", Stop: llm.StopEnd},
		},
		{
			"schema and tools that none may be called of", newest,
			llm.Request{System: "Static.", Messages: loop, Tools: tools, ToolChoice: llm.ToolsNone, Schema: closed, MaxOutputTokens: 800},
			llm.Response{Text: `{"answer":"yes"}`, Stop: llm.StopEnd, Usage: llm.Usage{Input: 3, Output: 4}},
		},
		{
			"parallel calls", first,
			llm.Request{Messages: []llm.Message{{Role: llm.User, Text: "And this?", Images: []llm.Image{png, png}}}, Tools: tools, Effort: llm.EffortMinimal},
			llm.Response{Text: "Let me look.", Stop: llm.StopTools, Calls: loop[1].Calls},
		},
		{"cut off", newest, llm.Request{Messages: loop, Tools: tools, MaxOutputTokens: 16}, llm.Response{Text: `{"answer":"y`, Stop: llm.StopLength}},
		{"refusal", newest, llm.Request{Messages: hello}, llm.Response{Stop: llm.StopRefusal}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			script := &llmtest.Scripted{Steps: []llmtest.Step{{Response: test.resp}}}
			got, err := newModel(t, test.model, openaiapi.New(script, key)).Generate(t.Context(), test.req)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.req, script.Requests()[0], cmpopts.EquateEmpty()); d != "" {
				t.Errorf("request (-sent +arrived):\n%s", d)
			}
			if d := cmp.Diff(test.resp, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response (-given +arrived):\n%s", d)
			}
		})
	}
}

// The server keeps nothing, so that the reasoning before a call must come back with its
// result; a model that has no reasoning to give gets none back.
//
// Holds docs/spec/04-agent.md, "Loop": the steps of a turn.
func TestReasoningGoesBackWithTheResults(t *testing.T) {
	for model, thought := range map[string]string{newest: "They want a price.", first: "They want a price.", plain: ""} {
		t.Run(model, func(t *testing.T) {
			made := []llm.ToolCall{{ID: "call_1", Name: "set_note", Arguments: []byte(`{"name":"a"}`)}, {ID: "call_2", Name: "list_offerings", Arguments: []byte(`{}`)}}
			script := &llmtest.Scripted{Steps: []llmtest.Step{
				{Response: llm.Response{Text: "Wait.", Stop: llm.StopTools, Calls: made, State: []byte(thought)}}, {Text: "done"},
			}}
			m := newModel(t, model, openaiapi.New(script, key))
			req := llm.Request{Messages: hello, Tools: twoTools()}
			got, err := m.Generate(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			if (len(got.State) > 0) != (thought != "") || strings.Contains(got.Text, "price") {
				t.Fatalf("text %q, state %q", got.Text, got.State)
			}
			req.Messages = append(req.Messages,
				llm.Message{Role: llm.Assistant, Text: got.Text, Calls: got.Calls, State: got.State},
				llm.Message{Role: llm.ToolResult, Results: []llm.Result{{CallID: "call_1", Name: "set_note", Content: []byte(`{}`)}, {CallID: "call_2", Name: "list_offerings", Content: []byte(`[]`)}}})
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			want := llm.Message{Role: llm.Assistant, Text: "Wait.", Calls: made, State: []byte(thought)}
			if d := cmp.Diff(want, script.Requests()[1].Messages[1], cmpopts.EquateEmpty()); d != "" {
				t.Errorf("the step (-made +came back):\n%s", d)
			}
		})
	}
}

// Every golden request but those that hold another's names passes the server's checks.
//
// Holds docs/spec/04-agent.md, "Models": a local server that speaks its wire protocol.
func TestTheServerTakesWhatIsSent(t *testing.T) {
	for name, g := range requests(t) {
		server := openaiapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
		for i := range g.req.Messages { // reasoning that the server has made
			state := strings.NewReplacer("gAAA1", "MQ==", "gAAA2", "Mg==").Replace(string(g.req.Messages[i].State))
			g.req.Messages[i].State = []byte(state)
		}
		if _, err := newModel(t, g.model, server).Generate(t.Context(), g.req); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The server that stands for the API in these tests refuses what the API does.
//
// Holds docs/spec/04-agent.md, "Models": a local server that speaks its wire protocol.
func TestTheServerRefusesWhatTheAPIRefuses(t *testing.T) {
	user := `{"type":"message","role":"user","content":[{"type":"input_text","text":"?"}]}`
	called := `{"type":"function_call","call_id":"a","name":"f","arguments":"{}"}`
	result := `{"type":"function_call_output","call_id":"a","output":"{}"}`
	of := func(input, rest string) string {
		return `{"model":"gpt-5","store":false,"input":[` + input + `]` + rest + `}`
	}
	schema := func(s string) string {
		return of(user, `,"text":{"format":{"type":"json_schema","name":"r","strict":true,"schema":`+s+`}}`)
	}
	tests := []struct{ name, body, want string }{
		{"unknown member", of(user, `,"seed":1`), "Unknown parameter"},
		{"kept", `{"model":"gpt-5","input":[` + user + `]}`, "keeps nothing"},
		{"no model", `{"store":false,"input":[` + user + `]}`, "Missing required parameter: 'model'"},
		{"no input", of(``, ``), "One of 'input'"},
		{"few tokens", of(user, `,"max_output_tokens":15`), "Expected a value >= 16"},
		{"temperature with reasoning", of(user, `,"reasoning":{"effort":"low"},"temperature":0.3`), "'temperature' is not supported"},
		{"effort", of(user, `,"reasoning":{"effort":"none"}`), "'none' is not supported"},
		{"minimal effort of a later model", `{"model":"gpt-5.1","store":false,"reasoning":{"effort":"minimal"},"input":[` + user + `]}`, "'minimal' is not supported"},
		{"encrypted content", `{"model":"gpt-4.1","store":false,"include":["reasoning.encrypted_content"],"input":[` + user + `]}`, "Encrypted content is not supported"},
		{"choice without tools", of(user, `,"tool_choice":"none"`), "Tool choice must be"},
		{"tool without properties", of(user, `,"tools":[{"type":"function","name":"f","parameters":{"type":"object"},"strict":false}]`), "object schema missing properties"},
		{"tool that is strict unless told otherwise", of(user, `,"tools":[{"type":"function","name":"f","parameters":{"type":"object","properties":{}}}]`), "'additionalProperties' is required"},
		{"schema with a keyword", schema(`{"type":"object","properties":{"a":{"type":"string","maxLength":3}},"required":["a"],"additionalProperties":false}`), "'maxLength' is not permitted"},
		{"schema with an optional property", schema(`{"type":"object","properties":{"a":{"type":"string"}},"required":[],"additionalProperties":false}`), "Missing 'a'"},
		{"mark of an older model", of(`{"type":"message","role":"developer","content":[{"type":"input_text","text":"s","prompt_cache_breakpoint":{"mode":"explicit"}}]}`, ``), "'prompt_cache_breakpoint' is not supported"},
		{"input of the model", of(user+`,{"type":"message","role":"assistant","content":[{"type":"input_text","text":"?"}]}`, ``), "Invalid value: 'input_text'"},
		{"call without a result", of(user+`,`+called, ``), "No tool output found"},
		{"call before another message", of(user+`,`+called+`,`+user, ``), "No tool output found"},
		{"result without a call", of(user+`,`+result, ``), "No tool call found"},
		{"id of what was not kept", of(user+`,{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"MQ=="},`+called+`,`+result, ``), "not persisted"},
		{"reasoning of another", of(user+`,{"type":"reasoning","summary":[],"encrypted_content":"?"},`+called+`,`+result, ``), "could not be verified"},
		{"reasoning that leads to nothing", of(user+`,{"type":"reasoning","summary":[],"encrypted_content":"MQ=="},`+user, ``), "without its required following item"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := openaiapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}}, key)
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.openai.com/v1/responses", strings.NewReader(test.body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+key)
			req.Header.Set("Content-Type", "application/json")
			resp, err := server.Transport().RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			var b strings.Builder
			if err := resp.Write(&b); err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode/100 != 4 || !strings.Contains(b.String(), test.want) {
				t.Errorf("want %q: %s", test.want, b.String())
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": one model answers many turns at once.
func TestConcurrentCalls(t *testing.T) {
	server := openaiapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}, Repeat: true}, key)
	m := newModel(t, newest, server)
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if _, err := m.Generate(t.Context(), llm.Request{System: "s", Messages: hello, Tools: twoTools()}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}
