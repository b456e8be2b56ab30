package compatible

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// failedLate is for an error that came with a status of success, as from a gateway that
// had begun to answer. The status is the one that the error names.
func (m *Model) failedLate(a wire.Answer, failure jsontext.Value, body *request) (llm.Response, error) {
	c := wire.ComplaintIn(failure)
	a.Status = http.StatusBadGateway
	if status, err := strconv.Atoi(c.Code); err == nil && status >= 400 && status < 600 {
		a.Status = status
	}
	return m.refused(a, c, body)
}

// refused makes an error of an answer that is not OK, or a response of one that says the
// prompt was refused for what it holds.
func (m *Model) refused(a wire.Answer, c wire.Complaint, body *request) (llm.Response, error) {
	failed := m.wire.Failed(a, c.Message)
	c.Message = failed.Message // without what it quotes of the request
	words := c.Message + " " + c.Code + " " + c.Type
	switch {
	case a.Status == http.StatusUnauthorized:
		failed.Message = m.refusedKey() // the server's words hold a part of it
	case c.Is("content_filter", "content_policy_violation", "invalid_prompt"):
		return llm.Response{Stop: llm.StopRefusal}, nil
	case c.Is("insufficient_quota", "billing_hard_limit_reached", "account_deactivated"):
		failed.Kind = llm.KindUnauthorized
	case failed.Kind == llm.KindRejected && wire.Has(words, "invalid_api_key", "api key not valid", "incorrect api key", "invalid api key"):
		failed.Kind, failed.Message = llm.KindUnauthorized, m.refusedKey()
	case c.Is("context_length_exceeded", "model_not_found", "rate_limit_exceeded"):
	case m.learn(a, c, body):
		failed.Kind, failed.Unsupported = llm.KindRejected, llm.Wording
	default:
		if failed.Unsupported = unsupported(a.Status, c, body); failed.Unsupported != "" {
			failed.Kind = llm.KindRejected
		}
	}
	return llm.Response{}, failed
}

// refusedKey says what to do about a key.
func (m *Model) refusedKey() string {
	if m.header.Get("Authorization") == "" {
		return "the server asks for a key: set OPENAI_COMPATIBLE_API_KEY"
	}
	return "the key is refused"
}

// learn keeps what the server takes otherwise, and reports whether the request was made
// without knowing it: the same call may then work.
func (m *Model) learn(a wire.Answer, c wire.Complaint, body *request) bool {
	if a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity {
		return false
	}
	// Newer models of OpenAI reason by default, and take tools here only when they do not.
	if len(body.Tools) > 0 && body.ReasoningEffort != "none" && c.Param == "reasoning_effort" && wire.Has(c.Message, "tools") {
		m.toolsUnthought.Store(true)
		return true
	}
	// Newer models of OpenAI take the bound by its newer name alone; many servers know none
	// but the older.
	const bound, other = "max_tokens", "max_completion_tokens"
	if body.MaxTokens == 0 || c.Param != bound && !wire.Has(c.Message, bound) {
		return false
	}
	if c.Is("unsupported_parameter") || wire.Has(c.Message, "use '"+other, "unknown", "unrecognized", "unsupported", "not permitted", "forbidden", "unexpected") {
		m.newBound.Store(true)
		return true
	}
	return false
}

// unsupported is the part of a request that a server will not take; empty: it is not one
// of those, or the request had none. The parameter that the server names goes before
// the words of its message.
func unsupported(status int, c wire.Complaint, body *request) llm.Feature {
	asked := askedFor(body)
	refusing := []string{"support", "require"}
	switch status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		for _, f := range asked {
			if wire.Has(c.Param, params(f)...) {
				return f
			}
		}
		refusing = append(refusing, "unknown", "unrecognized", "unexpected", "expected", "not permitted", "not allowed", "forbidden",
			"not available", "unavailable", "not enabled", "cannot", "can't", "must be", "invalid", "deprecated", "at most 0", "no endpoints")
	case http.StatusInternalServerError, http.StatusNotImplemented: // llama.cpp's
	default:
		return ""
	}
	if !wire.Has(c.Message, refusing...) {
		return ""
	}
	for _, f := range asked {
		if strings.HasPrefix(c.Param, "messages") && f != llm.Images {
			continue // it is about what was said, not about how it was asked
		}
		if wire.Has(c.Message, words(f)...) {
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
