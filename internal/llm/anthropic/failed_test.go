package anthropic_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// complains is an error as the API writes it.
func complains(status int, kind, message string) provider.Fault {
	return provider.Fault{
		Status: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_011CSHoEeqs5C35K2UUqR7Fy"}`, kind, message),
	}
}

func plain(status int, contentType, body string) provider.Fault {
	return provider.Fault{Status: status, Header: http.Header{"Content-Type": {contentType}}, Body: body}
}

func waits(f provider.Fault, name, value string) provider.Fault {
	f.Header.Set(name, value)
	f.Header.Set("Date", "Mon, 30 Nov 2026 12:00:00 GMT")
	return f
}

// Holds docs/spec/04-agent.md, "Loop": what is asked again, what moves to the fallback, and what an
// operator reads. The kinds are those of https://platform.claude.com/docs/en/api/errors.
func TestFailuresSayWhatTheyMean(t *testing.T) {
	limited := func() provider.Fault {
		return complains(429, "rate_limit_error", "This request would exceed your account's rate limit.")
	}
	tests := []struct {
		name  string
		fault provider.Fault
		kind  llm.ErrorKind
		after time.Duration
		says  string // the whole message
	}{
		{"rate limit in seconds", waits(limited(), "Retry-After", "12"), llm.KindRateLimited, 12 * time.Second, "This request would exceed your account's rate limit."},
		{"rate limit by a date", waits(limited(), "Retry-After", "Mon, 30 Nov 2026 12:00:30 GMT"), llm.KindRateLimited, 30 * time.Second, "This request would exceed your account's rate limit."},
		{"rate limit in milliseconds", waits(limited(), "Retry-After-Ms", "250"), llm.KindRateLimited, 250 * time.Millisecond, "This request would exceed your account's rate limit."},
		{"overload", complains(529, "overloaded_error", "Overloaded"), llm.KindOverloaded, 0, "Overloaded"},
		// https://github.com/tailcallhq/forgecode/pull/2595
		{"overload as 200", complains(200, "overloaded_error", "Overloaded"), llm.KindOverloaded, 0, "Overloaded"},
		{"overload as 500", complains(500, "overloaded_error", "Overloaded"), llm.KindOverloaded, 0, "Overloaded"},
		{"bad request as 200", complains(200, "invalid_request_error", "no"), llm.KindRejected, 0, "no"},
		{"error of no kind as 200", plain(200, "application/json", `{"type":"error"}`), llm.KindProtocol, 0, "status 200"},
		{"unavailable", plain(503, "text/plain", "upstream connect error"), llm.KindOverloaded, 0, "status 503"},
		{"server", complains(500, "api_error", "Internal server error"), llm.KindServer, 0, "Internal server error"},
		{"timeout", complains(504, "timeout_error", "Request timed out"), llm.KindServer, 0, "Request timed out"},
		{"page of a gateway", plain(502, "text/html", "<html><h1>Bad gateway</h1></html>"), llm.KindServer, 0, "status 502 with a page instead of JSON: is the address right?"},
		{"redirect", provider.Fault{Status: 302, Header: http.Header{"Location": {"https://evil.example.com/"}}}, llm.KindProtocol, 0, "status 302"},
		{"wrong key", complains(401, "authentication_error", "invalid x-api-key"), llm.KindUnauthorized, 0, "invalid x-api-key"},
		{"no permission", complains(403, "permission_error", "Your API key does not have permission to use the specified resource."), llm.KindUnauthorized, 0, "Your API key does not have permission to use the specified resource."},
		{"billing", complains(402, "billing_error", "Payment required"), llm.KindUnauthorized, 0, "Payment required"},
		// https://github.com/anthropics/claude-code/issues/66314
		{"no credit", complains(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."), llm.KindUnauthorized, 0, "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."},
		// https://github.com/anthropics/claude-code/issues/2127
		{"spend limit", complains(400, "invalid_request_error", "You have reached your specified API usage limits. You will regain access soon."), llm.KindUnauthorized, 0, "You have reached your specified API usage limits. You will regain access soon."},
		{"unknown model", complains(404, "not_found_error", "model: claude-opus-99"), llm.KindRejected, 0, "model: claude-opus-99"},
		// https://github.com/coder/aibridge/issues/56
		{"too long", complains(400, "invalid_request_error", "prompt is too long: 205351 tokens > 200000 maximum"), llm.KindRejected, 0, "prompt is too long: 205351 tokens > 200000 maximum"},
		{"bound above the model's", complains(400, "invalid_request_error", "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"), llm.KindRejected, 0, "max_tokens: 9000 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022"},
		{"error as a string", plain(400, "application/json", `{"error":"bad gateway config"}`), llm.KindRejected, 0, "bad gateway config"},
		{"error as a list", plain(400, "application/json", `[{"error":{"message":"bad list"}}]`), llm.KindRejected, 0, "bad list"},
		{"detail", plain(422, "application/json", `{"detail":"bad detail"}`), llm.KindRejected, 0, "bad detail"},
		{"bare string", plain(400, "application/json", `"bad string"`), llm.KindRejected, 0, "bad string"},
		{"no body", plain(400, "application/json", ``), llm.KindRejected, 0, "status 400"},
		{"half a body", plain(500, "application/json", `{"type":"error","error":{"ty`), llm.KindServer, 0, "status 500"},
		{"key quoted", complains(401, "authentication_error", "invalid key "+key), llm.KindUnauthorized, 0, "invalid key [secret]"},
		{"text quoted", complains(400, "invalid_request_error", "refused: my card is 4111 and does not support thinking or images at all"), llm.KindRejected, 0, "refused:"},
		{"half JSON of 200", plain(200, "application/json", `{"type":"message","content":[{"type":"te`), llm.KindProtocol, 0, "the answer is not the JSON that was expected"},
		// https://github.com/coder/aibridge/issues/56
		{"nothing of 200", plain(200, "application/json", ``), llm.KindProtocol, 0, "the answer is not the JSON that was expected"},
		{"page of 200", plain(200, "text/html; charset=utf-8", `<!doctype html>`), llm.KindProtocol, 0, "the answer is a page, not JSON: is the address right?"},
		{"another API's answer", plain(200, "application/json", `{"object":"chat.completion","choices":[]}`), llm.KindProtocol, 0, "the answer is JSON of another kind: is the address right?"},
		{"a stream nobody asked for", plain(200, "text/event-stream", "event: message_start\ndata: {\"type\":\"message_start\"}\n\n"), llm.KindProtocol, 0, "the answer is not the JSON that was expected"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := asks(t, test.fault, full(t))
			e := failure(t, err)
			if e.Kind != test.kind || e.RetryAfter != test.after || e.Message != test.says || e.Unsupported != "" {
				t.Errorf("%s, after %v, unsupported %q: %q\nwant %s, after %v: %q", e.Kind, e.RetryAfter, e.Unsupported, e.Message, test.kind, test.after, test.says)
			}
			if strings.Contains(e.Error(), key) || strings.Contains(e.Error(), "4111") {
				t.Errorf("the error quotes what it must not: %v", e)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": a part that a model does not take is named, so that the turn
// goes on without it. The messages are the API's; the addresses say where they were seen.
func TestRefusedPartsAreNamed(t *testing.T) {
	tests := []struct {
		name    string
		message string
		want    llm.Feature
	}{
		// https://github.com/mnfst/modelparams.dev/issues/214
		{"temperature with thinking", "`temperature` may only be set to 1 when thinking is enabled or in adaptive mode. Please consult our documentation at https://platform.claude.com/docs/en/build-with-claude/extended-thinking", llm.Temperature},
		// https://github.com/orgs/community/discussions/209995
		{"temperature", "`temperature` is deprecated for this model.", llm.Temperature},
		{"temperature out of range", "temperature: Input should be less than or equal to 1", llm.Temperature},
		// https://github.com/NousResearch/hermes-agent/issues/11137
		{"budget", `"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`, llm.Reasoning},
		// https://github.com/elizaOS/eliza/pull/16175
		{"effort", "This model does not support the effort parameter.", llm.Reasoning},
		{"adaptive thinking", "adaptive thinking is not supported on this model", llm.Reasoning},
		// https://github.com/pydantic/pydantic-ai/issues/2075
		{"thinking that did not go back", "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", llm.Reasoning},
		// https://github.com/agentjido/req_llm/issues/302
		{"bound in a schema", "output_config.format.schema: For 'integer' type, property 'minimum' is not supported", llm.Schema},
		{"schema before its new name", "output_format: Extra inputs are not permitted", llm.Schema},
		{"schema", "'claude-3-haiku-20240307' does not support output format.", llm.Schema},
		{"tools", "'claude-2.1' does not support tools.", llm.Tools},
		{"schema of a tool", "tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", llm.Tools},
		{"images", "'claude-3-5-haiku-20241022' does not support image input.", llm.Images},
		// https://github.com/anthropics/claude-code/issues/56511
		{"image that is none", "Could not process image", llm.Images},
		{"image of another type", "messages.0.content.0.image.source.base64: The image was specified using the image/jpeg media type, but the image appears to be a image/png image", llm.Images},
		// https://github.com/anthropics/claude-code/issues/8210
		{"a fault of ours", "messages.2: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", ""},
		{"the first of two", "Structured outputs are not supported together with tools on this model.", llm.Schema},
		{"support of another kind", "Your account was disabled. Please contact support about your use of tools.", ""},
		{"a sentence with a colon", "tools or images against the terms of use: see the console", ""},
		{"a fault of one message", "messages.2.content.0.text: this text is not supported beside tools", ""},
		{"quoted from the contact", `messages: bad text "this does not support thinking"`, ""},
		{"quoted from the contact without marks", "text refused for: does not support thinking or images", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			req := full(t)
			if test.want == llm.Temperature {
				warm := 0.3
				req.Effort, req.Temperature = "", &warm
			}
			_, err := asks(t, complains(400, "invalid_request_error", test.message), req)
			e := failure(t, err)
			if e.Kind != llm.KindRejected || e.Unsupported != test.want {
				t.Errorf("%s, unsupported %q, want rejected, %q", e.Kind, e.Unsupported, test.want)
			}
			bare := llm.Request{Messages: []llm.Message{says(llm.User, "Hello!")}}
			_, err = asks(t, complains(400, "invalid_request_error", test.message), bare)
			if e := failure(t, err); e.Unsupported != "" {
				t.Errorf("%q was refused of a request without it", e.Unsupported)
			}
		})
	}
	_, err := asks(t, complains(413, "request_too_large", "Request exceeds the maximum size"), full(t))
	if e := failure(t, err); e.Kind != llm.KindRejected || e.Unsupported != llm.Images {
		t.Errorf("a request too large with images: %s, unsupported %q, want rejected, images", e.Kind, e.Unsupported)
	}
}
