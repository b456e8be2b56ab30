package compatible

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type answer struct {
	Choices []choice       `json:"choices"`
	Usage   usage          `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

type choice struct {
	FinishReason wire.String    `json:"finish_reason"`
	Error        jsontext.Value `json:"error"`
	Message      struct {
		Content          text           `json:"content"`
		Refusal          wire.String    `json:"refusal"`
		ToolCalls        []callMade     `json:"tool_calls"`
		FunctionCall     *functionMade  `json:"function_call"` // before there were tool calls
		ReasoningContent text           `json:"reasoning_content"`
		ReasoningDetails jsontext.Value `json:"reasoning_details"`
	} `json:"message"`
}

type callMade struct {
	ID           wire.String    `json:"id"`
	Function     functionMade   `json:"function"`
	ExtraContent jsontext.Value `json:"extra_content"`
}

type functionMade struct {
	Name      wire.String    `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// text is what servers send as a string, as a list of parts, as null, or as nothing.
// Parts that are no text, such as reasoning, are passed over.
type text string

func (t *text) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	value, err := dec.ReadValue()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case '"':
		return wire.Read(value, (*string)(t))
	case '[':
		var parts []jsontext.Value
		if err := wire.Read(value, &parts); err != nil {
			return err
		}
		for _, p := range parts {
			*t += partText(p)
		}
	}
	return nil
}

func partText(value jsontext.Value) text {
	var p struct {
		Type wire.String `json:"type"`
		Text wire.String `json:"text"`
	}
	switch value.Kind() {
	case '"':
		p.Type = "text"
		if wire.Read(value, &p.Text) != nil {
			return ""
		}
	case '{':
		if wire.Read(value, &p) != nil {
			return ""
		}
	}
	if p.Type == "text" || p.Type == "output_text" {
		return text(p.Text)
	}
	return ""
}

// usage counts tokens. Prompt tokens hold the cached and the written ones.
type usage struct {
	Prompt        wire.Count `json:"prompt_tokens"`
	Completion    wire.Count `json:"completion_tokens"`
	Total         wire.Count `json:"total_tokens"`
	CacheHit      wire.Count `json:"prompt_cache_hit_tokens"` // DeepSeek's
	PromptDetails struct {
		Cached  wire.Count `json:"cached_tokens"`
		Written wire.Count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

func (u usage) tokens() llm.Usage {
	return llm.Usage{
		Input:   int64(u.Prompt),
		Cached:  int64(min(max(u.PromptDetails.Cached, u.CacheHit), u.Prompt)),
		Written: int64(min(u.PromptDetails.Written, u.Prompt)),
		// xAI and Google count reasoning beside the completion, but in the total.
		Output: int64(max(u.Completion, u.Total-u.Prompt)),
	}
}

// read makes a response of an answer that is OK by its status.
func (m *Model) read(a wire.Answer, body *request) (llm.Response, error) {
	var got answer
	if err := m.wire.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	if wire.IsSet(got.Error) {
		return m.failedLate(a, got.Error, body)
	}
	if got.Choices == nil {
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindProtocol, Status: a.Status, Message: "the answer is none of a chat"}
	}
	resp := llm.Response{Stop: llm.StopEnd, Usage: got.Usage.tokens()}
	if len(got.Choices) == 0 {
		return resp, nil
	}
	first := got.Choices[0]
	if wire.IsSet(first.Error) {
		return m.failedLate(a, first.Error, body)
	}
	if first.FinishReason == "insufficient_system_resource" { // DeepSeek's, of an answer that broke off
		a.Status = http.StatusServiceUnavailable
		return llm.Response{}, m.wire.Failed(a, "insufficient system resource")
	}
	resp.Text = wire.Unthought(string(first.Message.Content))
	kept := takeCalls(&resp, first)
	resp.Stop = stop(first, resp)
	if len(resp.Calls) > 0 {
		resp.State = kept.pack()
	}
	return resp, nil
}

// takeCalls reads the calls that have a name, and what the server wants back with them.
func takeCalls(resp *llm.Response, c choice) state {
	calls := c.Message.ToolCalls
	if len(calls) == 0 && c.Message.FunctionCall != nil {
		calls = []callMade{{Function: *c.Message.FunctionCall}}
	}
	kept := state{ReasoningContent: string(c.Message.ReasoningContent), ReasoningDetails: whole(c.Message.ReasoningDetails)}
	extra := false
	for _, call := range calls {
		if call.Function.Name == "" {
			continue
		}
		resp.Calls = append(resp.Calls, llm.ToolCall{
			ID:        string(call.ID),
			Name:      string(call.Function.Name),
			Arguments: wire.Arguments(call.Function.Arguments),
		})
		kept.ExtraContent = append(kept.ExtraContent, whole(call.ExtraContent))
		extra = extra || wire.IsSet(call.ExtraContent)
	}
	if !extra {
		kept.ExtraContent = nil
	}
	wire.Identify(resp.Calls)
	return kept
}

func stop(c choice, resp llm.Response) llm.Stop {
	switch {
	case c.FinishReason == "content_filter", strings.TrimSpace(string(c.Message.Refusal)) != "":
		return llm.StopRefusal
	case c.FinishReason == "length", c.FinishReason == "max_tokens":
		return llm.StopLength
	case len(resp.Calls) > 0:
		return llm.StopTools
	}
	return llm.StopEnd
}

// whole is a value that can be written again; nil when there is none.
func whole(v jsontext.Value) jsontext.Value {
	if !wire.IsSet(v) {
		return nil
	}
	v = v.Clone()
	if v.Compact(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)) != nil || !v.IsValid() {
		return nil
	}
	return v
}
