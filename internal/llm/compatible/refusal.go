package compatible

import (
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// refused makes an error of an answer that is not OK, or a response of one that says the
// prompt was refused for what it holds.
func (m *Model) refused(a wire.Answer, body *request) (llm.Response, error) {
	return m.blame(a, complaintIn(a.Body), body)
}

// failedLate is for an error that came with a status of success, as from a gateway that
// had begun to answer. The status is the one that the error names.
func (m *Model) failedLate(a wire.Answer, failure jsontext.Value, body *request) (llm.Response, error) {
	c := complaintIn(failure)
	a.Status = http.StatusBadGateway
	if status, err := strconv.Atoi(c.code); err == nil && status >= 400 && status < 600 {
		a.Status = status
	}
	return m.blame(a, c, body)
}

// blame finds out what of the request, if anything, was the matter.
func (m *Model) blame(a wire.Answer, c complaint, body *request) (llm.Response, error) {
	failed := m.wire.Failed(a, c.message)
	c.message = failed.Message // without what it quotes of the request
	words := c.message + " " + c.code + " " + c.kind
	switch {
	case a.Status == http.StatusUnauthorized:
		failed.Message = "the key is refused" // the server's words hold a part of it
	case c.is("content_filter", "content_policy_violation", "invalid_prompt"):
		return llm.Response{Stop: llm.StopRefusal}, nil
	case c.is("insufficient_quota", "billing_hard_limit_reached", "account_deactivated"):
		failed.Kind = llm.KindUnauthorized
	case failed.Kind == llm.KindRejected && has(words, "invalid_api_key", "api key not valid", "incorrect api key", "invalid api key"):
		failed.Kind, failed.Message = llm.KindUnauthorized, "the key is refused"
	case c.is("context_length_exceeded", "model_not_found", "rate_limit_exceeded"):
	case m.learn(a, c, body):
		failed.Kind = llm.KindServer
	default:
		if failed.Unsupported = unsupported(a.Status, c, body); failed.Unsupported != "" {
			failed.Kind = llm.KindRejected
		}
	}
	return llm.Response{}, failed
}

// learn keeps what the server takes otherwise, and reports whether the request was made
// without knowing it: the same call may then work a moment later.
func (m *Model) learn(a wire.Answer, c complaint, body *request) bool {
	if a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity {
		return false
	}
	// Newer models of OpenAI reason by default, and take tools here only when they do not.
	if len(body.Tools) > 0 && body.ReasoningEffort != "none" && c.param == "reasoning_effort" && has(c.message, "tools") {
		m.toolsUnthought.Store(true)
		return true
	}
	bound, other := "max_tokens", "max_completion_tokens"
	if body.MaxCompletionTokens > 0 {
		bound, other = other, bound
	}
	known := (m.config.Provider == OpenAI) != (body.MaxCompletionTokens > 0)
	if known || body.MaxTokens+body.MaxCompletionTokens == 0 {
		return false
	}
	named := c.param == bound || has(c.message, bound)
	if named && (c.is("unsupported_parameter") || c.message != "" && has(c.message, "use '"+other, "unknown", "unrecognized", "unsupported", "not permitted", "forbidden", "unexpected")) {
		m.otherBound.Store(true)
		return true
	}
	return false
}

// complaint is what a server says is wrong, in whatever shape it says so.
type complaint struct{ message, param, code, kind string }

// is reports whether the code, or the type, is one of these.
func (c complaint) is(codes ...string) bool {
	return slices.Contains(codes, c.code) || slices.Contains(codes, c.kind)
}

func complaintIn(body []byte) complaint {
	var v any
	if json.Unmarshal(body, &v, lenient...) != nil {
		return complaint{}
	}
	return complaintOf(v)
}

// complaintOf reads {error: {message, type, param, code}} and what it became: an error
// that is a string, {detail} with a text or a list of {loc, msg}, {object: "error",
// message}, and a list of one of these.
func complaintOf(v any) complaint {
	var c complaint
	switch v := v.(type) {
	case string:
		c.message = v
	case []any:
		if len(v) > 0 {
			return complaintOf(v[0])
		}
	case map[string]any:
		for _, inner := range []string{"error", "detail", "message", "msg"} {
			if v[inner] != nil {
				c = complaintOf(v[inner])
				break
			}
		}
		c.fill(v)
	}
	return c
}

// fill takes what the text inside did not say from the object round it.
func (c *complaint) fill(v map[string]any) {
	c.param = first(c.param, v["param"])
	c.code = first(c.code, v["code"])
	c.kind = first(c.kind, v["type"])
	if loc, ok := v["loc"].([]any); ok && c.param == "" { // ["body", "temperature"]
		var path []string
		for _, p := range loc {
			if s := first("", p); s != "" && s != "body" {
				path = append(path, s)
			}
		}
		c.param = strings.Join(path, ".")
	}
	if metadata, ok := v["metadata"].(map[string]any); ok { // OpenRouter's, of the server behind it
		if raw, ok := metadata["raw"].(string); ok {
			behind := complaintIn([]byte(raw))
			c.message += ": " + first(behind.message, raw)
			c.param = first(c.param, behind.param)
		}
	}
}

// first is s, or else v as a word.
func first(s string, v any) string {
	if s != "" {
		return s
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1e6 {
			return strconv.Itoa(int(v))
		}
	}
	return ""
}

// unsupported is the part of a request that a server will not take; empty: it is not one
// of those, or the request had none. The parameter that the server names goes before
// the words of its message.
func unsupported(status int, c complaint, body *request) llm.Feature {
	asked := askedFor(body)
	refusing := []string{"support", "require"}
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		for _, f := range asked {
			if has(c.param, params(f)...) {
				return f
			}
		}
		refusing = append(refusing, "unknown", "unrecognized", "unexpected", "expected", "not permitted", "not allowed", "forbidden",
			"not available", "unavailable", "not enabled", "cannot", "can't", "must be", "invalid", "deprecated", "at most 0", "no endpoints")
	case http.StatusInternalServerError, http.StatusNotImplemented: // llama.cpp's
	default:
		return ""
	}
	if !has(c.message, refusing...) {
		return ""
	}
	for _, f := range asked {
		if strings.HasPrefix(c.param, "messages") && f != llm.Images {
			continue // it is about what was said, not about how it was asked
		}
		if has(c.message, words(f)...) {
			return f
		}
	}
	return ""
}

