package ollama

import (
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type answer struct {
	Message    *said          `json:"message"`
	DoneReason string         `json:"done_reason"`
	Prompt     wire.Count     `json:"prompt_eval_count"`
	Cached     wire.Count     `json:"prompt_eval_cached_count"`
	Written    wire.Count     `json:"eval_count"`
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
	case wire.IsSet(got.Error): // after the answer had begun
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
	return llm.Usage{Input: int64(max(a.Prompt, a.Cached)), Cached: int64(a.Cached), Output: int64(a.Written)}
}

// refused makes an error of an answer that has none but that.
func (m *Model) refused(a wire.Answer, body *request) error {
	failed := m.wire.Failed(a, wire.ComplaintIn(a.Body).Message)
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

// unsupported is the part of a request that a message says the model does not take;
// empty: none, or the request had no such part.
func unsupported(text string, body *request) llm.Feature {
	says := func(words ...string) bool { return wire.Has(text, words...) }
	switch {
	case len(body.Tools) > 0 && says("does not support tools"):
		return llm.Tools
	case body.Think != nil && says("does not support thinking", "think value"):
		return llm.Reasoning
	case body.images && says("image", "does not support vision", "multimodal", "mmproj"):
		return llm.Images
	case len(body.Format) > 0 && says("format", "grammar", "json schema"):
		return llm.Schema
	}
	return ""
}
