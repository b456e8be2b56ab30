package ollama

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type request struct {
	Model    string         `json:"model"`
	Messages []message      `json:"messages"`
	Tools    []tool         `json:"tools,omitzero"`
	Format   jsontext.Value `json:"format,omitzero"`
	Think    any            `json:"think,omitzero"` // a bool, or how hard
	Options  options        `json:"options"`
	Stream   bool           `json:"stream"`
	// Instead of forgetting the beginning of a prompt that is too long, which is what the
	// server does if nobody tells it otherwise, it refuses.
	Truncate bool `json:"truncate"`
	Shift    bool `json:"shift"`

	images bool
}

type options struct {
	NumCtx      int64    `json:"num_ctx"`
	NumPredict  int      `json:"num_predict,omitzero"`
	Temperature *float64 `json:"temperature,omitzero"`
}

type message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	Thinking   string     `json:"thinking,omitzero"`
	Images     [][]byte   `json:"images,omitzero"` // written in base64
	ToolCalls  []toolCall `json:"tool_calls,omitzero"`
	ToolName   string     `json:"tool_name,omitzero"`
	ToolCallID string     `json:"tool_call_id,omitzero"` // older servers pass over it
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
}

type toolCall struct {
	ID       string `json:"id,omitzero"`
	Function called `json:"function"`
}

type called struct {
	Name      string         `json:"name"`
	Arguments jsontext.Value `json:"arguments"` // always an object
}

// request writes a request in the protocol. A choice of tools is not a part of it, so
// where none may be called none are offered. A schema is held by every word of an answer,
// those of a call too, so it is sent only where no tool is.
func (m *Model) request(req llm.Request) (*request, error) {
	out := &request{Model: m.config.Model, Think: m.think(req.Effort), Options: options{Temperature: req.Temperature}}
	messages := req.Messages
	if req.ToolChoice != llm.ToolsNone {
		for _, t := range req.Tools {
			schema, err := m.parameters(t.Parameters)
			if err != nil {
				return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
			}
			out.Tools = append(out.Tools, tool{Type: "function", Function: function{
				Name: t.Name, Description: wire.Text(t.Description), Parameters: schema,
			}})
		}
	}
	if len(out.Tools) == 0 {
		messages, out.Format = llm.WithoutTools(messages), req.Schema
	}
	if req.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: wire.Text(req.System)})
	}
	for _, msg := range messages {
		out.Messages = append(out.Messages, write(msg)...)
		out.images = out.images || len(msg.Images) > 0
	}
	if req.MaxOutputTokens > 0 {
		out.Options.NumPredict = req.MaxOutputTokens + max(req.ReasoningTokens, 0)
	}
	out.Options.NumCtx = m.window(out)
	return out, nil
}

// think is how an effort is said: gpt-oss takes a degree, and every model takes yes or no.
// Degrees for the others were refused by servers until 2026.
func (m *Model) think(e llm.Effort) any {
	switch degrees := strings.Contains(m.config.Model, "gpt-oss"); {
	case e == "":
		return nil
	case degrees && e == llm.EffortMinimal:
		return string(llm.EffortLow)
	case degrees:
		return string(e)
	}
	return e != llm.EffortMinimal
}

// write writes one message; results of tools become one each.
func write(msg llm.Message) []message {
	switch msg.Role {
	case llm.ToolResult:
		var out []message
		for _, r := range msg.Results {
			out = append(out, message{Role: "tool", Content: wire.Text(string(r.Content)), ToolName: r.Name, ToolCallID: r.CallID})
		}
		return out
	case llm.Assistant:
		out := message{Role: "assistant", Content: wire.Text(msg.Text)}
		if thinking, own := strings.CutPrefix(string(msg.State), provider+":"); own {
			out.Thinking = wire.Text(thinking)
		}
		for _, c := range msg.Calls {
			out.ToolCalls = append(out.ToolCalls, toolCall{ID: c.ID, Function: called{Name: wire.Text(c.Name), Arguments: wire.ArgumentsObject(c.Arguments)}})
		}
		return []message{out}
	}
	out := message{Role: "user", Content: wire.Text(msg.Text)}
	for _, image := range msg.Images {
		out.Images = append(out.Images, image.Data)
	}
	return []message{out}
}

// What a context is sized from.
const (
	bytesOfToken = 2    // fewer than any language has in the common tokenizers
	ofImage      = 4096 // tokens, above what the common models make of one
	ofMessage    = 16   // tokens round a message
	unbounded    = 2048 // tokens of an answer without a bound
	leastWindow  = 8192
)

// window is the context that a request needs: without it a server takes its own default,
// 4 096 tokens on most machines. The server loads the model anew when the size changes, so
// sizes are powers of two, and none is smaller than one before it.
func (m *Model) window(r *request) int64 {
	size := len(r.Format)
	tokens := unbounded
	if r.Options.NumPredict > 0 {
		tokens = r.Options.NumPredict
	}
	for _, msg := range r.Messages {
		tokens += ofMessage + ofImage*len(msg.Images)
		size += len(msg.Content) + len(msg.Thinking)
		for _, c := range msg.ToolCalls {
			size += len(c.Function.Name) + len(c.Function.Arguments)
		}
	}
	for _, t := range r.Tools {
		size += len(t.Function.Name) + len(t.Function.Description) + len(t.Function.Parameters)
	}
	tokens += size / bytesOfToken
	need := max(int64(1)<<bits.Len(uint(tokens-1)), leastWindow)
	for {
		largest := m.context.Load()
		if need <= largest {
			return largest
		}
		if m.context.CompareAndSwap(largest, need) {
			return need
		}
	}
}
