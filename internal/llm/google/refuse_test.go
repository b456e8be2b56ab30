package google_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// everything is a request with all that a model may not take.
func everything() llm.Request {
	return llm.Request{
		Messages: []llm.Message{{Role: llm.User, Text: "my temperature and thinking are fine today", Images: []llm.Image{{MediaType: "image/png", Data: []byte("x")}}}},
		Tools:    []llm.Tool{lookup}, Schema: []byte(`{"type":"object"}`), Effort: llm.EffortLow, Temperature: ptr(1),
	}
}

func refusal(code int, status, message, details string) provider.Fault {
	if details != "" {
		details = `,"details":[` + details + `]`
	}
	return provider.Fault{Status: code, Body: `{"error":{"code":` + strconv.Itoa(code) + `,"status":"` + status + `","message":"` + message + `"` + details + `}}`}
}

func invalid(message string) provider.Fault { return refusal(400, "INVALID_ARGUMENT", message, "") }

const (
	retryInfo = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"58.8s"}`
	perDay    = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier","quotaDimensions":{"model":"x"},"quotaValue":"20"}]}`
	perMinute = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaMetric":"m","quotaId":"GenerateRequestsPerMinutePerProjectPerModel","quotaValue":"20"}]}`
	noQuota   = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateContentInputTokensPerMinute","quotaValue":"0"}]}`
)

