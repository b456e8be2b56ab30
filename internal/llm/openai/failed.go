package openai

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// refused makes an error of an answer that is not OK, or a response of one that says the
// prompt was refused for what it holds.
func (m *Model) refused(a wire.Answer, c wire.Complaint, body *request) (llm.Response, error) {
	failed := m.wire.Failed(a, c.Message)
	c.Message = failed.Message // without what it quotes of the request
	if failed.RetryAfter == 0 && a.Status == http.StatusTooManyRequests {
		failed.RetryAfter = untilReset(a.Header)
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		failed.Message = "the key is refused" // the provider's words hold a part of it
	case c.Is("invalid_prompt", "content_filter", "content_policy_violation", "image_content_policy_violation", "cyber_policy"):
		return llm.Response{Stop: llm.StopRefusal}, nil
	case c.Is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"):
		failed.Kind = llm.KindUnauthorized
	case a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity:
	case c.Is("context_length_exceeded", "model_not_found"):
	case m.learn(c, body):
		failed.Unsupported = llm.Wording
	default:
		failed.Unsupported = unsupported(c, body)
	}
	return llm.Response{}, failed
}

// failedLate is for an error that came with a status of success.
func (m *Model) failedLate(a wire.Answer, failure jsontext.Value, body *request) (llm.Response, error) {
	c := wire.ComplaintIn(failure)
	switch {
	case c.Is("rate_limit_exceeded"), c.Is("insufficient_quota"):
		a.Status = http.StatusTooManyRequests
	case c.Is("context_length_exceeded"), strings.Contains(c.Code, "image"):
		a.Status = http.StatusBadRequest
	default:
		a.Status = http.StatusInternalServerError
	}
	return m.refused(a, c, body)
}

// learn keeps what the model does not take of what its name promised, and reports whether
// the request held it. Reasoning that cannot be decrypted, as of another account, is done
// without from then on.
func (m *Model) learn(c wire.Complaint, body *request) bool {
	switch {
	case body.sealed && (c.Is("invalid_encrypted_content") || c.Param == "include" || wire.Has(c.Message, "encrypted content", "encrypted_content")):
		m.unsealed.Store(true)
	case body.marked && (wire.Has(c.Param, "prompt_cache") || wire.Has(c.Message, "prompt_cache")):
		m.unmarked.Store(true)
	default:
		return false
	}
	return true
}

// unsupported is the feature that a request was refused for, if any. The parameter says
// it; where there is none, the words do.
func unsupported(c wire.Complaint, body *request) llm.Feature {
	// A picture that cannot be read says nothing of the next one.
	shown := body.images && (c.Param == "" || strings.HasPrefix(c.Param, "input"))
	if shown && !wire.Has(c.Code, "image") && wire.Has(c.Message, "image") && wire.Has(c.Message, "support", "not allowed") {
		return llm.Images
	}
	for _, f := range []struct {
		feature llm.Feature
		asked   bool
		params  []string
		words   []string
	}{
		{llm.Temperature, body.Temperature != nil, []string{"temperature"}, []string{"temperature"}},
		{llm.Reasoning, body.Reasoning != nil, []string{"reasoning", "***.effort"}, []string{"reasoning"}},
		{llm.Schema, body.Text != nil, []string{"text"}, []string{"text.format", "response_format", "json_schema", "structured output"}},
		{llm.Tools, len(body.Tools) > 0, []string{"tool", "parallel_tool_calls"}, []string{"tools", "tool_choice", "function calling"}},
	} {
		named := slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(c.Param, p) })
		if c.Param == "" {
			named = wire.Has(c.Message, f.words...) && wire.Has(c.Message, "support", "not allowed", "not permitted", "unknown", "invalid")
		}
		if f.asked && named {
			return f.feature
		}
	}
	return ""
}

// untilReset is when a limit of requests or tokens that is used up begins anew.
func untilReset(header http.Header) time.Duration {
	var longest time.Duration
	for _, limit := range []string{"Requests", "Tokens"} {
		if header.Get("X-Ratelimit-Remaining-"+limit) != "0" {
			continue
		}
		if d, err := time.ParseDuration(header.Get("X-Ratelimit-Reset-" + limit)); err == nil {
			longest = max(longest, d)
		}
	}
	return min(longest, time.Hour)
}
