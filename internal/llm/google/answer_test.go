package google_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/googleapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// ask has a server give one answer to a request.
func ask(t testing.TB, fault provider.Fault, req llm.Request) (llm.Response, error) {
	t.Helper()
	s := googleapi.New(&llmtest.Scripted{}, key)
	s.Break(fault)
	return at(t, "gemini-3.8-flash", s.Transport()).Generate(t.Context(), req)
}

func parts(p string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + p + `]},"finishReason":"STOP"}]}`
}

func stopped(reason string) string {
	return `{"candidates":[{"content":{"parts":[{"text":"Yes"}]},"finishReason":"` + reason + `"}]}`
}

func calls(c ...llm.ToolCall) llm.Response { return llm.Response{Calls: c, Stop: llm.StopTools} }

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

// Holds docs/spec/04-agent.md, "Models": what Google answers beside the usual. The
// comments name where it was seen.
func TestAnswers(t *testing.T) {
	yes := llm.Response{Text: "Yes", Stop: llm.StopEnd}
	ended := llm.Response{Stop: llm.StopEnd}
	refused := llm.Response{Stop: llm.StopRefusal}
	as := func(stop llm.Stop) llm.Response { return llm.Response{Text: "Yes", Stop: stop} }
	counted := func(u llm.Usage) llm.Response { return llm.Response{Text: "Yes", Stop: llm.StopEnd, Usage: u} }
	tests := []struct {
		name, body string
		want       llm.Response
	}{
		{"several texts", parts(`{"text":"Y"},{"text":"es"}`), yes},
		{"cut off", stopped("MAX_TOKENS"), as(llm.StopLength)},
		// https://github.com/BerriAI/litellm/issues/40477: all tokens went to thoughts
		{"cut off before the answer", `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}`, llm.Response{Stop: llm.StopLength}},
		// google.golang.org/genai types.go: the limit of one request of Gemini 4
		{"to be continued", stopped("CONTINUATION"), as(llm.StopLength)},
		{"safety", `{"candidates":[{"finishReason":"SAFETY"}]}`, refused},
		{"recitation", `{"candidates":[{"content":{},"finishReason":"RECITATION"}]}`, refused},
		{"prohibited", `{"candidates":[{"finishReason":"PROHIBITED_CONTENT"}]}`, refused},
		{"personal data", `{"candidates":[{"finishReason":"SPII"}]}`, refused},
		{"blocklist", stopped("BLOCKLIST"), as(llm.StopRefusal)},
		{"language", `{"candidates":[{"finishReason":"LANGUAGE"}]}`, refused},
		{"prompt blocked", `{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"},"usageMetadata":{"promptTokenCount":7}}`, llm.Response{Stop: llm.StopRefusal, Usage: llm.Usage{Input: 7}}},
		{"prompt blocked with an empty list", `{"candidates":[],"promptFeedback":{"blockReason":"OTHER"}}`, refused},
		{"unknown reason", stopped("COSMIC_RAY"), yes},
		{"other", stopped("OTHER"), yes},
		{"no reason", `{"candidates":[{"content":{"parts":[{"text":"Yes"}]}}]}`, yes},
		// https://github.com/agentjido/req_llm/issues/944
		{"unexpected call", `{"candidates":[{"finishReason":"UNEXPECTED_TOOL_CALL","finishMessage":"x"}]}`, ended},
		{"malformed call", `{"candidates":[{"content":{},"finishReason":"MALFORMED_FUNCTION_CALL"}]}`, ended},
		// https://github.com/google-gemini/deprecated-generative-ai-python/issues/744
		{"content without parts", `{"candidates":[{"content":{"role":"model"},"finishReason":"STOP","index":0}]}`, ended},
		// https://github.com/livekit/agents/issues/4066
		{"empty text", parts(`{"text":""}`), ended},
		{"content null", `{"candidates":[{"content":null,"finishReason":"STOP"}],"usageMetadata":null,"promptFeedback":null}`, ended},
		{"parts null", `{"candidates":[{"content":{"parts":null}}]}`, ended},
		{"no candidates", `{"candidates":[]}`, ended},
		{"nothing at all", `{}`, ended},
		{"thoughts are no text", parts(`{"text":"They want a yes.","thought":true},{"text":"Yes"}`), yes},
		{"unknown parts", parts(`{"executableCode":{"code":"1"}},{"cosmic":{"ray":[1]}},{"text":"Yes"}`), yes},
		{"unknown members", `{"candidates":[{"content":{"parts":[{"text":"Yes","x":1}]},"finishReason":"STOP","y":{}}],"z":[]}`, yes},
		{"a second candidate", `{"candidates":[{"content":{"parts":[{"text":"Yes"}]}},{"content":{"parts":[{"text":"No"}]}}]}`, yes},
		{"not UTF-8", parts("{\"text\":\"Yes\xff\"}"), llm.Response{Text: "Yes\uFFFD", Stop: llm.StopEnd}},
		{"half a pair", parts(`{"text":"Yes\ud83d"}`), llm.Response{Text: "Yes\uFFFD", Stop: llm.StopEnd}},
		{"a name twice", parts(`{"text":"No","text":"Yes"}`), yes},
		{"a byte order of white space", "\r\n\t " + parts(`{"text":"Yes"}`) + "\n", yes},

		{"call", parts(`{"functionCall":{"id":"g","name":"f","args":{"b":1,"a":"x"}},"thoughtSignature":"s"}`), calls(call("g", "f", `{"b":1,"a":"x"}`))},
		{"calls in parallel, one id twice, one none", parts(`{"functionCall":{"id":"g","name":"f","args":{}}},{"functionCall":{"id":"g","name":"f","args":{}}},{"functionCall":{"name":"h","args":{}}}`),
			calls(call("g", "f", `{}`), call("call_1", "f", `{}`), call("call_2", "h", `{}`))},
		{"an id like one that is made up", parts(`{"functionCall":{"id":"call_1","name":"f"}},{"functionCall":{"name":"f"}}`), calls(call("call_1", "f", `{}`), call("call_2", "f", `{}`))},
		{"arguments missing", parts(`{"functionCall":{"id":"g","name":"f"}}`), calls(call("g", "f", `{}`))},
		{"arguments null", parts(`{"functionCall":{"id":"g","name":"f","args":null}}`), calls(call("g", "f", `{}`))},
		{"arguments as text", parts(`{"functionCall":{"id":"g","name":"f","args":"{\"a\":1}"}}`), calls(call("g", "f", `{"a":1}`))},
		{"arguments as broken text", parts(`{"functionCall":{"id":"g","name":"f","args":"{\"a\":"}}`), calls(call("g", "f", `{"a":`))},
		{"arguments as blank text", parts(`{"functionCall":{"id":"g","name":"f","args":" "}}`), calls(call("g", "f", `{}`))},
		{"a call without a name", parts(`{"functionCall":{"args":{}}}`), ended},
		{"text beside a call", parts(`{"text":"Yes"},{"functionCall":{"id":"g","name":"f"}}`), llm.Response{Text: "Yes", Stop: llm.StopTools, Calls: []llm.ToolCall{call("g", "f", `{}`)}}},
		{"call cut off", `{"candidates":[{"content":{"parts":[{"functionCall":{"id":"g","name":"f"}}]},"finishReason":"MAX_TOKENS"}]}`, llm.Response{Stop: llm.StopLength, Calls: []llm.ToolCall{call("g", "f", `{}`)}}},

		{"usage", `{"candidates":[{"content":{"parts":[{"text":"Yes"}]}}],"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"toolUsePromptTokenCount":5,"candidatesTokenCount":7,"thoughtsTokenCount":30,"totalTokenCount":142}}`,
			counted(llm.Usage{Input: 105, Cached: 60, Output: 37})},
		{"usage that cannot be", `{"candidates":[{"content":{"parts":[{"text":"Yes"}]}}],"usageMetadata":{"promptTokenCount":-1,"cachedContentTokenCount":9,"candidatesTokenCount":1e400,"thoughtsTokenCount":"12"}}`,
			counted(llm.Usage{Output: 12})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ask(t, provider.Fault{Status: 200, Body: tt.body}, llm.Request{Messages: []llm.Message{say("Hi")}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreFields(llm.Response{}, "State")); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if (len(got.State) > 0) != (len(got.Calls) > 0) {
				t.Errorf("state = %q beside %d calls", got.State, len(got.Calls))
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": a call that Google left unsigned still lets the loop
// go on, https://github.com/earendil-works/pi/pull/1825, and what it signed beside the
// call, as Gemini 2.5 does, goes back.
func TestUnsignedCalls(t *testing.T) {
	model := &llmtest.Scripted{Steps: []llmtest.Step{{Text: "Yes"}}}
	s := googleapi.New(model, key)
	s.Break(provider.Fault{Status: 200, Body: parts(`{"text":"Wait.","thoughtSignature":"dGV4dA=="},{"text":" Now."},{"functionCall":{"name":"f","args":{}}}`)})
	m := at(t, "gemini-3.8-flash", s.Transport())
	req := llm.Request{Messages: []llm.Message{say("Hi")}, Tools: []llm.Tool{{Name: "f"}}}
	first, err := m.Generate(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	req.Messages = append(req.Messages,
		llm.Message{Role: llm.Assistant, Text: first.Text, Calls: first.Calls, State: first.State},
		llm.Message{Role: llm.ToolResult, Results: []llm.Result{{CallID: first.Calls[0].ID, Name: "f", Content: []byte(`{}`)}}})
	if resp, err := m.Generate(t.Context(), req); err != nil || resp.Text != "Yes" {
		t.Errorf("second step = %+v, %v", resp, err)
	}
	const signed = `{"text":"Wait. Now.","thoughtSignature":"dGV4dA=="}`
	if sent := s.Requests()[1].Body; !strings.Contains(string(sent), signed) {
		t.Errorf("second request = %s, want %s in it", sent, signed)
	}
}
