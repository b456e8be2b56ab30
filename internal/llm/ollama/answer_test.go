package ollama_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/ollamaapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// one is an answer of a message's members and a reason to be done.
func one(message, reason string) string {
	return `{"model":"m","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant",` + message + `},"done":true,"done_reason":"` + reason + `"}`
}

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: []byte(arguments)}
}

func text(s string) llm.Response { return llm.Response{Text: s, Stop: llm.StopEnd} }

func calls(c ...llm.ToolCall) llm.Response { return llm.Response{Calls: c, Stop: llm.StopTools} }

// Holds docs/spec/04-agent.md, "Models": what the server answers with status 200. The
// addresses are where each was met.
func TestAnswer(t *testing.T) {
	tests := []struct {
		name, body string
		want       llm.Response
	}{
		{"text", one(`"content":"Yes"`, "stop"), text("Yes")},
		{"cut off for length", one(`"content":"Ye"`, "length"), llm.Response{Text: "Ye", Stop: llm.StopLength}},
		{"model loaded, and no more", one(`"content":""`, "load"), text("")},
		{"null content", one(`"content":null`, "stop"), text("")},
		{"no reason", `{"message":{"role":"assistant","content":"Yes"},"done":true}`, text("Yes")},
		{"unknown reason", one(`"content":"Yes"`, "bored"), text("Yes")},
		{"reasoning beside the content", one(`"content":"Yes","thinking":"hm"`, "stop"), text("Yes")},
		// https://github.com/RooCodeInc/Roo-Code/issues/1087
		{"reasoning in the content", one(`"content":"<think>\nhm\n</think>\n\n{\"a\":1}"`, "stop"), text(`{"a":1}`)},
		{"reasoning and no more", one(`"content":"<think>hm"`, "length"), llm.Response{Stop: llm.StopLength}},
		// https://github.com/BerriAI/litellm/issues/11262
		{"calls without ids", one(`"content":"","tool_calls":[{"function":{"index":0,"name":"f","arguments":{"x":1}}},{"function":{"name":"g","arguments":{}}}]`, "stop"),
			calls(call("call_1", "f", `{"x":1}`), call("call_2", "g", "{}"))},
		{"calls with ids", one(`"content":"I look.","tool_calls":[{"id":"a","function":{"name":"f","arguments":{"x":12345678901234567890}}}]`, "stop"),
			llm.Response{Text: "I look.", Calls: []llm.ToolCall{call("a", "f", `{"x":12345678901234567890}`)}, Stop: llm.StopTools}},
		{"calls with one id", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}},{"id":"a","function":{"name":"f","arguments":{}}}]`, "stop"), calls(call("a", "f", "{}"), call("call_1", "f", "{}"))},
		{"arguments as a string", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":"{\"x\": 1}"}},{"id":"b","function":{"name":"f","arguments":"{\"x\""}}]`, "stop"),
			calls(call("a", "f", `{"x": 1}`), call("b", "f", `{"x"`))},
		{"arguments missing", one(`"tool_calls":[{"id":"a","function":{"name":"f"}},{"id":"b","function":{"name":"f","arguments":null}},{"id":"c","function":{"name":"f","arguments":""}}]`, "stop"),
			calls(call("a", "f", "{}"), call("b", "f", "{}"), call("c", "f", "{}"))},
		{"call without a name", one(`"content":"Yes","tool_calls":[{"function":{"arguments":{}}}]`, "stop"), text("Yes")},
		{"call cut off", one(`"tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]`, "length"),
			llm.Response{Calls: []llm.ToolCall{call("a", "f", "{}")}, Stop: llm.StopLength}},
		{"what is wanted back", one(`"thinking":"hm","tool_calls":[{"id":"a","function":{"name":"f","arguments":{}}}]`, "stop"),
			llm.Response{Calls: []llm.ToolCall{call("a", "f", "{}")}, Stop: llm.StopTools, State: []byte("ollama:hm")}},
		{"usage", `{"message":{"content":""},"done_reason":"stop","total_duration":5,"prompt_eval_count":100,"eval_count":20}`, llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Output: 20}}},
		{"usage of a cache", `{"message":{"content":""},"prompt_eval_count":100,"prompt_eval_cached_count":80,"eval_count":20}`, llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: 100, Cached: 80, Output: 20}}},
		// https://github.com/ollama/ollama/issues/2068: a prompt read from the cache is not counted
		{"usage of a cache only", `{"message":{"content":""},"prompt_eval_cached_count":80,"eval_count":20}`, llm.Response{Stop: llm.StopEnd, Usage: llm.Usage{Input: 80, Cached: 80, Output: 20}}},
		{"usage that is odd", `{"message":{"content":""},"prompt_eval_count":-5,"eval_count":null}`, text("")},
		{"half an emoji", one(`"content":"Yes \ud83d"`, "stop"), text("Yes \uFFFD")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := ollamaapi.New(nil, "")
			server.Break(answered(http.StatusOK, tt.body))
			got, err := newModel(t, "m", server).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got, cmpopts.EquateEmpty()); d != "" {
				t.Errorf("response differs (-want +got):\n%s", d)
			}
		})
	}
}

