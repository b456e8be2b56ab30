package openai

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// request is without "parallel_tool_calls", which is true unless told otherwise, and
// without anything that says who the contact is.
type request struct {
	Model           string     `json:"model"`
	Input           []any      `json:"input"`
	Tools           []tool     `json:"tools,omitzero"`
	ToolChoice      string     `json:"tool_choice,omitzero"`
	Text            *answering `json:"text,omitzero"`
	MaxOutputTokens int        `json:"max_output_tokens,omitzero"`
	Reasoning       *reasoning `json:"reasoning,omitzero"`
	Temperature     *float64   `json:"temperature,omitzero"`
	Include         []string   `json:"include,omitzero"`
	PromptCacheKey  string     `json:"prompt_cache_key,omitzero"`
	Store           bool       `json:"store"` // true unless told otherwise

	marked, sealed, images bool // what it holds of what may be refused
}

type reasoning struct {
	Effort string `json:"effort"`
}

type message struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Phase   string `json:"phase,omitzero"`
	Content []part `json:"content"`
}

type part struct {
	Type       string `json:"type"`
	Text       string `json:"text,omitzero"`
	Detail     string `json:"detail,omitzero"`
	ImageURL   string `json:"image_url,omitzero"`
	Breakpoint *mark  `json:"prompt_cache_breakpoint,omitzero"`
}

// mark ends a part of the prompt that other requests begin with.
type mark struct {
	Mode string `json:"mode"`
}

type functionCall struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type functionCallOutput struct {
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Output string `json:"output"`
}

// tool says "strict" because it is true unless told otherwise: arguments that may be left
// out would all have to be there, and whoever runs the tool checks them anyway.
type tool struct {
	Type        string         `json:"type"`
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parameters"`
	Strict      bool           `json:"strict"`
}

type answering struct {
	Format format `json:"format"`
}

type format struct {
	Type   string         `json:"type"`
	Name   string         `json:"name"`
	Schema jsontext.Value `json:"schema"`
	Strict bool           `json:"strict"`
}

// request writes a request in the protocol.
func (m *Model) request(req llm.Request) (*request, error) {
	out := &request{Model: m.name, Input: []any{}, MaxOutputTokens: bound(req)}
	if req.Effort != "" {
		out.Reasoning = &reasoning{Effort: m.traits.effort(req.Effort)}
	} else {
		out.Temperature = req.Temperature // refused together with reasoning
	}
	if err := m.offer(out, req); err != nil {
		return nil, err
	}
	if req.Schema != nil {
		schema, err := m.strict(req.Schema)
		if err != nil {
			return nil, fmt.Errorf("the schema of the answer: %w", err)
		}
		out.Text = &answering{format{Type: "json_schema", Name: "reply", Schema: schema, Strict: true}}
	}
	m.instruct(out, req.System)
	messages := wire.UniqueIDs(req.Messages)
	if len(req.Tools) == 0 {
		messages = llm.WithoutTools(messages)
	}
	for _, msg := range messages {
		m.say(out, msg)
	}
	return out, nil
}

// leastOutput is the least that the provider takes for a bound.
const leastOutput = 16

// bound is how long the answer may be; reasoning counts in it.
func bound(req llm.Request) int {
	if req.MaxOutputTokens <= 0 {
		return 0
	}
	return max(req.MaxOutputTokens+max(req.ReasoningTokens, 0), leastOutput)
}

// offer sets the tools, and whether they may be called. With them it asks for the
// reasoning, which goes back with their results.
func (m *Model) offer(out *request, req llm.Request) error {
	for _, t := range req.Tools {
		schema, err := m.parameters(t.Parameters)
		if err != nil {
			return fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		out.Tools = append(out.Tools, tool{Type: "function", Name: t.Name, Description: wire.Text(t.Description), Parameters: schema})
	}
	switch {
	case len(out.Tools) == 0:
	case req.ToolChoice == llm.ToolsNone:
		out.ToolChoice = "none"
	case m.traits.reasons && !m.unsealed.Load():
		out.Include, out.sealed = []string{"reasoning.encrypted_content"}, true
	}
	return nil
}

// instruct puts the static part first, as a message: the "instructions" beside the
// messages cannot hold the mark that newer models cache it by. Requests with one beginning
// find each other's cache by the key.
func (m *Model) instruct(out *request, system string) {
	if system == "" {
		return
	}
	text := part{Type: "input_text", Text: wire.Text(system)}
	if m.traits.marks && !m.unmarked.Load() {
		text.Breakpoint, out.marked = &mark{Mode: "explicit"}, true
	}
	out.Input = append(out.Input, message{Type: "message", Role: "developer", Content: []part{text}})
	sum := sha256.Sum256([]byte(system))
	out.PromptCacheKey = hex.EncodeToString(sum[:16])
}

// say writes one message, as one item of input or several.
func (m *Model) say(out *request, msg llm.Message) {
	switch msg.Role {
	case llm.ToolResult:
		for _, r := range msg.Results {
			out.Input = append(out.Input, functionCallOutput{Type: "function_call_output", CallID: callID(r.CallID), Output: wire.Text(string(r.Content))})
		}
		return
	case llm.Assistant:
		m.recount(out, msg)
		return
	}
	var parts []part
	for _, image := range msg.Images {
		data := "data:" + image.MediaType + ";base64," + base64.StdEncoding.EncodeToString(image.Data)
		parts = append(parts, part{Type: "input_image", Detail: "auto", ImageURL: data})
		out.images = true
	}
	if msg.Text != "" {
		parts = append(parts, part{Type: "input_text", Text: wire.Text(msg.Text)})
	}
	if len(parts) == 0 {
		return
	}
	out.Input = append(out.Input, message{Type: "message", Role: "user", Content: parts})
}

// recount writes what the model said and called, in the order in which it did.
func (m *Model) recount(out *request, msg llm.Message) {
	calls := msg.Calls
	for _, k := range recall(msg) {
		switch k.Type {
		case "message":
			if msg.Text != "" {
				said := part{Type: "output_text", Text: wire.Text(msg.Text)}
				out.Input = append(out.Input, message{Type: "message", Role: "assistant", Phase: k.Phase, Content: []part{said}})
			}
		case "reasoning":
			if !m.unsealed.Load() {
				out.Input, out.sealed = append(out.Input, k), true
			}
		case "function_call":
			out.Input = append(out.Input, called(calls[0]))
			calls = calls[1:]
		}
	}
}

func called(c llm.ToolCall) functionCall {
	call := functionCall{Type: "function_call", CallID: callID(c.ID), Name: wire.FunctionName(c.Name, maxName), Arguments: "{}"}
	if jsontext.Value(c.Arguments).IsValid() {
		call.Arguments = string(c.Arguments)
	}
	return call
}

// maxName bounds the name of a function and the id of a call, in characters.
const maxName = 64

// callID is an id as the provider takes it: that of another, which the turn began with,
// may be too long.
func callID(id string) string {
	if wire.FunctionName(id, maxName) == id {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "call_" + hex.EncodeToString(sum[:16])
}