// askedFor lists what a request may be refused for. A server that does not take two of
// them together names both, and the one that is missed less comes first.
func askedFor(body *request) []llm.Feature {
	var out []llm.Feature
	for _, f := range []struct {
		feature llm.Feature
		asked   bool
	}{
		{llm.Temperature, body.Temperature != nil},
		{llm.Reasoning, body.ReasoningEffort != ""},
		{llm.Images, body.images},
		{llm.Schema, body.ResponseFormat != nil},
		{llm.Tools, len(body.Tools) > 0},
	} {
		if f.asked {
			out = append(out, f.feature)
		}
	}
	return out
}

// params are what a server calls a feature where it names a parameter.
func params(f llm.Feature) []string {
	switch f {
	case llm.Temperature:
		return []string{"temperature"}
	case llm.Reasoning:
		return []string{"reasoning"}
	case llm.Images:
		return []string{"image"}
	case llm.Schema:
		return []string{"response_format"}
	}
	return []string{"tools", "tool_choice", "functions"}
}

// words are what a server calls a feature in a sentence.
func words(f llm.Feature) []string {
	switch f {
	case llm.Temperature:
		return []string{"temperature"}
	case llm.Reasoning:
		return []string{"reasoning", "thinking"}
	case llm.Images:
		return []string{"image", "multimodal", "vision", "content must be a string"}
	case llm.Schema:
		return []string{"response_format", "response format", "json_schema", "json schema", "json mode", "structured output", "guided", "grammar", "response mime type"}
	}
	return []string{"tool", "function call"}
}

// has reports whether a text holds one of some words, in any case.
func has(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
