package openai_test

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
)

// output is a completed answer of some items.
func output(items string) string {
	return `{"status":"completed","error":null,"output":[` + items + `]}`
}

// cut is an answer of some items that is not complete.
func cut(reason, items string) string {
	return `{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"},"output":[` + items + `]}`
}

// said is a message.
func said(text string) string {
	return `{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"` + text + `","annotations":[]}]}`
}

// phased is a message that says what it is.
func phased(phase, text string) string {
	return `{"type":"message","phase":"` + phase + `","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`
}

func made(id, name, arguments string) string {
	return `{"type":"function_call","id":"fc_1","call_id":` + id + `,"name":` + name + `,"arguments":` + arguments + `}`
}

const thought = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"They want a price."}],"content":[{"type":"reasoning_text","text":"Hm."}],"encrypted_content":"gAAA"}`

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

func text(s string) llm.Response { return llm.Response{Text: s, Stop: llm.StopEnd} }

func calls(state string, c ...llm.ToolCall) llm.Response {
	return llm.Response{Calls: c, Stop: llm.StopTools, State: []byte(state)}
}

func stopped(s string, stop llm.Stop) llm.Response { return llm.Response{Text: s, Stop: stop} }

func used(input, cached, written, output int64) llm.Response {
	return llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: input, Cached: cached, Written: written, Output: output}}
}

// Holds docs/spec/04-agent.md, "Models": what the provider answers with status 200. The
// addresses are where each was met.
func TestAnswer(t *testing.T) {
	const one = `openai:[{"type":"reasoning","summary":[],"encrypted_content":"gAAA"},{"type":"function_call"}]`
	tests := []struct {
		name, body string
		want       llm.Response
	}{
		{"text", output(said("Yes")), text("Yes")},
		{"text in parts", output(`{"type":"message","content":[{"type":"output_text","text":"Y"},{"type":"output_text","text":"es"}]}`), text("Yes")},
		{"text as a string", output(`{"type":"message","content":"Yes"}`), text("Yes")},
		// https://github.com/dspy-ai/dspy/pull/8880
		{"reasoning is no text", output(thought + `,` + said("Yes")), text("Yes")},
		{"reasoning alone", output(thought), text("")},
		// https://github.com/BerriAI/litellm/pull/41123
		{"one message twice", output(said("Yes") + `,` + said("Yes")), text("Yes")},
		{"two messages", output(said("Let me see.") + `,` + said("Yes")), text("Let me see.\nYes")},
		// https://openrouter.ai/docs/cookbook/evaluate-and-optimize/model-migrations/gpt-5-4
		{"a remark before the answer", output(phased("commentary", "Let me see.") + `,` + phased("final_answer", "Yes")), text("Yes")},
		{"a remark after the answer", output(phased("final_answer", "Yes") + `,` + phased("commentary", "Done.")), text("Yes")},
		{"an answer in two messages", output(phased("final_answer", "Yes") + `,` + phased("final_answer", "No")), text("Yes\nNo")},
		{"a remark alone", output(phased("commentary", "Let me see.")), text("Let me see.")},
		{"unknown phase", output(phased("epilogue", "Yes")), text("Yes")},
		{"cut off for length", cut("max_output_tokens", said("Ye")), stopped("Ye", llm.StopLength)},
		{"cut off while reasoning", cut("max_output_tokens", thought), stopped("", llm.StopLength)},
		{"incomplete for a reason not known", cut("max_tool_calls", said("Ye")), stopped("Ye", llm.StopLength)},
		{"incomplete without a reason", `{"status":"incomplete","incomplete_details":null,"output":[]}`, stopped("", llm.StopLength)},
		{"call cut off for length", cut("max_output_tokens", made(`"a"`, `"f"`, `"{\"x\":"`)), llm.Response{Calls: []llm.ToolCall{call("a", "f", `{"x":`)}, Stop: llm.StopLength}},
		{"content filter", cut("content_filter", said("Ye")), stopped("Ye", llm.StopRefusal)},
		// https://platform.openai.com/docs/guides/structured-outputs#refusals
		{"refusal", output(`{"type":"message","content":[{"type":"refusal","refusal":"I cannot help with that."}]}`), stopped("", llm.StopRefusal)},
		{"nothing", output(""), text("")},
		{"null output", `{"status":"completed","output":null}`, text("")},
		{"empty content", output(`{"type":"message","content":[]}`), text("")},
		{"null content", output(`{"type":"message","content":null}`), text("")},
		{"null text", output(`{"type":"message","content":[{"type":"output_text","text":null}]}`), text("")},
		{"unknown status", `{"status":"sealed","output":[` + said("Yes") + `]}`, text("Yes")},
		{"no status", `{"output":[` + said("Yes") + `]}`, text("Yes")},
		{"unknown items", output(`{"type":"web_search_call","action":{}},{"type":"tool_search_call","name":"f","arguments":{}},{"type":7},null,"x",` + said("Yes")), text("Yes")},
		{"unknown parts", output(`{"type":"message","content":[{"type":"output_audio","data":"x","text":"no"},{"type":"output_text","text":"Yes"}]}`), text("Yes")},
		{"half of an emoji", output(`{"type":"message","content":[{"type":"output_text","text":"a\ud83d"}]}`), text("a\uFFFD")},
		{"a member twice", output(`{"type":"message","type":"message","content":[{"type":"output_text","text":"Yes"}]}`), text("Yes")},

		{"call", output(made(`"a"`, `"f"`, `"{\"x\":1}"`)), calls("", call("a", "f", `{"x":1}`))},
		{"call after reasoning", output(thought + `,` + made(`"a"`, `"f"`, `"{}"`)), calls(one, call("a", "f", "{}"))},
		// https://github.com/vercel/ai/issues/7099
		{"reasoning that leads to nothing", output(thought + `,` + made(`"a"`, `"f"`, `"{}"`) + `,` + thought), calls(one, call("a", "f", "{}"))},
		// https://github.com/vercel/ai/issues/7543
		{"reasoning that is not there", output(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":null},` + made(`"a"`, `"f"`, `"{}"`)), calls("", call("a", "f", "{}"))},
		{"text and a call", output(said("Wait.") + `,` + made(`"a"`, `"f"`, `"{}"`)), llm.Response{Text: "Wait.", Calls: []llm.ToolCall{call("a", "f", "{}")}, Stop: llm.StopTools}},
		{"a remark and a call", output(phased("commentary", "Wait.") + `,` + made(`"a"`, `"f"`, `"{}"`)),
			llm.Response{Text: "Wait.", Calls: []llm.ToolCall{call("a", "f", "{}")}, Stop: llm.StopTools, State: []byte(`openai:[{"type":"message","phase":"commentary"},{"type":"function_call"}]`)}},
		{"parallel calls", output(made(`"a"`, `"f"`, `"{}"`) + `,` + made(`"b"`, `"f"`, `"{}"`)), calls("", call("a", "f", "{}"), call("b", "f", "{}"))},
		{"arguments as an object", output(made(`"a"`, `"f"`, `{"x": 12345678901234567890}`)), calls("", call("a", "f", `{"x":12345678901234567890}`))},
		{"arguments empty, null", output(made(`"a"`, `"f"`, `""`) + `,` + made(`"b"`, `"f"`, `null`)), calls("", call("a", "f", "{}"), call("b", "f", "{}"))},
		{"arguments broken", output(made(`"a"`, `"f"`, `"{\"x\": tru"`)), calls("", call("a", "f", `{"x": tru`))},
		{"calls without ids, with one id", output(made(`null`, `"f"`, `"{}"`) + `,` + made(`"a"`, `"f"`, `"{}"`) + `,` + made(`"a"`, `"f"`, `"{}"`)),
			calls("", call("call_1", "f", "{}"), call("a", "f", "{}"), call("call_2", "f", "{}"))},
		{"call without a name", output(thought + `,` + made(`"a"`, `""`, `"{}"`) + `,` + said("Yes")), text("Yes")},

		{"usage", `{"status":"completed","output":[],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30},"output_tokens":50,"output_tokens_details":{"reasoning_tokens":40},"total_tokens":150}}`, used(100, 60, 30, 50)},
		{"usage null", `{"status":"completed","output":[],"usage":null}`, used(0, 0, 0, 0)},
		{"usage in parts", `{"status":"completed","output":[],"usage":{"input_tokens":7,"input_tokens_details":null}}`, used(7, 0, 0, 0)},
		{"usage that cannot be", `{"status":"completed","output":[],"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":8,"cache_write_tokens":8},"output_tokens":-5}}`, used(10, 8, 2, 0)},
		{"usage of words", `{"status":"completed","output":[],"usage":{"input_tokens":"10","output_tokens":[1]}}`, used(0, 0, 0, 0)},

		// https://platform.openai.com/docs/api-reference/responses/object, "error"
		{"prompt refused late", `{"status":"failed","error":{"code":"invalid_prompt","message":"Flagged."},"output":[]}`, stopped("", llm.StopRefusal)},
		{"picture refused late", `{"status":"failed","error":{"code":"image_content_policy_violation","message":"Flagged."}}`, stopped("", llm.StopRefusal)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := openaiapi.New(nil, key)
			server.Break(answered(http.StatusOK, test.body))
			got, err := newModel(t, newest, server).Generate(t.Context(), llm.Request{Messages: hello, Tools: twoTools()})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response differs (-want +got):\n%s", d)
			}
		})
	}
}
