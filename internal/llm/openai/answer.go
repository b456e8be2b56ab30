package openai

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type answer struct {
	Status     wire.String    `json:"status"`
	Error      jsontext.Value `json:"error"`
	Incomplete struct {
		Reason wire.String `json:"reason"`
	} `json:"incomplete_details"`
	Output []jsontext.Value `json:"output"`
	Usage  usage            `json:"usage"`
}

// item is one of the answer's output. Types that are not known here are passed over.
type item struct {
	Type      wire.String    `json:"type"`
	Phase     wire.String    `json:"phase"`             // message
	Content   jsontext.Value `json:"content"`           // message
	Encrypted wire.String    `json:"encrypted_content"` // reasoning
	CallID    wire.String    `json:"call_id"`           // function_call
	Name      wire.String    `json:"name"`              // function_call
	Arguments jsontext.Value `json:"arguments"`         // function_call
}

// usage counts tokens. Input holds the cached and the written ones, and output the
// reasoning.
type usage struct {
	Input   wire.Count `json:"input_tokens"`
	Output  wire.Count `json:"output_tokens"`
	Details struct {
		Cached  wire.Count `json:"cached_tokens"`
		Written wire.Count `json:"cache_write_tokens"`
	} `json:"input_tokens_details"`
}

func (u usage) tokens() llm.Usage {
	cached := min(u.Details.Cached, u.Input)
	return llm.Usage{
		Input:   int64(u.Input),
		Cached:  int64(cached),
		Written: int64(min(u.Details.Written, u.Input-cached)),
		Output:  int64(u.Output),
	}
}

// read makes a response of an answer that is OK by its status.
func (m *Model) read(a wire.Answer, body *request) (llm.Response, error) {
	var got answer
	if err := m.wire.Decode(a, &got); err != nil {
		return llm.Response{}, err
	}
	used := got.Usage.tokens()
	if got.Status == "failed" || wire.IsSet(got.Error) {
		resp, err := m.failedLate(a, got.Error, body)
		resp.Usage = used
		return resp, err
	}
	if got.Status == "" && got.Output == nil {
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindProtocol, Status: a.Status, Message: "the answer is none of the Responses API"}
	}
	var o output
	for _, value := range got.Output {
		var i item
		if value.Kind() == '{' && wire.Read(value, &i) == nil {
			o.take(i)
		}
	}
	resp := llm.Response{Text: o.text(), Calls: o.calls, Usage: used}
	wire.Identify(resp.Calls)
	resp.Stop = stop(got, o)
	if len(resp.Calls) > 0 {
		resp.State = keep(o.items)
	}
	return resp, nil
}

// output is what the items of an answer hold.
type output struct {
	said    []string // messages that are, or may be, the answer
	final   bool     // one of them says that it is the answer
	refused bool
	calls   []llm.ToolCall
	items   []kept
}

func (o *output) take(i item) {
	switch i.Type {
	case "reasoning":
		if i.Encrypted != "" {
			o.items = append(o.items, sealed(string(i.Encrypted)))
		}
	case "message":
		said, refused := content(i.Content)
		o.refused = o.refused || refused
		o.takeMessage(said, string(i.Phase))
	case "function_call":
		if i.Name == "" {
			return
		}
		o.calls = append(o.calls, llm.ToolCall{ID: string(i.CallID), Name: string(i.Name), Arguments: wire.Arguments(i.Arguments)})
		o.items = append(o.items, kept{Type: "function_call"})
	}
}

// takeMessage passes over remarks beside an answer that is marked as one, and over a
// message that is there twice.
func (o *output) takeMessage(said, phase string) {
	if strings.TrimSpace(said) == "" {
		return
	}
	if !slices.ContainsFunc(o.items, func(k kept) bool { return k.Type == "message" }) {
		o.items = append(o.items, kept{Type: "message", Phase: phase})
	}
	isFinal := phase == "final_answer"
	if isFinal && !o.final {
		o.said, o.final = nil, true
	}
	if isFinal == o.final && !slices.Contains(o.said, said) {
		o.said = append(o.said, said)
	}
}

func (o *output) text() string { return strings.Join(o.said, "\n") }

// content is the text of a message, and whether it is a refusal. Other parts are passed
// over.
func content(value jsontext.Value) (said string, refused bool) {
	var parts []struct {
		Type    wire.String `json:"type"`
		Text    wire.String `json:"text"`
		Refusal wire.String `json:"refusal"`
	}
	var plain wire.String
	if wire.Read(value, &plain) == nil && plain != "" {
		return string(plain), false
	}
	if wire.Read(value, &parts) != nil {
		return "", false
	}
	for _, p := range parts {
		switch p.Type {
		case "output_text", "text":
			said += string(p.Text)
		case "refusal":
			refused = true
		}
	}
	return said, refused
}

func stop(got answer, o output) llm.Stop {
	switch {
	case got.Incomplete.Reason == "content_filter", o.refused:
		return llm.StopRefusal
	case got.Status == "incomplete": // of the output's bound or the context's; both cut it off
		return llm.StopLength
	case len(o.calls) > 0:
		return llm.StopTools
	}
	return llm.StopEnd
}
