package openai

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// refused makes an error of an answer that is not OK, or a response of one that says the
// prompt was refused for what it holds.
func (m *Model) refused(a wire.Answer, c complaint, body *request) (llm.Response, error) {
	failed := m.wire.Failed(a, c.message)
	c.message = failed.Message // without what it quotes of the request
	if failed.RetryAfter == 0 && a.Status == http.StatusTooManyRequests {
		failed.RetryAfter = untilReset(a.Header)
	}
	switch {
	case a.Status == http.StatusUnauthorized:
		failed.Message = "the key is refused" // the provider's words hold a part of it
	case c.is("invalid_prompt", "content_filter", "content_policy_violation", "image_content_policy_violation", "cyber_policy"):
		return llm.Response{Stop: llm.StopRefusal}, nil
	case c.is("insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"):
		failed.Kind = llm.KindUnauthorized
	case a.Status != http.StatusBadRequest && a.Status != http.StatusUnprocessableEntity:
	case c.is("context_length_exceeded", "model_not_found"):
	case m.learn(c, body):
		failed.Kind = llm.KindServer // a moment later the same call is made otherwise
	default:
		failed.Unsupported = unsupported(c, body)
	}
	return llm.Response{}, failed
}

// failedLate is for an error that came with a status of success.
func (m *Model) failedLate(a wire.Answer, failure jsontext.Value, body *request) (llm.Response, error) {
	c := complaintIn(failure)
	switch {
	case c.is("rate_limit_exceeded"), c.is("insufficient_quota"):
		a.Status = http.StatusTooManyRequests
	case c.is("context_length_exceeded"), strings.Contains(c.code, "image"):
		a.Status = http.StatusBadRequest
	default:
		a.Status = http.StatusInternalServerError
	}
	return m.refused(a, c, body)
}

// learn keeps what the model does not take of what its name promised, and reports whether
// the request held it. Reasoning that cannot be decrypted, as of another account, is done
// without from then on.
func (m *Model) learn(c complaint, body *request) bool {
	switch {
	case body.sealed && (c.is("invalid_encrypted_content") || c.param == "include" || has(c.message, "encrypted content", "encrypted_content")):
		m.unsealed.Store(true)
	case body.marked && (has(c.param, "prompt_cache") || has(c.message, "prompt_cache")):
		m.unmarked.Store(true)
	default:
		return false
	}
	return true
}

// unsupported is the feature that a request was refused for, if any. The parameter says
// it; where there is none, the words do.
func unsupported(c complaint, body *request) llm.Feature {
	// A picture that cannot be read says nothing of the next one.
	shown := body.images && (c.param == "" || strings.HasPrefix(c.param, "input"))
	if shown && !has(c.code, "image") && has(c.message, "image") && has(c.message, "support", "not allowed") {
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
		named := slices.ContainsFunc(f.params, func(p string) bool { return strings.HasPrefix(c.param, p) })
		if c.param == "" {
			named = has(c.message, f.words...) && has(c.message, "support", "not allowed", "not permitted", "unknown", "invalid")
		}
		if f.asked && named {
			return f.feature
		}
	}
	return ""
}

// complaint is what the provider says is wrong.
type complaint struct{ message, param, code, kind string }

// is reports whether the code, or the type, is one of these.
func (c complaint) is(codes ...string) bool {
	return slices.Contains(codes, c.code) || slices.Contains(codes, c.kind)
}

// complaintIn reads {error: {message, type, param, code}}, the same without the round
// it, and what gateways make of it: an error that is a text, {message}, {detail}, and a
// list of one of these.
func complaintIn(data jsontext.Value) complaint {
	return complaintWithin(data, 3)
}

// complaintWithin goes no deeper than an answer that anybody wrote on purpose.
func complaintWithin(data jsontext.Value, depth int) complaint {
	var c struct {
		Error   jsontext.Value `json:"error"`
		Detail  text           `json:"detail"`
		Message text           `json:"message"`
		Param   text           `json:"param"`
		Code    text           `json:"code"`
		Type    text           `json:"type"`
	}
	var all []jsontext.Value
	switch {
	case depth == 0:
	case data.Kind() == '"':
		_ = json.Unmarshal(data, &c.Message, lenient...) // what cannot be read says nothing
	case data.Kind() == '[':
		if json.Unmarshal(data, &all, lenient...) == nil && len(all) > 0 {
			return complaintWithin(all[0], depth-1)
		}
	case data.Kind() == '{' && json.Unmarshal(data, &c, lenient...) == nil:
		if k := c.Error.Kind(); k == '{' || k == '"' {
			return complaintWithin(c.Error, depth-1)
		}
	}
	return complaint{message: string(cmp.Or(c.Message, c.Detail)), param: string(c.Param), code: string(c.Code), kind: string(c.Type)}
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

// has reports whether a text holds one of some words, in any case.
func has(text string, words ...string) bool {
	text = strings.ToLower(text)
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}
