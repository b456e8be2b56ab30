package compatible

import (
	"encoding/base64"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

type request struct {
	Model               string          `json:"model"`
	Messages            []message       `json:"messages"`
	Tools               []tool          `json:"tools,omitzero"`
	ToolChoice          string          `json:"tool_choice,omitzero"`
	ResponseFormat      *responseFormat `json:"response_format,omitzero"`
	MaxTokens           int             `json:"max_tokens,omitzero"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitzero"`
	ReasoningEffort     string          `json:"reasoning_effort,omitzero"`
	Temperature         *float64        `json:"temperature,omitzero"`

	images bool
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // a string, parts, or nothing beside calls
	ToolCalls  []toolCall `json:"tool_calls,omitzero"`
	ToolCallID string     `json:"tool_call_id,omitzero"`

	// What some servers want back; see state.
	ReasoningContent string         `json:"reasoning_content,omitzero"`
	ReasoningDetails jsontext.Value `json:"reasoning_details,omitzero"`
}

type part struct {
	Type     string    `json:"type"`
	ImageURL *imageURL `json:"image_url,omitzero"`
	Text     string    `json:"text,omitzero"`
}

type imageURL struct {
	URL string `json:"url"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

// function is without "strict": arguments that may be left out would all have to be
// there, and whoever runs the tool checks them anyway.
type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
}

type toolCall struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Function     called         `json:"function"`
	ExtraContent jsontext.Value `json:"extra_content,omitzero"`
}

type called struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type responseFormat struct {
	Type       string     `json:"type"`
	JSONSchema jsonSchema `json:"json_schema"`
}

type jsonSchema struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema jsontext.Value `json:"schema"`
}

// request writes a request in the protocol.
func (m *Model) request(req llm.Request) (*request, error) {
	out := &request{Model: m.name, Temperature: req.Temperature, ReasoningEffort: string(req.Effort)}
	m.bound(out, req)
	if err := m.offer(out, req); err != nil {
		return nil, err
	}
	if req.Schema != nil && !eitherOr(out) {
		schema, err := m.strict(req.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the answer: %w", err)
		}
		out.ResponseFormat = &responseFormat{Type: "json_schema", JSONSchema: jsonSchema{Name: "reply", Strict: true, Schema: schema}}
	}
	if req.System != "" {
		out.Messages = append(out.Messages, message{Role: "system", Content: wire.Text(req.System)})
	}
	messages := wire.UniqueIDs(req.Messages)
	if len(req.Tools) == 0 {
		messages = llm.WithoutTools(messages)
	}
	for _, msg := range messages {
		out.Messages = append(out.Messages, messagesOf(msg)...)
		out.images = out.images || len(msg.Images) > 0
	}
	return out, nil
}

// eitherOr reports whether a schema would keep the model from its tools: servers hold
// every word to it, those of a call too.
func eitherOr(out *request) bool { return len(out.Tools) > 0 && out.ToolChoice != "none" }

// bound sets how long the answer may be; servers count reasoning in it.
func (m *Model) bound(out *request, req llm.Request) {
	if req.MaxOutputTokens <= 0 {
		return
	}
	most := req.MaxOutputTokens + max(req.ReasoningTokens, 0)
	if m.newBound.Load() {
		out.MaxCompletionTokens = most
	} else {
		out.MaxTokens = most
	}
}

// offer sets the tools, and whether they may be called.
func (m *Model) offer(out *request, req llm.Request) error {
	for _, t := range req.Tools {
		schema, err := m.parameters(t.Parameters)
		if err != nil {
			return fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Function: function{
			Name: t.Name, Description: wire.Text(t.Description), Parameters: schema,
		}})
	}
	if len(out.Tools) == 0 {
		return nil
	}
	if req.ToolChoice == llm.ToolsNone {
		out.ToolChoice = "none"
	}
	if m.toolsUnthought.Load() {
		out.ReasoningEffort = "none"
	}
	return nil
}

// messagesOf writes one message; results of tools become one each.
func messagesOf(msg llm.Message) []message {
	switch msg.Role {
	case llm.ToolResult:
		var out []message
		for _, r := range msg.Results {
			out = append(out, message{Role: "tool", ToolCallID: r.CallID, Content: wire.Text(string(r.Content))})
		}
		return out
	case llm.Assistant:
		return []message{assistant(msg)}
	}
	if len(msg.Images) == 0 {
		return []message{{Role: "user", Content: wire.Text(msg.Text)}}
	}
	var parts []part
	for _, image := range msg.Images {
		data := "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		parts = append(parts, part{Type: "image_url", ImageURL: &imageURL{URL: data}})
	}
	if msg.Text != "" {
		parts = append(parts, part{Type: "text", Text: wire.Text(msg.Text)})
	}
	return []message{{Role: "user", Content: parts}}
}

func assistant(msg llm.Message) message {
	out := message{Role: "assistant", Content: wire.Text(msg.Text)}
	if len(msg.Calls) == 0 {
		return out
	}
	if msg.Text == "" {
		out.Content = nil
	}
	kept := recall(msg.State)
	out.ReasoningContent, out.ReasoningDetails = kept.ReasoningContent, kept.ReasoningDetails
	for i, c := range msg.Calls {
		call := toolCall{ID: c.ID, Type: "function", Function: called{Name: wire.FunctionName(c.Name, maxName), Arguments: "{}"}}
		if jsontext.Value(c.Arguments).IsValid() {
			call.Function.Arguments = string(c.Arguments)
		}
		if i < len(kept.ExtraContent) && wire.IsSet(kept.ExtraContent[i]) {
			call.ExtraContent = kept.ExtraContent[i]
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// maxName bounds the name of a function, in characters.
const maxName = 64

// state is what servers of reasoning models want back with the results of calls:
// DeepSeek and Moonshot reasoning_content, OpenRouter reasoning_details, Google
// extra_content of each call.
type state struct {
	ReasoningContent string           `json:"reasoning_content,omitzero"`
	ReasoningDetails jsontext.Value   `json:"reasoning_details,omitzero"`
	ExtraContent     []jsontext.Value `json:"extra_content,omitzero"`
}

// pack writes a state; nil when there is nothing in it.
func (s state) pack() []byte {
	if s.ReasoningContent == "" && s.ReasoningDetails == nil && s.ExtraContent == nil {
		return nil
	}
	return wire.Pack(provider, s)
}

// recall reads a state; of another provider, nothing.
func recall(data []byte) state {
	var s state
	if !wire.Unpack(provider, data, &s) {
		return state{}
	}
	return s
}