// Holds docs/spec/04-agent.md, "Loop" (retries on 429, 5xx, overload) and "Models": what
// Google's errors mean. The comments name where they were seen.
func TestRefusals(t *testing.T) {
	tests := []struct {
		name  string
		fault provider.Fault
		kind  llm.ErrorKind
		part  llm.Feature
		wait  time.Duration
	}{
		{"rate limit", refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", perMinute+","+retryInfo), llm.KindRateLimited, "", 58800 * time.Millisecond},
		{"rate limit without details", refusal(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).", ""), llm.KindRateLimited, "", 0},
		{"rate limit with a header", provider.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":{"details":[` + retryInfo + `]}}`}, llm.KindRateLimited, "", 7 * time.Second},
		{"a wait that is none", refusal(429, "RESOURCE_EXHAUSTED", "x", `{"retryDelay":"-5s"},7,{"retryDelay":[]}`), llm.KindRateLimited, "", 0},
		// https://github.com/Wei-Shaw/claude-relay-service/issues/746
		{"a wait of hours", refusal(429, "RESOURCE_EXHAUSTED", "x", `{"retryDelay":"21599.960323804s"}`), llm.KindRateLimited, "", time.Hour},
		// https://github.com/ogkalu2/comic-translate/issues/403: the delay is of a minute, the quota of a day
		{"quota of the day", refusal(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", perDay+","+retryInfo), llm.KindUnauthorized, "", 0},
		{"quota of the day with a header", provider.Fault{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: `{"error":{"details":[` + perDay + `]}}`}, llm.KindUnauthorized, "", 0},
		{"no quota", refusal(429, "RESOURCE_EXHAUSTED", "x", noQuota), llm.KindUnauthorized, "", 0},
		{"no quota by the message", refusal(429, "RESOURCE_EXHAUSTED", "* Quota exceeded for metric: m, limit: 0, model: x", ""), llm.KindUnauthorized, "", 0},
		// https://github.com/JeffOtano/roni/pull/125
		{"no credit", refusal(429, "RESOURCE_EXHAUSTED", "Your prepayment credits are depleted.", ""), llm.KindUnauthorized, "", 0},
		{"overloaded", refusal(503, "UNAVAILABLE", "The model is overloaded. Please try again later.", retryInfo), llm.KindOverloaded, "", 58800 * time.Millisecond},
		{"overloaded, another status", provider.Fault{Status: 529}, llm.KindOverloaded, "", 0},
		{"internal", refusal(500, "INTERNAL", "An internal error has occurred.", ""), llm.KindServer, "", 0},
		{"deadline", refusal(504, "DEADLINE_EXCEEDED", "x", ""), llm.KindServer, "", 0},
		{"page of a gateway", provider.Fault{Status: 502, Header: http.Header{"Content-Type": {"text/html"}}, Body: "<html>Bad Gateway"}, llm.KindServer, "", 0},
		{"redirect", provider.Fault{Status: 302, Header: http.Header{"Location": {"https://example.com/"}}}, llm.KindProtocol, "", 0},

		// https://ai.google.dev/gemini-api/docs/troubleshooting
		{"wrong key", refusal(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), llm.KindUnauthorized, "", 0},
		{"wrong key by its reason", refusal(400, "INVALID_ARGUMENT", "Bad key.", `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}`), llm.KindUnauthorized, "", 0},
		{"wrong key without details", invalid("API key expired. Please renew the API key."), llm.KindUnauthorized, "", 0},
		{"unauthenticated", refusal(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.", ""), llm.KindUnauthorized, "", 0},
		{"key leaked", refusal(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key.", ""), llm.KindUnauthorized, "", 0},
		{"country", refusal(400, "FAILED_PRECONDITION", "User location is not supported for the API use.", ""), llm.KindUnauthorized, "", 0},
		{"no such model", refusal(404, "NOT_FOUND", "models/x is not found for API version v1beta, or is not supported for generateContent.", ""), llm.KindRejected, "", 0},
		{"context too long", invalid("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), llm.KindRejected, "", 0},

		// https://github.com/googleapis/python-genai/issues/867
		{"schema beside tools", invalid("Function calling with a response mime type: 'application/json' is unsupported"), llm.KindRejected, llm.Schema, 0},
		// https://github.com/snailyp/gemini-balance/issues/264
		{"schema beside tools, other words", invalid("Tool use with a response mime type: 'application/json' is unsupported"), llm.KindRejected, llm.Schema, 0},
		// https://github.com/googleapis/python-genai/issues/660
		{"schema too complex", invalid("The specified schema produces a constraint that has too many states for serving."), llm.KindRejected, llm.Schema, 0},
		{"no JSON mode", invalid("JSON mode is not enabled for models/gemma-3-4b-it"), llm.KindRejected, llm.Schema, 0},
		{"schema unknown", refusal(400, "INVALID_ARGUMENT", `Invalid JSON payload received. Unknown name \"responseJsonSchema\" at 'generation_config': Cannot find field.`,
			`{"@type":"type.googleapis.com/google.rpc.BadRequest","fieldViolations":[{"field":"generation_config","description":"x"}]}`), llm.KindRejected, llm.Schema, 0},
		// https://github.com/RooCodeInc/Roo-Code/issues/10700
		{"thinking level", invalid("Thinking level is not supported for this model."), llm.KindRejected, llm.Reasoning, 0},
		// https://github.com/immersive-translate/immersive-translate/issues/2976
		{"thinking config", invalid("thinking_config is not supported."), llm.KindRejected, llm.Reasoning, 0},
		{"thinking budget", invalid("The thinking budget 16384 is invalid. Please choose a value between 0 and 8192."), llm.KindRejected, llm.Reasoning, 0},
		{"thinking by field", refusal(400, "INVALID_ARGUMENT", "Invalid value", `{"fieldViolations":[{"field":"generation_config.thinking_config.thinking_level"}]}`), llm.KindRejected, llm.Reasoning, 0},
		// https://github.com/nashsu/llm_wiki/issues/49
		{"temperature", invalid(`Invalid JSON payload received. Unknown name \"temperature\": Cannot find field.`), llm.KindRejected, llm.Temperature, 0},
		{"tools", invalid("Function calling is not enabled for models/gemma-3-4b-it"), llm.KindRejected, llm.Tools, 0},
		{"images", invalid("Image input modality is not enabled for models/gemma-3-1b-it"), llm.KindRejected, llm.Images, 0},
		{"one broken image", invalid("Unable to process input image. Please retry or report."), llm.KindRejected, "", 0},
		{"one tool's declaration", invalid("* GenerateContentRequest.tools[0].function_declarations[0].parameters.properties[temperature].format: only 'enum' is supported"), llm.KindRejected, "", 0},
		{"a message", invalid(`Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), \"temperature\"`), llm.KindRejected, "", 0},
		{"a quotation of the contact", invalid("cannot do: my temperature and thinking are fine today"), llm.KindRejected, "", 0},
		// https://github.com/vercel/ai/issues/21192
		{"no word why", invalid("Request contains an invalid argument."), llm.KindRejected, "", 0},
		{"signature", invalid("Function call is missing a thought_signature in functionCall parts."), llm.KindRejected, "", 0},

		{"a list", provider.Fault{Status: 503, Body: `[{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE","details":[` + retryInfo + `]}}]`}, llm.KindOverloaded, "", 58800 * time.Millisecond},
		{"a text", provider.Fault{Status: 400, Body: `{"error":"thinking_config is not supported."}`}, llm.KindRejected, llm.Reasoning, 0},
		{"a bare text", provider.Fault{Status: 500, Body: `"oops"`}, llm.KindServer, "", 0},
		{"nothing", provider.Fault{Status: 429}, llm.KindRateLimited, "", 0},
		{"an error as an answer", provider.Fault{Status: 200, Body: `{"error":{"code":503,"message":"overloaded","status":"UNAVAILABLE"}}`}, llm.KindOverloaded, "", 0},
		{"an error as an answer without a code", provider.Fault{Status: 200, Body: `{"error":{"message":"no"}}`}, llm.KindProtocol, "", 0},
		{"a page as an answer", provider.Fault{Status: 200, Body: "<!doctype html>"}, llm.KindProtocol, "", 0},
		{"a stream as an answer", provider.Fault{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: "data: " + parts(`{"text":"Yes"}`) + "\r\n\r\n"}, llm.KindProtocol, "", 0},
		{"a list as an answer", provider.Fault{Status: 200, Body: "[" + parts(`{"text":"Yes"}`) + "]"}, llm.KindProtocol, "", 0},
		{"half an answer", provider.Fault{Status: 200, Body: parts(`{"text":"Yes"}`)[:40]}, llm.KindProtocol, "", 0},
		{"empty answer body", provider.Fault{Status: 200}, llm.KindProtocol, "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := ask(t, tt.fault, everything())
			e, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("Generate = %+v, %v", resp, err)
			}
			if e.Provider != "google" || e.Kind != tt.kind || e.Unsupported != tt.part || e.RetryAfter != tt.wait {
				t.Errorf("%v: kind %s, part %q, wait %v; want %s, %q, %v", e, e.Kind, e.Unsupported, e.RetryAfter, tt.kind, tt.part, tt.wait)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Models": only what the request has can be left out of it.
func TestNothingToLeaveOut(t *testing.T) {
	for _, message := range []string{"thinking_config is not supported.", "temperature", "JSON mode is not enabled", "Image input modality is not enabled", "Function calling is not enabled"} {
		_, err := ask(t, invalid(message), llm.Request{Messages: []llm.Message{say("Hi")}})
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Kind != llm.KindRejected || e.Unsupported != "" {
			t.Errorf("%q: %#v", message, err)
		}
	}
}

// Holds docs/spec/04-agent.md, "Models": an error tells neither the key nor what the
// contact wrote.
func TestErrorsQuoteNothing(t *testing.T) {
	_, err := ask(t, invalid(`Key `+key+` may not ask \"my temperature and thinking\": my temperature and thinking are fine today`), everything())
	if err == nil || strings.Contains(err.Error(), key) || strings.Contains(err.Error(), "fine today") || strings.Contains(err.Error(), "my temperature") {
		t.Errorf("error = %v", err)
	}
	if !strings.Contains(err.Error(), "may not ask") {
		t.Errorf("error = %v, want what can be told", err)
	}
}
