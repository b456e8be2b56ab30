package anthropic_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/anthropicapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// post sends a body to a server as its own client would, and reads the answer.
func post(t *testing.T, server *provider.Server, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://api.anthropic.com"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Api-Key", key)
	req.Header.Set("Anthropic-Version", "2023-06-01")
	resp, err := server.Transport().RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// failure is the error that a call must have come to.
func failure(t *testing.T, err error) *llm.Error {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want an *llm.Error", err)
	}
	return e
}

// full is a request that holds every part that can be refused.
func full(t testing.TB) llm.Request {
	messages := toolLoop()
	messages[0].Images = []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}}
	messages = append(messages, says(llm.Assistant, "We teach leaded glass."), says(llm.User, "my card is 4111 and does not support thinking or images at all"))
	return llm.Request{
		System: "Static.", Messages: messages, Tools: twoTools(), Schema: replySchema(t),
		MaxOutputTokens: 800, ReasoningTokens: 2048, Effort: llm.EffortLow,
	}
}

// asks makes one request that is answered by a fault.
func asks(t *testing.T, fault provider.Fault, req llm.Request) (llm.Response, error) {
	t.Helper()
	server := anthropicapi.New(nil, key)
	server.Break(fault)
	return newModel(t, newest, server).Generate(t.Context(), req)
}

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

