package compatible_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
)

// one is an answer with one choice, of a message's members and a reason to stop.
func one(message, finish string) string {
	return `{"choices":[{"index":0,"message":{"role":"assistant",` + message + `},"finish_reason":` + finish + `}],"usage":null}`
}

func call(name, arguments string) llm.ToolCall { return named("call_1", name, arguments) }

func named(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

func text(s string) llm.Response { return llm.Response{Text: s, Stop: llm.StopEnd} }

func calls(c ...llm.ToolCall) llm.Response { return llm.Response{Calls: c, Stop: llm.StopTools} }

func stopped(s string, stop llm.Stop) llm.Response { return llm.Response{Text: s, Stop: stop} }

func used(input, cached, written, output int64) llm.Response {
	return llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: input, Cached: cached, Written: written, Output: output}}
}

// Holds docs/spec/04-agent.md, "Models": what servers of the protocol answer with status
// 200. The addresses are where each was met.
func TestAnswer(t *testing.T) {
	tests := []struct {
		name string
		body string
		want llm.Response
	}{
		{"text", one(`"content":"Yes"`, `"stop"`), text("Yes")},
		{"cut off for length", one(`"content":"Ye"`, `"length"`), stopped("Ye", llm.StopLength)},
		{"cut off, by the name of another protocol", one(`"content":"Ye"`, `"max_tokens"`), stopped("Ye", llm.StopLength)},
		{"call cut off for length", one(`"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":"}}]`, `"length"`),
			llm.Response{Calls: []llm.ToolCall{named("a", "f", `{"x":`)}, Stop: llm.StopLength}},
		// https://platform.openai.com/docs/guides/structured-outputs#refusals
		{"refusal beside no content", one(`"content":null,"refusal":"I cannot help with that."`, `"stop"`), stopped("", llm.StopRefusal)},
		{"empty refusal", one(`"content":"Yes","refusal":""`, `"stop"`), text("Yes")},
		{"content filter", one(`"content":""`, `"content_filter"`), stopped("", llm.StopRefusal)},
		{"empty content", one(`"content":""`, `"stop"`), text("")},
		{"null content", one(`"content":null`, `"stop"`), text("")},
		{"no content", one(`"refusal":null`, `"stop"`), text("")},
		{"null message", `{"choices":[{"message":null,"finish_reason":"stop"}]}`, text("")},
		{"no choices", `{"choices":[]}`, text("")},
		{"unknown reason", one(`"content":"Yes"`, `"eos"`), text("Yes")},
		{"null reason", one(`"content":"Yes"`, `null`), text("Yes")},
		// https://github.com/vllm-project/vllm/issues/53255
		{"reason of calls without any", one(`"content":"Yes","tool_calls":[]`, `"tool_calls"`), text("Yes")},
		// https://github.com/vllm-project/vllm/pull/25054
		{"calls with the reason of a text", one(`"content":"","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]`, `"stop"`), calls(named("a", "f", "{}"))},
		{"parallel calls", one(`"content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b","function":{"name":"g","arguments":"{}"}}]`, `"tool_calls"`),
			calls(named("a", "f", `{"x":1}`), named("b", "g", "{}"))},
		// https://github.com/ggml-org/llama.cpp/issues/20198
		{"arguments as an object", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x": 12345678901234567890}}}]`, `"tool_calls"`), calls(named("a", "f", `{"x":12345678901234567890}`))},
		{"arguments empty", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}},{"id":"b","function":{"name":"f","arguments":null}},{"id":"c","function":{"name":"f"}}]`, `"tool_calls"`),
			calls(named("a", "f", "{}"), named("b", "f", "{}"), named("c", "f", "{}"))},
		{"arguments broken", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\": tru"}}]`, `"tool_calls"`), calls(named("a", "f", `{"x": tru`))},
		// https://github.com/ggml-org/llama.cpp/issues/11992
		{"calls without ids", one(`"tool_calls":[{"function":{"name":"f"}},{"id":"","function":{"name":"g"}},{"id":null,"function":{"name":"h"}}]`, `"tool_calls"`),
			calls(call("f", "{}"), named("call_2", "g", "{}"), named("call_3", "h", "{}"))},
		{"calls with one id", one(`"tool_calls":[{"id":"call_1","function":{"name":"f"}},{"id":"call_1","function":{"name":"g"}},{"id":"call_2","function":{"name":"h"}}]`, `"tool_calls"`),
			calls(call("f", "{}"), named("call_3", "g", "{}"), named("call_2", "h", "{}"))},
		// https://github.com/BerriAI/litellm/issues/9127
		{"call without a name", one(`"content":"Yes","tool_calls":[{"id":"a","function":{"arguments":"{}"}},{"id":"b","type":"custom","custom":{"name":"f"}}]`, `"tool_calls"`), text("Yes")},
		{"function call, as before tools", one(`"content":null,"function_call":{"name":"f","arguments":"{\"x\":1}"}`, `"function_call"`), calls(call("f", `{"x":1}`))},
		// https://docs.mistral.ai/capabilities/reasoning
		{"content in parts", one(`"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"Y"},{"type":"reasoning","text":"hm"},{"type":"image_url"},7,"e",{"type":"output_text","text":"s"}]`, `"stop"`), text("Yes")},
		// https://api-docs.deepseek.com/guides/reasoning_model
		{"reasoning beside the content", one(`"content":"Yes","reasoning_content":"hm","reasoning":"hm"`, `"stop"`), text("Yes")},
		{"reasoning in the content", one(`"content":"<think>\nhm </b>\n</think>\n\nYes"`, `"stop"`), text("Yes")},
		// https://github.com/vllm-project/vllm/issues/13125
		{"reasoning whose beginning is in the prompt", one(`"content":"hm, {x}\n</think>\n{\"a\":1}"`, `"stop"`), text(`{"a":1}`)},
		{"reasoning and no more", one(`"content":"<think>hm"`, `"length"`), stopped("", llm.StopLength)},
		{"the tag in an answer", one(`"content":"{\"a\":\"</think>\"}"`, `"stop"`), text(`{"a":"</think>"}`)},
		{"half an emoji", one(`"content":"Yes \ud83d"`, `"stop"`), text("Yes \uFFFD")},
		// https://openrouter.ai/docs/api-reference/streaming: blanks keep a connection open
		{"blanks before", "\n\n   \n" + one(`"content":"Yes"`, `"stop"`), text("Yes")},
		{"no usage", `{"choices":[]}`, used(0, 0, 0, 0)},
		{"usage", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_tokens_details":{"cached_tokens":64,"cache_write_tokens":30},"completion_tokens_details":{"reasoning_tokens":15}}}`, used(100, 64, 30, 20)},
		{"usage with null details", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"prompt_tokens_details":null}}`, used(100, 0, 0, 20)},
		{"usage that is odd", `{"choices":[],"usage":{"prompt_tokens":-5,"completion_tokens":"20","total_tokens":null,"prompt_tokens_details":{"cached_tokens":7}}}`, used(0, 0, 0, 0)},
		{"usage in fractions", `{"choices":[],"usage":{"prompt_tokens":1e2,"completion_tokens":20.0}}`, used(100, 0, 0, 20)},
		// https://api-docs.deepseek.com/guides/kv_cache
		{"usage of DeepSeek", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":120,"prompt_cache_hit_tokens":64,"prompt_cache_miss_tokens":36}}`, used(100, 64, 0, 20)},
		// https://github.com/vercel/ai/pull/12425: reasoning is in the total only
		{"usage of xAI", `{"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":20,"total_tokens":420,"completion_tokens_details":{"reasoning_tokens":300}}}`, used(100, 0, 0, 320)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := chatapi.New(nil, key)
			server.Break(answered(http.StatusOK, tt.body))
			got, err := newModel(t, server.Transport()).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response differs (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": what a server wants back with the results of
// its calls comes back to it.
func TestStateComesBack(t *testing.T) {
	// https://api-docs.deepseek.com/guides/thinking_mode and
	// https://ai.google.dev/gemini-api/docs/thought-signatures refuse the results otherwise.
	body := one(`"content":null,"reasoning_content":"hm \ud83d","reasoning_details":[{"type":"reasoning.text","text":"hm"}],"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"g"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]`, `"tool_calls"`)
	server := chatapi.New(nil, key)
	server.Break(answered(http.StatusOK, body), answered(http.StatusOK, done))
	m := newModel(t, server.Transport())
	request := llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}, Tools: []llm.Tool{{Name: "f"}, {Name: "g"}}}
	resp, err := m.Generate(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	request.Messages = append(request.Messages, llm.Message{Role: llm.Assistant, Calls: resp.Calls, State: resp.State},
		llm.Message{Role: llm.ToolResult, Results: []llm.Result{{CallID: "a", Content: []byte("1")}, {CallID: "b", Content: []byte("2")}}})
	if _, err := m.Generate(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	got := server.Requests()
	want := `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}},` +
		`{"id":"b","type":"function","function":{"name":"g","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}],` +
		`"reasoning_content":"hm ` + "\uFFFD" + `","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}`
	if !contains(got[1].Body, want) {
		t.Errorf("the second request lacks %s:\n%s", want, got[1].Body)
	}
}
