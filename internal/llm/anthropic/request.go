package anthropic

import (
	"encoding/base64"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// maxAnswer is the bound of an answer, in tokens, when the request has none: the API
// demands one, and it is the most that the oldest models take.
const maxAnswer = 4096

// request is the body of POST /v1/messages.
type request struct {
	Model        string        `json:"model"`
	MaxTokens    int           `json:"max_tokens"`
	Temperature  *float64      `json:"temperature,omitzero"`
	Thinking     *thinking     `json:"thinking,omitzero"`
	OutputConfig *outputConfig `json:"output_config,omitzero"`
	Tools        []tool        `json:"tools,omitempty"`
	ToolChoice   *toolChoice   `json:"tool_choice,omitzero"`
	System       []block       `json:"system,omitempty"`
	Messages     []message     `json:"messages"`
}

type thinking struct {
	Type         string `json:"type"`
	BudgetTokens int    `json:"budget_tokens,omitzero"`
}

type outputConfig struct {
	Effort string  `json:"effort,omitzero"`
	Format *format `json:"format,omitzero"`
}

type format struct {
	Type   string         `json:"type"`
	Schema jsontext.Value `json:"schema"`
}

type tool struct {
	Name         string         `json:"name"`
	Description  string         `json:"description,omitzero"`
	InputSchema  jsontext.Value `json:"input_schema"`
	CacheControl *cacheControl  `json:"cache_control,omitzero"`
}

type toolChoice struct {
	Type string `json:"type"`
}

type message struct {
	Role    string `json:"role"`
	Content any    `json:"content"` // []block, or the jsontext.Value of an earlier answer
}

type block struct {
	Type         string         `json:"type"`
	Text         string         `json:"text,omitzero"`
	Source       *source        `json:"source,omitzero"`
	ID           string         `json:"id,omitzero"`
	Name         string         `json:"name,omitzero"`
	Input        jsontext.Value `json:"input,omitzero"`
	ToolUseID    string         `json:"tool_use_id,omitzero"`
	Content      string         `json:"content,omitzero"`
	CacheControl *cacheControl  `json:"cache_control,omitzero"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
}

type cacheControl struct {
	Type string `json:"type"`
}

// request writes what a model is asked. Its error is of a schema that is not JSON.
func (m *Model) request(req llm.Request) (*request, error) {
	body := &request{Model: m.name, MaxTokens: req.MaxOutputTokens}
	if body.MaxTokens <= 0 {
		body.MaxTokens = maxAnswer
	}
	if req.Schema != nil {
		schema, err := m.fit(req.Schema)
		if err != nil {
			return nil, err
		}
		body.OutputConfig = &outputConfig{Format: &format{Type: "json_schema", Schema: schema}}
	}
	messages := req.Messages
	if len(req.Tools) == 0 {
		messages = llm.WithoutTools(messages) // calls of tools that are not offered are refused
	}
	signed := m.addMessages(body, messages)
	reason(body, req, signed)
	if req.Temperature != nil && body.Thinking == nil { // together they are refused
		t := min(*req.Temperature, 1) // the highest that is taken
		body.Temperature = &t
	}
	for _, t := range req.Tools {
		parameters, err := m.parameters(t.Parameters)
		if err != nil {
			return nil, err
		}
		body.Tools = append(body.Tools, tool{Name: t.Name, Description: wire.Text(t.Description), InputSchema: parameters})
	}
	if len(req.Tools) > 0 && req.ToolChoice == llm.ToolsNone {
		body.ToolChoice = &toolChoice{Type: "none"}
	}
	if strings.TrimSpace(req.System) != "" {
		body.System = []block{{Type: "text", Text: wire.Text(req.System)}}
	}
	body.mark()
	return body, nil
}

// mark sets the breakpoints of the prompt cache: after the tools, after the system
// prompt, and, where another step may follow that reads it, after the messages. A step
// without a choice of tools reads no messages from the cache, so that writing them for it
// would only cost.
func (r *request) mark() {
	ephemeral := &cacheControl{Type: "ephemeral"}
	if len(r.Tools) > 0 {
		r.Tools[len(r.Tools)-1].CacheControl = ephemeral
	}
	if len(r.System) > 0 {
		r.System[len(r.System)-1].CacheControl = ephemeral
	}
	if len(r.Tools) == 0 || r.ToolChoice != nil || len(r.Messages) == 0 {
		return
	}
	if blocks, ok := r.Messages[len(r.Messages)-1].Content.([]block); ok {
		blocks[len(blocks)-1].CacheControl = ephemeral
	}
}

// addMessages writes the messages. Signed reports whether every answer that called tools
// goes back with its signed reasoning.
func (m *Model) addMessages(body *request, messages []llm.Message) (signed bool) {
	signed = true
	var ids callIDs
	for _, msg := range messages {
		if msg.Role == llm.Assistant && len(msg.Calls) > 0 {
			if answer := m.earlier(msg); answer != nil && ids.keep(msg.Calls) {
				body.Messages = append(body.Messages, message{Role: "assistant", Content: answer})
				continue
			}
			signed = false
			ids.add(msg.Calls)
		}
		role, blocks := "user", ids.blocksOf(msg)
		if msg.Role == llm.Assistant {
			role = "assistant"
		}
		if last := len(body.Messages) - 1; last >= 0 && body.Messages[last].Role == role {
			if before, ok := body.Messages[last].Content.([]block); ok {
				body.Messages[last].Content = append(before, blocks...)
				continue
			}
		}
		body.Messages = append(body.Messages, message{Role: role, Content: blocks})
	}
	return signed
}

// nothing stands for a message without words: an empty block of text is refused.
const nothing = "(empty)"

func (c *callIDs) blocksOf(m llm.Message) []block {
	var blocks []block
	for _, r := range m.Results {
		blocks = append(blocks, block{Type: "tool_result", ToolUseID: c.sent[r.CallID], Content: wire.Text(string(r.Content))})
	}
	for _, i := range m.Images {
		blocks = append(blocks, block{Type: "image", Source: &source{
			Type: "base64", MediaType: i.MediaType, Data: base64.StdEncoding.EncodeToString(i.Data),
		}})
	}
	if text := wire.Text(m.Text); strings.TrimSpace(text) != "" {
		blocks = append(blocks, block{Type: "text", Text: text})
	}
	for _, call := range m.Calls {
		blocks = append(blocks, block{Type: "tool_use", ID: c.sent[call.ID], Name: wire.FunctionName(call.Name, maxName), Input: wire.ArgumentsObject(call.Arguments)})
	}
	if len(blocks) == 0 {
		blocks = []block{{Type: "text", Text: nothing}}
	}
	return blocks
}

var validID = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// maxName bounds the name of a tool, in characters.
const maxName = 128

// callIDs are the ids of calls as they are sent: in letters that the API takes, and no
// two of them the same in a request. Those of another provider may be neither.
type callIDs struct {
	used map[string]bool
	sent map[string]string // of the last answer's calls, by the id they came with
}

// keep takes the ids of an answer as they are, if none of them was sent before.
func (c *callIDs) keep(calls []llm.ToolCall) bool {
	for _, call := range calls {
		if c.used[call.ID] {
			return false
		}
	}
	c.add(calls)
	return true
}

func (c *callIDs) add(calls []llm.ToolCall) {
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.sent = map[string]string{}
	for _, call := range calls {
		id := callID(call.ID)
		for n := 2; c.used[id]; n++ {
			id = callID(call.ID) + "-" + strconv.Itoa(n)
		}
		c.used[id], c.sent[call.ID] = true, id
	}
}

// callID is an id in letters that the API takes; different ones stay different.
func callID(id string) string {
	if validID.MatchString(id) {
		return id
	}
	return "call-" + hex.EncodeToString([]byte(id))
}