// failure is what a caller acts on of an error.
type failure struct {
	Kind        llm.ErrorKind
	Unsupported llm.Feature
	Status      int
	RetryAfter  time.Duration
}

func failureOf(t *testing.T, err error) (failure, *llm.Error) {
	t.Helper()
	var e *llm.Error
	if !errors.As(err, &e) {
		t.Fatalf("error = %v, want an *llm.Error", err)
	}
	return failure{e.Kind, e.Unsupported, e.Status, e.RetryAfter}, e
}

// everything is a request with every part that may be refused; tools and a schema do not
// go together.
func everything(t *testing.T, choice llm.ToolChoice) llm.Request {
	warm := 0.3
	return llm.Request{
		System: "Be brief.", Tools: twoTools(), ToolChoice: choice, Schema: replySchema(t), Temperature: &warm, Effort: llm.EffortLow,
		Messages: []llm.Message{{Role: llm.User, Text: "my phone is lost and it does not support your tools", Images: []llm.Image{{Data: []byte("\x89PNG")}}}},
	}
}

// Holds docs/spec/04-agent.md, "Models" and "Loop": what the server answers when it does
// not do what it was asked, and what the loop is told of it.
func TestRefused(t *testing.T) {
	tests := []struct {
		name   string
		choice llm.ToolChoice
		fault  provider.Fault
		want   failure
		says   string // a part of the message
	}{
		// https://github.com/ollama/ollama/issues/6027
		{"tools unsupported", llm.ToolsAuto, answered(400, `{"error":"registry.ollama.ai/library/gemma3:4b does not support tools"}`), failure{llm.KindRejected, llm.Tools, 400, 0}, "does not support tools"},
		{"tools unsupported that were not sent", llm.ToolsNone, answered(400, `{"error":"m does not support tools"}`), failure{Kind: llm.KindRejected, Status: 400}, ""},
		{"thinking unsupported", llm.ToolsAuto, answered(400, `{"error":"\"gemma3:4b\" does not support thinking"}`), failure{llm.KindRejected, llm.Reasoning, 400, 0}, "does not support thinking"},
		{"degree unsupported", llm.ToolsAuto, answered(400, `{"error":"think value \"low\" is not supported for this model"}`), failure{llm.KindRejected, llm.Reasoning, 400, 0}, ""},
		{"images unsupported", llm.ToolsAuto, answered(500, `{"error":"this model is missing data required for image input"}`), failure{llm.KindRejected, llm.Images, 500, 0}, ""},
		{"images unsupported by a newer server", llm.ToolsAuto, answered(400, `{"error":"\"m\" does not support vision"}`), failure{llm.KindRejected, llm.Images, 400, 0}, ""},
		{"schema refused", llm.ToolsNone, answered(500, `{"error":"failed to parse grammar"}`), failure{llm.KindRejected, llm.Schema, 500, 0}, ""},
		{"schema not understood", llm.ToolsNone, answered(400, `{"error":"invalid format: \"x\"; expected \"json\" or a valid JSON Schema object"}`), failure{llm.KindRejected, llm.Schema, 400, 0}, ""},
		{"schema refused that was not sent", llm.ToolsAuto, answered(500, `{"error":"failed to parse grammar"}`), failure{Kind: llm.KindServer, Status: 500}, ""},
		{"the contact's words", llm.ToolsAuto, answered(400, `{"error":"cannot parse my phone is lost and it does not support your tools"}`), failure{Kind: llm.KindRejected, Status: 400}, "cannot parse"},
		{"no such model", llm.ToolsAuto, answered(404, `{"error":"model 'qwen3:8b' not found"}`), failure{Kind: llm.KindRejected, Status: 404}, "model 'qwen3:8b' not found"},
		{"no such path", llm.ToolsAuto, provider.Fault{Status: 404, Header: http.Header{"Content-Type": {"text/plain"}}, Body: "404 page not found"}, failure{Kind: llm.KindRejected, Status: 404}, "status 404"},
		{"prompt too long", llm.ToolsAuto, answered(400, `{"error":"the prompt is longer than the context length currently available to the model; shorten the prompt, adjust the context length in settings, or use a model with a longer context length"}`), failure{Kind: llm.KindRejected, Status: 400}, "longer than the context"},
		{"busy", llm.ToolsAuto, answered(503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`), failure{Kind: llm.KindOverloaded, Status: 503}, "server busy"},
		{"loading", llm.ToolsAuto, answered(500, `{"error":"unexpected server status: llm server loading model"}`), failure{Kind: llm.KindServer, Status: 500}, "loading model"},
		{"crashed", llm.ToolsAuto, answered(500, `{"error":"llama runner process has terminated: signal: killed"}`), failure{Kind: llm.KindServer, Status: 500}, "terminated"},
		{"no memory", llm.ToolsAuto, answered(500, `{"error":"model requires more system memory (5.6 GiB) than is available (3.3 GiB)"}`), failure{Kind: llm.KindServer, Status: 500}, "more system memory"},
		{"broken calls, at random", llm.ToolsAuto, answered(500, `{"error":"error parsing tool call: raw='{\"name\": my phone' err=unexpected end"}`), failure{Kind: llm.KindServer, Status: 500}, "error parsing tool call"},
		{"wrong key", llm.ToolsAuto, answered(401, `{"error":"unauthorized"}`), failure{Kind: llm.KindUnauthorized, Status: 401}, "the key is refused"},
		{"limit of the cloud", llm.ToolsAuto, provider.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":"you have reached your hourly usage limit"}`}, failure{Kind: llm.KindRateLimited, Status: 429, RetryAfter: 7 * time.Second}, "usage limit"},
		{"error of a gateway", llm.ToolsAuto, answered(502, `{"error":{"message":"no upstream"}}`), failure{Kind: llm.KindServer, Status: 502}, "no upstream"},
		{"error that is a list", llm.ToolsAuto, answered(400, `["no"]`), failure{Kind: llm.KindRejected, Status: 400}, "no"},
		{"page", llm.ToolsAuto, provider.Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>my phone is lost</html>"}, failure{Kind: llm.KindServer, Status: 502}, "status 502 with a page"},
		{"the server's own greeting", llm.ToolsAuto, provider.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/plain"}}, Body: "Ollama is running"}, failure{Kind: llm.KindProtocol}, "not the JSON"},
		{"redirect", llm.ToolsAuto, provider.Fault{Status: 301, Header: http.Header{"Location": {"https://elsewhere.example.com/"}}}, failure{Kind: llm.KindProtocol, Status: 301}, "status 301"},
		{"half an answer", llm.ToolsAuto, answered(200, `{"message":{"content":"Y`), failure{Kind: llm.KindProtocol}, "not the JSON"},
		{"lines that nobody asked for", llm.ToolsAuto, answered(200, one(`"content":"Y"`, "")+"\n"+one(`"content":""`, "stop")+"\n"), failure{Kind: llm.KindProtocol}, "not the JSON"},
		{"answer of something else", llm.ToolsAuto, answered(200, `{"status":"ok"}`), failure{Kind: llm.KindProtocol, Status: 200}, "none of a chat"},
		{"error with status 200", llm.ToolsAuto, answered(200, `{"error":"an error was encountered while running the model"}`), failure{Kind: llm.KindServer, Status: 500}, "an error was encountered"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := ollamaapi.New(nil, "")
			server.Break(tt.fault)
			_, err := newModel(t, "m", server).Generate(t.Context(), everything(t, tt.choice))
			got, e := failureOf(t, err)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("error differs (-want +got):\n%s\n%v", d, err)
			}
			if !strings.Contains(e.Error(), tt.says) || strings.Contains(e.Error(), "lost") || strings.Contains(e.Error(), "my phone") || e.Provider != "ollama" {
				t.Errorf("error = %v, want %q", err, tt.says)
			}
			if len(server.Requests()) != 1 {
				t.Errorf("%d requests", len(server.Requests()))
			}
		})
	}
}
