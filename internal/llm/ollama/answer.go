package ollama

import (
	"math"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type answer struct {
	Message    *said          `json:"message"`
	DoneReason string         `json:"done_reason"`
	Prompt     float64        `json:"prompt_eval_count"`
	Cached     float64        `json:"prompt_eval_cached_count"`
	Written    float64        `json:"eval_count"`
	Error      jsontext.Value `json:"error"`
}

type said struct {
	Content   string `json:"content"`
	Thinking  string `json:"thinking"`
	ToolCalls []struct {
		ID       string `json:"id"`
		Function struct {
			Name      string         `json:"name"`
			Arguments jsontext.Value `json:"arguments"`
		} `json:"function"`
	} `json:"tool_calls"`
}

// read makes a response of an answer that is OK by its status.
func (m *Model) read(a wire.Answer, body *request) (llm.Response, error) {
	var got answer
	if err := m.wire.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	switch {
	case len(got.Error) > 0 && string(got.Error) != "null": // after the answer had begun
		a.Status = http.StatusInternalServerError
		return llm.Response{}, m.refused(a, body)
	case got.Message == nil:
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindProtocol, Status: a.Status, Message: "the answer is none of a chat"}
	}
	resp := llm.Response{Text: wire.Unthought(got.Message.Content), Stop: llm.StopEnd, Usage: got.usage()}
	for _, c := range got.Message.ToolCalls {
		if c.Function.Name != "" {
			resp.Calls = append(resp.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: wire.Arguments(c.Function.Arguments)})
		}
	}
	wire.Identify(resp.Calls)
	if len(resp.Calls) > 0 {
		resp.Stop = llm.StopTools
		if got.Message.Thinking != "" {
			resp.State = []byte(provider + ":" + got.Message.Thinking)
		}
	}
	if got.DoneReason == "length" {
		resp.Stop = llm.StopLength
	}
	return resp, nil
}

func (a answer) usage() llm.Usage {
	count := func(f float64) int64 { return int64(min(max(f, 0), math.MaxInt32)) }
	cached := count(a.Cached)
	return llm.Usage{Input: max(count(a.Prompt), cached), Cached: cached, Output: count(a.Written)}
}

// refused makes an error of an answer that has none but that.
func (m *Model) refused(a wire.Answer, body *request) error {
	failed := m.wire.Failed(a, complaint(a.Body))
	switch a.Status {
	case http.StatusUnauthorized:
		failed.Message = "the key is refused"
	case http.StatusBadRequest, http.StatusNotImplemented, http.StatusInternalServerError:
		if failed.Unsupported = unsupported(failed.Message, body); failed.Unsupported != "" {
			failed.Kind = llm.KindRejected
		}
	}
	return failed
}

// complaint is what a server says is wrong: {error: "…"}, or as a gateway before it has it,
// {error: {message: "…"}}.
func complaint(body []byte) string {
	var failure struct {
		Error jsontext.Value `json:"error"`
	}
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if json.Unmarshal(body, &failure, lenient) != nil {
		return ""
	}
	var text string
	if json.Unmarshal(failure.Error, &text, lenient) == nil {
		return text
	}
	var inner struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(failure.Error, &inner, lenient) // no message then
	return inner.Message
}

// unsupported is the part of a request that a message says the model does not take;
// empty: none, or the request had no such part.
func unsupported(text string, body *request) llm.Feature {
	text = strings.ToLower(text)
	has := func(words ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
	}
	switch {
	case len(body.Tools) > 0 && has("does not support tools"):
		return llm.Tools
	case body.Think != nil && has("does not support thinking", "think value"):
		return llm.Reasoning
	case body.images && has("image", "does not support vision", "multimodal", "mmproj"):
		return llm.Images
	case len(body.Format) > 0 && has("format", "grammar", "json schema"):
		return llm.Schema
	}
	return ""
}
