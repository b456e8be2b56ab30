package compatible_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/compatible"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/chatapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

func contains(body []byte, s string) bool { return bytes.Contains(body, []byte(s)) }

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

// everything is a request with every part that may be refused.
func everything(t *testing.T) llm.Request {
	warm := 0.3
	return llm.Request{
		System: "Be brief.",
		Messages: []llm.Message{{Role: llm.User, Text: "my phone is lost and temperature is not supported here",
			Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}}}},
		Tools: threeTools(), ToolChoice: llm.ToolsNone, Schema: replySchema(t), MaxOutputTokens: 100, Temperature: &warm, Effort: llm.EffortLow,
	}
}

func failing(status int, message, kind, param, code string) provider.Fault {
	quote := func(s string) string {
		if s == "" {
			return "null"
		}
		return `"` + strings.ReplaceAll(s, `"`, `\"`) + `"`
	}
	return answered(status, `{"error":{"message":`+quote(message)+`,"type":`+quote(kind)+`,"param":`+quote(param)+`,"code":`+quote(code)+`}}`)
}

func with(f provider.Fault, name, value string) provider.Fault {
	f.Header = f.Header.Clone()
	f.Header.Set(name, value)
	return f
}

// Holds docs/spec/04-agent.md, "Models" and "Loop": what a server answers when it does not
// do what it was asked, and what the loop is told of it: whether the same may work later,
// or without a part of the request.
func TestRefused(t *testing.T) {
	invalid := "invalid_request_error"
	tests := []struct {
		name  string
		fault provider.Fault
		want  failure
		says  string // a part of the message
	}{
		{"rate limit in seconds", with(failing(429, "Rate limit reached for gpt-5-mini on requests per min (RPM): Limit 3, Used 3", "requests", "", "rate_limit_exceeded"), "Retry-After", "20"),
			failure{Kind: llm.KindRateLimited, Status: 429, RetryAfter: 20 * time.Second}, "Rate limit reached"},
		{"rate limit in milliseconds", with(failing(429, "slow", "tokens", "", "rate_limit_exceeded"), "Retry-After-Ms", "1500"), failure{Kind: llm.KindRateLimited, Status: 429, RetryAfter: 1500 * time.Millisecond}, "slow"},
		// https://platform.openai.com/docs/guides/error-codes
		{"no money left", failing(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "", "insufficient_quota"), failure{Kind: llm.KindUnauthorized, Status: 429}, "quota"},
		{"no money left at DeepSeek", failing(402, "Insufficient Balance", "unknown_error", "", "invalid_request_error"), failure{Kind: llm.KindUnauthorized, Status: 402}, "Insufficient Balance"},
		{"wrong key", failing(401, "Incorrect API key provided: sk-ficti*******-key. You can find your API key at https://platform.openai.com/account/api-keys.", invalid, "", "invalid_api_key"), failure{Kind: llm.KindUnauthorized, Status: 401}, "the key is refused"},
		{"wrong key at xAI", answered(400, `{"code":"Client specified an invalid argument","error":"Incorrect API key provided: sk***ey"}`), failure{Kind: llm.KindUnauthorized, Status: 400}, "the key is refused"},
		{"wrong key at Google", answered(400, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`), failure{Kind: llm.KindUnauthorized, Status: 400}, "the key is refused"},
		{"not allowed", failing(403, "Project does not have access to this model", invalid, "", "model_not_found"), failure{Kind: llm.KindUnauthorized, Status: 403}, "access"},
		{"no such model", failing(404, "The model 'gpt-5-mini' does not exist or you do not have access to it.", invalid, "", "model_not_found"), failure{Kind: llm.KindRejected, Status: 404}, "'gpt-5-mini' does not exist"},
		{"prompt too long", failing(400, "This model's maximum context length is 8192 tokens. However, your messages and tools need 9000 tokens, which is not supported.", invalid, "", "context_length_exceeded"), failure{Kind: llm.KindRejected, Status: 400}, "maximum context length"},
		// https://github.com/gabrii/Cursor-Azure-GPT-5/issues/33
		{"temperature unsupported", failing(400, "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.", invalid, "temperature", "unsupported_value"), failure{llm.KindRejected, llm.Temperature, 400, 0}, "'temperature'"},
		{"temperature deprecated behind a gateway", failing(400, "temperature is deprecated for this model.", invalid, "", ""), failure{llm.KindRejected, llm.Temperature, 400, 0}, ""},
		{"effort unsupported", failing(400, "Unrecognized request argument supplied: reasoning_effort", invalid, "", ""), failure{llm.KindRejected, llm.Reasoning, 400, 0}, ""},
		{"effort unknown", failing(400, "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model.", invalid, "reasoning_effort", "unsupported_value"), failure{llm.KindRejected, llm.Reasoning, 400, 0}, ""},
		// https://github.com/voideditor/void/issues/128
		{"effort, in a list as Python prints it", answered(400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'reasoning_effort'), 'msg': 'Extra inputs are not permitted', 'input': 'low'}]","type":"BadRequestError","param":null,"code":400}`), failure{llm.KindRejected, llm.Reasoning, 400, 0}, "extra_forbidden"},
		{"effort, in a list of violations", answered(422, `{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted","input":"low"}]}`), failure{llm.KindRejected, llm.Reasoning, 422, 0}, "Extra inputs"},
		{"effort, in a list inside a message", answered(422, `{"object":"error","message":{"detail":[{"type":"extra_forbidden","loc":["body","reasoning_effort"],"msg":"Extra inputs are not permitted"}]},"type":"invalid_request_error","code":null}`), failure{llm.KindRejected, llm.Reasoning, 422, 0}, "Extra inputs"},
		{"schema refused", failing(400, "Invalid schema for response_format 'reply': In context=('properties', 'x'), 'oneOf' is not permitted.", invalid, "response_format", ""), failure{llm.KindRejected, llm.Schema, 400, 0}, ""},
		// https://github.com/lmstudio-ai/lmstudio-bug-tracker/issues/307
		{"schema refused in a string", answered(400, `{"error":"'response_format.type' must be 'text'"}`), failure{llm.KindRejected, llm.Schema, 400, 0}, "'response_format.type' must be"},
		// https://github.com/llm-exe/llm-exe/issues/662
		{"schema unknown to DeepSeek", failing(400, "This response_format type is unavailable now", invalid, "", invalid), failure{llm.KindRejected, llm.Schema, 400, 0}, ""},
		{"schema unknown to vLLM", answered(400, `{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","param":null,"code":400}`), failure{llm.KindRejected, llm.Schema, 400, 0}, "xgrammar"},
		{"schema beside tools", failing(400, "json mode cannot be combined with tool/function calling", invalid, "", ""), failure{llm.KindRejected, llm.Schema, 400, 0}, ""},
		// https://github.com/langchain4j/langchain4j/issues/3475
		{"tools not enabled", answered(400, `{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","type":"BadRequestError","param":null,"code":400}`), failure{llm.KindRejected, llm.Tools, 400, 0}, ""},
		// https://github.com/ollama/ollama/issues/6027
		{"tools unsupported", failing(400, "registry.ollama.ai/library/gemma3:4b does not support tools", "api_error", "", ""), failure{llm.KindRejected, llm.Tools, 400, 0}, ""},
		{"tools unsupported anywhere", answered(404, `{"error":{"message":"No endpoints found that support tool use. To learn more about provider routing, visit: https://openrouter.ai/docs/provider-routing","code":404}}`), failure{llm.KindRejected, llm.Tools, 404, 0}, ""},
		// https://github.com/ggml-org/llama.cpp/issues/10920 and https://github.com/defilantech/LLMKube/issues/126
		{"tools unknown to llama.cpp", answered(500, `{"error":{"code":500,"message":"Unsupported param: tools","type":"server_error"}}`), failure{llm.KindRejected, llm.Tools, 500, 0}, ""},
		{"tools want a flag of llama.cpp", answered(500, `{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`), failure{llm.KindRejected, llm.Tools, 500, 0}, ""},
		{"images unsupported", failing(400, "Invalid content type. image_url is only supported by certain models.", invalid, "messages.[1].content.[0].type", ""), failure{llm.KindRejected, llm.Images, 400, 0}, ""},
		{"images unsupported by llama.cpp", answered(500, `{"error":{"code":500,"message":"image input is not supported - hint: if this is unexpected, you may need to provide the mmproj","type":"server_error"}}`), failure{llm.KindRejected, llm.Images, 500, 0}, ""},
		{"images unsupported by vLLM", answered(400, `{"detail":"At most 0 image(s) may be provided in one request."}`), failure{llm.KindRejected, llm.Images, 400, 0}, ""},
		{"images unknown to DeepSeek", answered(422, "{\"error\":{\"message\":\"Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text`\",\"type\":\"invalid_request_error\"}}"), failure{llm.KindRejected, llm.Images, 422, 0}, "`image_url`"},
		// https://github.com/reVrost/go-openrouter/pull/21 and https://github.com/open-webui/computer/issues/293
		{"limit of a server behind", answered(429, `{"error":{"message":"Provider returned error","code":429,"metadata":{"raw":"z-ai/glm-5.3-flash is temporarily rate-limited upstream.","provider_name":"BaseTen"}}}`), failure{Kind: llm.KindRateLimited, Status: 429}, "rate-limited upstream"},
		{"refusal of a server behind", answered(400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"{\"error\":{\"message\":\"Unsupported value\",\"param\":\"temperature\"}}","provider_name":"Azure"}}}`), failure{llm.KindRejected, llm.Temperature, 400, 0}, "Provider returned error: Unsupported value"},
		{"a part that was said", failing(400, "Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'.", invalid, "messages.[3].role", ""), failure{Kind: llm.KindRejected, Status: 400}, ""},
		{"the contact's words", failing(400, `Cannot parse: my phone is lost and temperature is not supported here`, invalid, "", ""), failure{Kind: llm.KindRejected, Status: 400}, "Cannot parse:"},
		{"broken calls, at random", answered(500, `{"error":{"message":"error parsing tool call: raw='{x' err=unexpected end of JSON input"}}`), failure{Kind: llm.KindServer, Status: 500}, ""},
		{"server error", failing(500, "The server had an error while processing your request. Sorry about that!", "server_error", "", ""), failure{Kind: llm.KindServer, Status: 500}, "had an error"},
		{"overload", failing(503, "The engine is currently overloaded, please try again later", "overloaded", "", ""), failure{Kind: llm.KindOverloaded, Status: 503}, "overloaded"},
		{"overload by Anthropic's number", answered(529, `{"error":{"message":"Overloaded"}}`), failure{Kind: llm.KindOverloaded, Status: 529}, "Overloaded"},
		{"page of a proxy", provider.Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>my phone is lost</html>"}, failure{Kind: llm.KindServer, Status: 502}, "status 502 with a page"},
		{"page instead of an answer", provider.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html></html>"}, failure{Kind: llm.KindProtocol}, "is the address right?"},
		{"redirect", provider.Fault{Status: 307, Header: http.Header{"Location": {"https://elsewhere.example.com/"}}}, failure{Kind: llm.KindProtocol, Status: 307}, "status 307"},
		{"nothing", provider.Fault{Status: 400}, failure{Kind: llm.KindRejected, Status: 400}, "status 400"},
		{"error in a list of strings", answered(400, `["no"]`), failure{Kind: llm.KindRejected, Status: 400}, "no"},
		{"error that is a number", answered(400, `{"error":7}`), failure{Kind: llm.KindRejected, Status: 400}, "status 400"},
		{"half an answer", answered(200, `{"choices":[{"message":{"content":"Y`), failure{Kind: llm.KindProtocol}, "not the JSON"},
		{"empty answer", answered(200, ``), failure{Kind: llm.KindProtocol}, "not the JSON"},
		{"answer of something else", answered(200, `{"status":"ok"}`), failure{Kind: llm.KindProtocol, Status: 200}, "none of a chat"},
		{"null choices", answered(200, `{"choices":null}`), failure{Kind: llm.KindProtocol, Status: 200}, "none of a chat"},
		{"stream that nobody asked for", provider.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: {\"choices\":[]}\n\ndata: [DONE]\n\n"}, failure{Kind: llm.KindProtocol}, "not the JSON"},
		// https://openrouter.ai/docs/api-reference/errors: the status was sent before
		{"error with status 200", answered(200, `{"error":{"code":429,"message":"Rate limited upstream"}}`), failure{Kind: llm.KindRateLimited, Status: 429}, "Rate limited upstream"},
		{"error with status 200 and none of its own", answered(200, `{"error":{"message":"upstream died"},"choices":[]}`), failure{Kind: llm.KindServer, Status: 502}, "upstream died"},
		{"error in a choice", answered(200, `{"choices":[{"error":{"code":503,"message":"no capacity"},"finish_reason":"error","message":{"content":"Ye"}}]}`), failure{Kind: llm.KindOverloaded, Status: 503}, "no capacity"},
		// https://api-docs.deepseek.com/api/create-chat-completion
		{"answer that broke off", answered(200, one(`"content":"Ye"`, `"insufficient_system_resource"`)), failure{Kind: llm.KindOverloaded, Status: 503}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := chatapi.New(nil, key)
			server.Break(tt.fault)
			resp, err := newModel(t, server.Transport()).Generate(t.Context(), everything(t))
			got, e := failureOf(t, err)
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("error differs (-want +got):\n%s\n%v", d, err)
			}
			if !strings.Contains(e.Error(), tt.says) || e.Provider != "openai-compatible" {
				t.Errorf("error = %v, want %q of openai-compatible", err, tt.says)
			}
			if strings.Contains(e.Error(), "sk-") || strings.Contains(e.Error(), "lost") {
				t.Errorf("%v quotes the key or the contact", err)
			}
			if resp.Text != "" || len(server.Requests()) != 1 {
				t.Errorf("response %+v after %d requests", resp, len(server.Requests()))
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a part that the request does not have is not
// what was refused, whatever the words.
func TestRefusedWithoutThatPart(t *testing.T) {
	for _, message := range []string{"temperature is not supported", "tools are not supported", "response_format is not supported", "images are not supported", "reasoning is not supported"} {
		server := chatapi.New(nil, key)
		server.Break(failing(400, message, "", "", ""))
		_, err := newModel(t, server.Transport()).Generate(t.Context(), llm.Request{Messages: []llm.Message{says(llm.User, "Hello")}})
		if got, _ := failureOf(t, err); got != (failure{Kind: llm.KindRejected, Status: 400}) {
			t.Errorf("%s: %+v", message, got)
		}
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": a refusal is no error, however it comes.
func TestPromptRefused(t *testing.T) {
	for name, fault := range map[string]provider.Fault{
		// https://learn.microsoft.com/azure/ai-services/openai/concepts/content-filter
		"Azure":  answered(400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`),
		"OpenAI": failing(400, "Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_request_error", "", "invalid_prompt"),
	} {
		t.Run(name, func(t *testing.T) {
			server := chatapi.New(nil, key)
			server.Break(fault)
			got, err := newModel(t, server.Transport()).Generate(t.Context(), everything(t))
			if err != nil || got.Stop != llm.StopRefusal {
				t.Errorf("Generate = %+v, %v", got, err)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": what a server wants otherwise is told as a failure
// that may pass, and the next request, from then on every one, is made otherwise.
func TestLearns(t *testing.T) {
	tests := []struct {
		name          string
		fault         provider.Fault
		before, after string // parts of the first request, and of the second
	}{
		// https://github.com/teilomillet/gollm/issues/33
		{"the bound of newer models", failing(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "invalid_request_error", "max_tokens", "unsupported_parameter"),
			`"max_tokens":100`, `"max_completion_tokens":100`},
		{"the bound of newer models, behind a gateway", answered(400, `{"error":{"message":"litellm.BadRequestError: OpenAIException - Unsupported parameter: max_tokens","code":"400"}}`),
			`"max_tokens":100`, `"max_completion_tokens":100`},
		{"the bound of newer models, in a list of violations", answered(422, `{"detail":[{"type":"extra_forbidden","loc":["body","max_tokens"],"msg":"Extra inputs are not permitted"}]}`),
			`"max_tokens":100`, `"max_completion_tokens":100`},
		{"the bound of newer models, as Python prints it", answered(400, `{"object":"error","message":"[{'type': 'extra_forbidden', 'loc': ('body', 'max_tokens'), 'msg': 'Extra inputs are not permitted', 'input': 100}]","type":"BadRequestError","param":null,"code":400}`),
			`"max_tokens":100`, `"max_completion_tokens":100`},
		// https://github.com/openai/openai-openapi/issues/541
		{"tools without reasoning", failing(400, "Function tools with reasoning_effort are not supported for gpt-5.6 in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.", "invalid_request_error", "reasoning_effort", ""),
			`"reasoning_effort":"low"`, `"reasoning_effort":"none"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := chatapi.New(nil, key)
			server.Break(tt.fault, answered(200, done), tt.fault)
			m := newModel(t, server.Transport())
			_, err := m.Generate(t.Context(), everything(t))
			if got, e := failureOf(t, err); got.Unsupported != llm.Wording || e.Kind != llm.KindRejected {
				t.Errorf("first error = %v, unsupported %q", err, got.Unsupported)
			}
			if _, err := m.Generate(t.Context(), everything(t)); err != nil {
				t.Fatal(err)
			}
			_, err = m.Generate(t.Context(), everything(t))
			if got, _ := failureOf(t, err); got.Unsupported == llm.Wording {
				t.Errorf("the same refusal again may pass: %v", err)
			}
			got := server.Requests()
			if !contains(got[0].Body, tt.before) || !contains(got[1].Body, tt.after) || contains(got[1].Body, tt.before) {
				t.Errorf("requests:\n%s\n%s", got[0].Body, got[1].Body)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": turns that are under way together learn together;
// none of them is told that its request can never work.
func TestLearnsTogether(t *testing.T) {
	const turns = 4
	var under sync.WaitGroup
	under.Add(turns)
	server := chatapi.New(nil, key)
	for range turns {
		server.Break(provider.Fault{Do: func(w http.ResponseWriter, _ *http.Request) {
			under.Done()
			under.Wait()
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model.","param":"max_tokens","code":"unsupported_parameter"}}`)
		}})
	}
	m := newModel(t, server.Transport())
	failed := make(chan error)
	for range turns {
		go func() {
			_, err := m.Generate(t.Context(), llm.Request{MaxOutputTokens: 100})
			failed <- err
		}()
	}
	for range turns {
		if got, _ := failureOf(t, <-failed); got.Unsupported != llm.Wording {
			t.Errorf("failure = %+v", got)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": an operator reads what to do about the key.
func TestKeyThatIsMissing(t *testing.T) {
	server := chatapi.New(nil, key)
	m, err := compatible.New(compatible.Config{Model: "m", BaseURL: base, Transport: server.Transport()})
	if err != nil {
		t.Fatal(err)
	}
	_, err = m.Generate(t.Context(), llm.Request{MaxOutputTokens: 100})
	if got, e := failureOf(t, err); got.Kind != llm.KindUnauthorized || e.Message != "the server asks for a key: set OPENAI_COMPATIBLE_API_KEY" {
		t.Errorf("%v: %q", got, e.Message)
	}
}