// Holds docs/spec/04-agent.md, "Models": quirks of answers of status 200.
func TestAnswersAreReadAsServersWriteThem(t *testing.T) {
	type calls = []llm.ToolCall
	tests := []struct {
		name, body string
		want       llm.Response
	}{
		{"text in parts", `{"type":"message","content":[{"type":"text","text":"He"},{"type":"text","text":"llo","citations":null}],"stop_reason":"end_turn"}`, llm.Response{Text: "Hello", Stop: llm.StopEnd}},
		{"truncated", `{"type":"message","content":[{"type":"text","text":"{\"mess"}],"stop_reason":"max_tokens"}`, llm.Response{Text: `{"mess`, Stop: llm.StopLength}},
		// https://github.com/laravel/ai/pull/881
		{"context full", `{"type":"message","content":[{"type":"text","text":"He"}],"stop_reason":"model_context_window_exceeded"}`, llm.Response{Text: "He", Stop: llm.StopLength}},
		// https://github.com/tetsuo-ai/agenc-core/issues/2111
		{"paused", `{"type":"message","content":[{"type":"text","text":"He"}],"stop_reason":"pause_turn"}`, llm.Response{Text: "He", Stop: llm.StopLength}},
		{"refusal without content", `{"type":"message","content":[],"stop_reason":"refusal","stop_details":{"type":"refusal","category":null}}`, llm.Response{Stop: llm.StopRefusal}},
		{"refusal in mid-sentence", `{"type":"message","content":[{"type":"text","text":"To do th"}],"stop_reason":"refusal"}`, llm.Response{Text: "To do th", Stop: llm.StopRefusal}},
		{"stop sequence", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"stop_sequence","stop_sequence":"b"}`, llm.Response{Text: "a", Stop: llm.StopEnd}},
		// https://github.com/spacedriveapp/spacebot/pull/171
		{"empty content", `{"type":"message","content":[],"stop_reason":"end_turn"}`, llm.Response{Stop: llm.StopEnd}},
		{"null content", `{"type":"message","content":null,"stop_reason":null}`, llm.Response{Stop: llm.StopEnd}},
		{"no content", `{"type":"message"}`, llm.Response{Stop: llm.StopEnd}},
		{"content as a string", `{"type":"message","content":"Hello","stop_reason":"end_turn"}`, llm.Response{Text: "Hello", Stop: llm.StopEnd}},
		{"unknown stop", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":"sunset"}`, llm.Response{Text: "a", Stop: llm.StopEnd}},
		{"stop that is no string", `{"type":"message","content":[{"type":"text","text":"a"}],"stop_reason":{"type":"end"}}`, llm.Response{Text: "a", Stop: llm.StopEnd}},
		{"unknown blocks", `{"type":"message","content":[{"type":"server_tool_use","id":"s","input":{}},{"type":"text","text":"a"},7,null,{"type":3},{"type":"hologram","text":{"b":1}}],"stop_reason":"end_turn"}`, llm.Response{Text: "a", Stop: llm.StopEnd}},
		{"reasoning is no text", `{"type":"message","content":[{"type":"thinking","thinking":"they want","signature":"x"},{"type":"redacted_thinking","data":"y"},{"type":"text","text":"a"}],"stop_reason":"end_turn"}`, llm.Response{Text: "a", Stop: llm.StopEnd}},
		{"half a surrogate", `{"type":"message","content":[{"type":"text","text":"a\ud83d"}],"stop_reason":"end_turn"}`, llm.Response{Text: "a\ufffd", Stop: llm.StopEnd}},
		{"member twice", `{"type":"message","type":"message","content":[{"type":"text","text":"a","text":"b"}],"stop_reason":"end_turn"}`, llm.Response{Text: "b", Stop: llm.StopEnd}},
		{"parallel calls", `{"type":"message","content":[{"type":"tool_use","id":"toolu_1","name":"a","input":{"x": 1}},{"type":"tool_use","id":"toolu_2","name":"b","input":{}}],"stop_reason":"tool_use"}`,
			llm.Response{Stop: llm.StopTools, Calls: calls{call("toolu_1", "a", `{"x":1}`), call("toolu_2", "b", `{}`)}}},
		{"calls with the wrong stop", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":{}}],"stop_reason":"end_turn"}`, llm.Response{Stop: llm.StopTools, Calls: calls{call("t", "a", `{}`)}}},
		{"call cut off", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":{}}],"stop_reason":"max_tokens"}`, llm.Response{Stop: llm.StopLength, Calls: calls{call("t", "a", `{}`)}}},
		// https://github.com/anthropics/anthropic-sdk-python/issues/804
		{"arguments as a string", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":"{\"x\":1}"}],"stop_reason":"tool_use"}`, llm.Response{Stop: llm.StopTools, Calls: calls{call("t", "a", `{"x":1}`)}}},
		{"arguments as a broken string", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":"{\"x\":"}],"stop_reason":"tool_use"}`, llm.Response{Stop: llm.StopTools, Calls: calls{call("t", "a", `{"x":`)}}},
		// https://github.com/bigduu/Bamboo-agent/issues/351
		{"arguments empty", `{"type":"message","content":[{"type":"tool_use","id":"t","name":"a","input":""},{"type":"tool_use","id":"u","name":"a","input":null},{"type":"tool_use","id":"v","name":"a"}],"stop_reason":"tool_use"}`,
			llm.Response{Stop: llm.StopTools, Calls: calls{call("t", "a", `{}`), call("u", "a", `{}`), call("v", "a", `{}`)}}},
		// https://github.com/HKUDS/nanobot/pull/4444
		{"ids missing and twice", `{"type":"message","content":[{"type":"tool_use","name":"a","input":{}},{"type":"tool_use","id":"call_1","name":"b","input":{}},{"type":"tool_use","id":"t","name":"c","input":{}},{"type":"tool_use","id":"t","name":"d","input":{}}],"stop_reason":"tool_use"}`,
			llm.Response{Stop: llm.StopTools, Calls: calls{call("call_2", "a", `{}`), call("call_1", "b", `{}`), call("t", "c", `{}`), call("call_3", "d", `{}`)}}},
		// https://github.com/genkit-ai/genkit/issues/5412
		{"cached tokens beside the others", `{"type":"message","content":[],"usage":{"input_tokens":7,"cache_creation_input_tokens":200,"cache_read_input_tokens":3000,"output_tokens":50,"output_tokens_details":{"thinking_tokens":40}}}`,
			llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: 3207, Written: 200, Cached: 3000, Output: 50}}},
		{"usage that is none", `{"type":"message","content":[],"usage":{"input_tokens":-7,"cache_creation_input_tokens":null,"cache_read_input_tokens":"3","output_tokens":1e400}}`, llm.Response{Stop: llm.StopEnd}},
		{"usage of another kind", `{"type":"message","content":[],"usage":[1,2]}`, llm.Response{Stop: llm.StopEnd}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := asks(t, answered(test.body), full(t))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// What a call came with goes back as it came, or not at all: a state is made only where
// the API would take it back.
//
// Holds docs/spec/04-agent.md, "Loop": the steps of a turn.
func TestStateIsOnlyWhatCanGoBack(t *testing.T) {
	const thought = `{"type":"thinking","thinking":"hm","signature":"c2ln","new_member":[1]}`
	const ok = `{"type":"tool_use","id":"t","name":"a","input":{}}`
	tests := []struct {
		name, content, stop string
		want                string // of the content of the state; empty: no state
	}{
		{"as it came", thought + `,{"type":"text","text":" "},` + ok, "tool_use", "[" + thought + "," + ok + "]"},
		{"text between", thought + `,{"type":"text","text":"Wait.","citations":null},` + thought + "," + ok, "tool_use", "[" + thought + `,{"type":"text","text":"Wait."},` + thought + "," + ok + "]"},
		{"reasoning kept secret", `{"type":"redacted_thinking","data":"eA=="},` + ok, "tool_use", `[{"type":"redacted_thinking","data":"eA=="},` + ok + "]"},
		{"without reasoning", ok, "tool_use", ""},
		{"without calls", thought, "end_turn", ""},
		{"cut off", thought + "," + ok, "max_tokens", ""},
		{"made-up id", thought + `,{"type":"tool_use","name":"a","input":{}}`, "tool_use", ""},
		{"arguments as a string", thought + `,{"type":"tool_use","id":"t","name":"a","input":"{}"}`, "tool_use", ""},
		{"name that is none", thought + `,{"type":"tool_use","id":"t","name":"a b","input":{}}`, "tool_use", ""},
		{"reasoning that is not valid JSON to send", `{"type":"thinking","thinking":"\ud800","signature":"x"},` + ok, "tool_use", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := asks(t, answered(`{"type":"message","content":[`+test.content+`],"stop_reason":"`+test.stop+`"}`), full(t))
			if err != nil {
				t.Fatal(err)
			}
			if test.want == "" && got.State != nil || !bytes.Contains(got.State, []byte(test.want)) {
				t.Errorf("state %s, want %s", got.State, test.want)
			}
		})
	}
}

// Ids of calls that another provider made up in each step are told apart.
// https://github.com/anthropics/claude-code/issues/20901
//
// Holds docs/spec/04-agent.md, "Models": the fallback takes over in mid-turn.
func TestIDsOfCallsAreUniqueInARequest(t *testing.T) {
	step := toolLoop()[1:]
	req := llm.Request{Messages: append(append(toolLoop(), step...), step...), Tools: twoTools()}
	server := anthropicapi.New(nil, key)
	server.Break(answered(done))
	if _, err := newModel(t, newest, server).Generate(t.Context(), req); err != nil {
		t.Fatal(err)
	}
	body := string(server.Requests()[0].Body)
	for _, id := range []string{`"toolu_1"`, `"toolu_1-2"`, `"toolu_1-3"`, `"toolu_2-3"`} {
		if strings.Count(body, `"id":`+id) != 1 || strings.Count(body, `"tool_use_id":`+id) != 1 {
			t.Errorf("%s: want it in one call and its result: %s", id, body)
		}
	}
}
