package openai_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/openaiapi"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

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

const quoted = "my phone is lost and temperature is not supported here"

// everything is a request with every part that may be refused, but a temperature, which
// does not go with an effort.
func everything(t *testing.T) llm.Request {
	return llm.Request{
		System:   "Be brief.",
		Messages: []llm.Message{{Role: llm.User, Text: quoted, Images: []llm.Image{{MediaType: "image/png", Data: []byte("\x89PNG")}}}},
		Tools:    twoTools(), Schema: replySchema(t), MaxOutputTokens: 100, Effort: llm.EffortLow,
	}
}

// failing is an error in the provider's shape; an empty word is null.
func failing(t *testing.T, status int, message, kind, param, code string) provider.Fault {
	t.Helper()
	e := map[string]any{"message": message}
	for name, word := range map[string]string{"type": kind, "param": param, "code": code} {
		e[name] = nil
		if word != "" {
			e[name] = word
		}
	}
	body, err := json.Marshal(map[string]any{"error": e}, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return answered(status, string(body))
}

func with(f provider.Fault, headers ...string) provider.Fault {
	f.Header = f.Header.Clone()
	for i := 0; i < len(headers); i += 2 {
		f.Header.Set(headers[i], headers[i+1])
	}
	return f
}

// Holds docs/spec/04-agent.md, "Models" and "Loop": what the provider answers when it does
// not do what it was asked, and what the loop is told of it: whether the same may work
// later, or without a part of the request.
func TestRefused(t *testing.T) {
	const invalid = "invalid_request_error"
	warm := 0.3
	warmed := llm.Request{Messages: hello, Temperature: &warm}
	all := everything(t)
	rejected := func(f llm.Feature) failure { return failure{llm.KindRejected, f, 400, 0} }
	limited := failing(t, 429, "Rate limit reached for gpt-6-sol in organization org-x on tokens per min (TPM).", "tokens", "", "rate_limit_exceeded")
	tests := []struct {
		name  string
		req   llm.Request
		fault provider.Fault
		want  failure
	}{
		{"wrong key", all, failing(t, 401, "Incorrect API key provided: sk-fict***-key.", invalid, "", "invalid_api_key"), failure{llm.KindUnauthorized, "", 401, 0}},
		{"no access to the model", all, failing(t, 403, "Project `proj_x` does not have access to model `gpt-6-sol`", invalid, "", "model_not_found"), failure{llm.KindUnauthorized, "", 403, 0}},
		{"no such model", all, failing(t, 404, "The model `gpt-7` does not exist or you do not have access to it.", invalid, "", "model_not_found"), failure{llm.KindRejected, "", 404, 0}},
		// https://github.com/lofcz/LLMTornado/issues/144
		{"no such model, otherwise", all, failing(t, 400, "Model not found gpt-image-1-mini", invalid, "model", ""), rejected("")},
		{"nothing left to spend", all, with(failing(t, 429, "You exceeded your current quota.", "insufficient_quota", "", "insufficient_quota"), "Retry-After", "1"), failure{llm.KindUnauthorized, "", 429, time.Second}},
		{"account closed", all, failing(t, 403, "Your account is not active.", "billing_not_active", "", "billing_not_active"), failure{llm.KindUnauthorized, "", 403, 0}},
		{"too fast", all, with(limited, "Retry-After", "12"), failure{llm.KindRateLimited, "", 429, 12 * time.Second}},
		{"too fast, in milliseconds", all, with(limited, "Retry-After-Ms", "250", "Retry-After", "1"), failure{llm.KindRateLimited, "", 429, 250 * time.Millisecond}},
		{"too fast, by a date", all, with(limited, "Retry-After", "Mon, 30 Nov 2026 12:00:07 GMT", "Date", "Mon, 30 Nov 2026 12:00:00 GMT"), failure{llm.KindRateLimited, "", 429, 7 * time.Second}},
		// https://platform.openai.com/docs/guides/rate-limits, "Rate limits in headers"
		{"too fast, by the limits", all, with(limited, "X-Ratelimit-Remaining-Requests", "10", "X-Ratelimit-Reset-Requests", "1h", "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "1m2.5s"), failure{llm.KindRateLimited, "", 429, 62500 * time.Millisecond}},
		{"too fast, by limits that are none", all, with(limited, "X-Ratelimit-Remaining-Tokens", "0", "X-Ratelimit-Reset-Tokens", "soon"), failure{llm.KindRateLimited, "", 429, 0}},
		{"too fast for days", all, with(limited, "X-Ratelimit-Remaining-Requests", "0", "X-Ratelimit-Reset-Requests", "72h"), failure{llm.KindRateLimited, "", 429, time.Hour}},
		{"server error", all, failing(t, 500, "The server had an error processing your request.", "server_error", "", ""), failure{llm.KindServer, "", 500, 0}},
		{"overloaded", all, failing(t, 503, "The engine is currently overloaded.", "service_unavailable_error", "", ""), failure{llm.KindOverloaded, "", 503, 0}},
		{"page of a proxy", all, provider.Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>temperature is not supported</html>"}, failure{llm.KindServer, "", 502, 0}},
		{"redirect", all, provider.Fault{Status: 307, Header: http.Header{"Location": {"https://other.example.com/v1/responses"}}}, failure{llm.KindProtocol, "", 307, 0}},
		{"context too long", all, failing(t, 400, "Your input exceeds the context window of this model.", invalid, "input", "context_length_exceeded"), rejected("")},

		{"temperature", warmed, failing(t, 400, "Unsupported parameter: 'temperature' is not supported with this model.", invalid, "temperature", "unsupported_parameter"), rejected(llm.Temperature)},
		// https://github.com/microsoft/vscode/issues/255504
		{"temperature of another value", warmed, failing(t, 400, "Unsupported value: 'temperature' does not support 0.3 with this model.", invalid, "temperature", "unsupported_value"), rejected(llm.Temperature)},
		// https://github.com/OpenHands/software-agent-sdk/issues/1837
		{"temperature without a code", warmed, failing(t, 400, "Unsupported parameter: 'temperature' is not supported with this model.", invalid, "temperature", ""), rejected(llm.Temperature)},
		{"temperature by words alone", warmed, failing(t, 400, "Unsupported parameter: 'temperature' is not supported with this model.", "", "", ""), rejected(llm.Temperature)},
		{"temperature that was not asked for", all, failing(t, 400, "Unsupported parameter: 'temperature' is not supported with this model.", invalid, "temperature", ""), rejected("")},
		// https://github.com/openai/openai-agents-python/issues/2089
		{"effort", all, failing(t, 400, "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model. Supported values are: 'high'.", invalid, "reasoning.effort", "unsupported_value"), rejected(llm.Reasoning)},
		// https://github.com/anomalyco/opencode/issues/4451
		{"effort, masked", all, failing(t, 400, "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model.", invalid, "***.effort", "unsupported_value"), rejected(llm.Reasoning)},
		{"reasoning at all", all, failing(t, 400, "Unsupported parameter: 'reasoning.effort' is not supported with this model.", invalid, "reasoning.effort", "unsupported_parameter"), rejected(llm.Reasoning)},
		{"schema of the answer", all, failing(t, 400, "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `gpt-4-turbo`.", invalid, "text.format", ""), rejected(llm.Schema)},
		{"schema by words alone", all, failing(t, 400, "Invalid parameter: 'text.format' of type 'json_schema' is not supported with model version `gpt-4-turbo`.", "", "", ""), rejected(llm.Schema)},
		{"schema not strict enough", all, failing(t, 400, "Invalid schema for response_format 'reply': In context=(), 'minItems' is not permitted.", invalid, "text.format.schema", "invalid_json_schema"), rejected(llm.Schema)},
		// https://github.com/julep-ai/julep/issues/1542
		{"tools", all, failing(t, 400, "tools is not supported in this model.", invalid, "tools", ""), rejected(llm.Tools)},
		{"tools by words alone", all, failing(t, 400, "tools is not supported in this model.", "", "", ""), rejected(llm.Tools)},
		{"parameters of a tool", all, failing(t, 400, "Invalid schema for function 'set_note'.", invalid, "tools[0].parameters", "invalid_function_parameters"), rejected(llm.Tools)},
		{"pictures", all, failing(t, 400, "Model 'o3-mini' does not support image inputs. Try again with a vision model.", invalid, "input", ""), rejected(llm.Images)},
		// https://github.com/nextcloud/integration_openai/issues/282
		{"pictures, as of chat", all, failing(t, 400, "Invalid content type. image_url is only supported by certain models.", invalid, "input[1].content[0].type", ""), rejected(llm.Images)},
		{"a picture that cannot be read", all, failing(t, 400, "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats.", invalid, "input", "invalid_image_format"), rejected("")},
		{"pictures that were not there", warmed, failing(t, 400, "Model 'o3-mini' does not support image inputs.", invalid, "input", ""), rejected("")},
		{"what the contact said", all, failing(t, 400, "Invalid input: "+quoted, invalid, "input", "invalid_value"), rejected("")},
		{"what the contact said, without a parameter", warmed, failing(t, 400, `Invalid input: "my temperature is not supported"`, invalid, "", ""), rejected("")},

		{"error as a text", all, answered(500, `{"error":"boom"}`), failure{llm.KindServer, "", 500, 0}},
		{"error in a list", warmed, answered(400, `[{"error":{"message":"no","param":"temperature"}}]`), rejected(llm.Temperature)},
		{"error without the round", warmed, answered(400, `{"message":"no","param":"temperature"}`), rejected(llm.Temperature)},
		{"error of a gateway", all, answered(403, `{"detail":"blocked"}`), failure{llm.KindUnauthorized, "", 403, 0}},
		{"error of numbers", all, answered(400, `{"error":{"message":7,"param":[],"code":{},"type":null}}`), rejected("")},
		{"no error at all", all, answered(400, ``), rejected("")},

		{"late server error", all, answered(200, `{"status":"failed","error":{"code":"server_error","message":"An error occurred."},"output":[]}`), failure{llm.KindServer, "", 500, 0}},
		{"late, of a limit", all, answered(200, `{"status":"failed","error":{"code":"rate_limit_exceeded","message":"Slow down."}}`), failure{llm.KindRateLimited, "", 429, 0}},
		{"late, of a picture", all, answered(200, `{"status":"failed","error":{"code":"image_parse_error","message":"This image is not supported."}}`), rejected("")},
		{"late without a reason", all, answered(200, `{"status":"failed","error":null}`), failure{llm.KindServer, "", 500, 0}},
		{"an error instead of an answer", all, answered(200, `{"error":{"message":"no upstream","code":502}}`), failure{llm.KindServer, "", 500, 0}},

		{"half an answer", all, answered(200, done[:60]), failure{Kind: llm.KindProtocol}},
		{"a stream that nobody asked for", all, provider.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "event: response.created\ndata: {}\n\n"}, failure{Kind: llm.KindProtocol}},
		{"an answer of chat completions", all, answered(200, `{"choices":[{"message":{"content":"Yes"}}]}`), failure{llm.KindProtocol, "", 200, 0}},
		{"nothing", all, answered(200, ``), failure{Kind: llm.KindProtocol}},
		{"null", all, answered(200, `null`), failure{llm.KindProtocol, "", 200, 0}},
		{"output that is no list", all, answered(200, `{"output":"Yes"}`), failure{Kind: llm.KindProtocol}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := openaiapi.New(nil, key)
			server.Break(test.fault)
			resp, err := newModel(t, plain, server).Generate(t.Context(), test.req)
			got, e := failureOf(t, err)
			if got != test.want {
				t.Errorf("%+v, want %+v: %v", got, test.want, err)
			}
			if e.Provider != "openai" || e.Message == "" || resp.Text != "" || resp.Calls != nil {
				t.Errorf("provider %q, message %q, response %+v", e.Provider, e.Message, resp)
			}
			for _, secret := range []string{key, "sk-fict", quoted, "my temperature"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%q is in %v", secret, err)
				}
			}
			if n := len(server.Requests()); n != 1 {
				t.Errorf("%d requests, want 1", n)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Reply contract": a prompt that the provider refuses is a
// refusal, not a failure.
func TestAPromptThatIsRefused(t *testing.T) {
	for _, code := range []string{"invalid_prompt", "content_filter", "content_policy_violation", "cyber_policy"} {
		server := openaiapi.New(nil, key)
		server.Break(failing(t, 400, "Your prompt was flagged as potentially violating our usage policy.", "invalid_request_error", "prompt", code))
		resp, err := newModel(t, newest, server).Generate(t.Context(), everything(t))
		if err != nil || resp.Stop != llm.StopRefusal || resp.Text != "" {
			t.Errorf("%s: %+v, %v", code, resp, err)
		}
	}
}

// Holds docs/spec/04-agent.md, "Loop": what a failed call used is counted.
func TestWhatAFailedCallUsed(t *testing.T) {
	server := openaiapi.New(nil, key)
	server.Break(answered(200, `{"status":"failed","error":{"code":"server_error","message":"x"},"usage":{"input_tokens":9,"output_tokens":4}}`))
	resp, err := newModel(t, newest, server).Generate(t.Context(), everything(t))
	if want := (llm.Usage{Input: 9, Output: 4}); err == nil || resp.Usage != want {
		t.Errorf("usage %+v, want %+v (%v)", resp.Usage, want, err)
	}
}

// A model that does not take what its name promised is asked without it from then on; the
// failure before is one that may work a moment later.
//
// Holds docs/spec/04-agent.md, "Models" and "Loop".
func TestWhatIsLearnt(t *testing.T) {
	const invalid = "invalid_request_error"
	tests := []struct {
		name, left string
		fault      provider.Fault
	}{
		{"no encrypted reasoning", "encrypted_content", failing(t, 400, "Encrypted content is not supported with this model.", invalid, "include", "")},
		{"no encrypted reasoning, by words", "encrypted_content", failing(t, 400, "Encrypted content is not supported with this model.", invalid, "", "")},
		// https://github.com/openai/codex/issues/8119
		{"reasoning of another account", "encrypted_content", failing(t, 400, "The encrypted content gAAA...c90= could not be verified.", invalid, "", "invalid_encrypted_content")},
		{"no mark", "prompt_cache_breakpoint", failing(t, 400, "Unknown parameter: 'input[0].content[0].prompt_cache_breakpoint'.", invalid, "input[0].content[0].prompt_cache_breakpoint", "unknown_parameter")},
		{"no mark, by words", "prompt_cache_breakpoint", failing(t, 400, "Unsupported parameter: 'prompt_cache_breakpoint' is not supported with this model.", invalid, "", "")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			server := openaiapi.New(&llmtest.Scripted{Steps: []llmtest.Step{{Text: "ok"}}, Repeat: true}, key)
			server.Break(test.fault, test.fault)
			m := newModel(t, newest, server)
			req := llm.Request{System: "Be brief.", Messages: toolLoop(strings.NewReplacer("gAAA1", "MQ==", "gAAA2", "Mg==").Replace(ownState)), Tools: twoTools()}
			_, err := m.Generate(t.Context(), req)
			if got, _ := failureOf(t, err); got != (failure{llm.KindRejected, llm.Wording, 400, 0}) {
				t.Fatalf("first: %+v", got)
			}
			if first := server.Requests()[0]; !strings.Contains(string(first.Body), test.left) {
				t.Fatalf("%s is not in %s", test.left, first.Body)
			}
			// The same complaint of a request without it is one to give up for.
			_, err = m.Generate(t.Context(), req)
			if got, _ := failureOf(t, err); got != (failure{llm.KindRejected, "", 400, 0}) {
				t.Fatalf("second: %+v", got)
			}
			if _, err := m.Generate(t.Context(), req); err != nil {
				t.Fatal(err)
			}
			if last := server.Requests()[2]; strings.Contains(string(last.Body), test.left) {
				t.Errorf("%s is in %s", test.left, last.Body)
			}
		})
	}
}
