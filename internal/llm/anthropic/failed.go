package anthropic

import (
	"net/http"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// failed is the error of an answer that is none. What the error says it is counts for
// more than the status, which gateways change.
// (https://platform.claude.com/docs/en/api/errors)
func (m *Model) failed(a wire.Answer, c wire.Complaint, asked *request) *llm.Error {
	e := m.client.Failed(a, c.Message)
	switch c.Type {
	case "overloaded_error":
		e.Kind = llm.KindOverloaded
	case "rate_limit_error":
		e.Kind = llm.KindRateLimited
	case "api_error", "timeout_error":
		e.Kind = llm.KindServer
	case "authentication_error", "permission_error", "billing_error":
		e.Kind = llm.KindUnauthorized
	case "invalid_request_error", "not_found_error", "request_too_large":
		if a.OK() {
			e.Kind = llm.KindRejected
		}
	}
	if e.Kind != llm.KindRejected {
		return e
	}
	if unpaid(c.Message) {
		e.Kind = llm.KindUnauthorized
		return e
	}
	e.Unsupported = asked.refused(e)
	return e
}

// unpaid reports whether a request was turned down for money: the API says so with the
// status and type of a bad request.
func unpaid(message string) bool {
	return strings.HasPrefix(message, "Your credit balance is too low") ||
		strings.HasPrefix(message, "You have reached your specified API usage limits")
}

// refused is the part of the request that an error is about; empty: something else. The
// API names it by its path before a colon, or in a sentence, of which only that counts
// which is not quoted from the request.
func (r *request) refused(e *llm.Error) llm.Feature {
	message := strings.ToLower(e.Message)
	if e.Status == http.StatusRequestEntityTooLarge && r.has(llm.Images) {
		return llm.Images // nothing else of a request is as large
	}
	if path, _, found := strings.Cut(message, ":"); found && !strings.Contains(path, " ") {
		if f := ofPath(path, message); f != "" && r.has(f) {
			return f
		}
		if strings.HasPrefix(path, "messages") {
			return ""
		}
	}
	if strings.Contains(message, "could not process image") && r.has(llm.Images) {
		return llm.Images
	}
	if !refuses(message) {
		return ""
	}
	return r.firstNamed(message)
}

// ofPath is the part of a request that a path leads to.
func ofPath(path, message string) llm.Feature {
	switch {
	case strings.HasPrefix(path, "temperature"):
		return llm.Temperature
	case strings.HasPrefix(path, "output_config.effort"), strings.HasPrefix(path, "thinking"):
		return llm.Reasoning
	case strings.HasPrefix(path, "output_config"), strings.HasPrefix(path, "output_format"):
		return llm.Schema
	case strings.HasPrefix(path, "tools"), strings.HasPrefix(path, "tool_choice"):
		return llm.Tools
	case strings.HasPrefix(path, "messages.") && strings.Contains(path, ".image"):
		return llm.Images
	case strings.HasPrefix(path, "messages.") && strings.Contains(message, "expected `thinking`"):
		return llm.Reasoning
	}
	return ""
}

// refuses reports whether a message is about something that a model does not take.
func refuses(message string) bool {
	return wire.Has(message, "not support", "unsupported", "deprecated", "not permitted", "not allowed", "may only be", "may not be", "not available")
}

// firstNamed is the part of the request that a message names first: what follows is
// mostly what it does not go together with.
func (r *request) firstNamed(message string) llm.Feature {
	names := []struct {
		word    string
		feature llm.Feature
	}{
		{"temperature", llm.Temperature}, {"sampling", llm.Temperature},
		{"thinking", llm.Reasoning}, {"effort", llm.Reasoning},
		{"output_config.format", llm.Schema}, {"output format", llm.Schema}, {"output_format", llm.Schema},
		{"structured output", llm.Schema}, {"schema", llm.Schema},
		{"tool", llm.Tools},
		{"image", llm.Images},
	}
	var first llm.Feature
	at := len(message)
	for _, n := range names {
		if i := strings.Index(message, n.word); i >= 0 && i < at && r.has(n.feature) {
			at, first = i, n.feature
		}
	}
	return first
}

// has reports whether the request holds a part: what it does not hold was not refused.
func (r *request) has(f llm.Feature) bool {
	switch f {
	case llm.Temperature:
		return r.Temperature != nil
	case llm.Reasoning:
		return r.Thinking != nil
	case llm.Schema:
		return r.OutputConfig != nil && r.OutputConfig.Format != nil
	case llm.Tools:
		return len(r.Tools) > 0
	case llm.Images:
		return r.images()
	}
	return false
}

func (r *request) images() bool {
	for _, m := range r.Messages {
		blocks, _ := m.Content.([]block)
		for _, b := range blocks {
			if b.Type == "image" {
				return true
			}
		}
	}
	return false
}
