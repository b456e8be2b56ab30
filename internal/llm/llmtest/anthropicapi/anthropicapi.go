// Package anthropicapi is a local server of Anthropic's Messages API, for tests. A model
// answers behind it, so that what an adapter sends is read back as Anthropic would.
package anthropicapi

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// New makes a server of Anthropic's Messages API that takes one key. It refuses what
// the API refuses of a request, in its words where they are known, and signs reasoning.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(func(w http.ResponseWriter, r *http.Request, body []byte) {
		answer, err := claude{model, key}.answer(r, body)
		var refused *claudeError
		if errors.As(err, &refused) {
			refused.write(w)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.MarshalWrite(w, answer) // the caller may be gone
	})
}

type claude struct {
	model llm.Model
	key   string
}

// claudeError is an error as the API writes it.
type claudeError struct {
	status        int
	kind, message string
	retryAfter    int // seconds; 0: not told
}

func (e *claudeError) Error() string { return e.kind + ": " + e.message }

func (e *claudeError) write(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	w.WriteHeader(e.status)
	_ = json.MarshalWrite(w, map[string]any{ // the caller may be gone
		"type": "error", "error": map[string]string{"type": e.kind, "message": e.message}, "request_id": "req_1",
	}, json.Deterministic(true))
}

func claudeRefuses(format string, args ...any) error {
	return &claudeError{status: http.StatusBadRequest, kind: "invalid_request_error", message: fmt.Sprintf(format, args...)}
}

type claudeRequest struct {
	Model       string   `json:"model"`
	MaxTokens   int      `json:"max_tokens"`
	Temperature *float64 `json:"temperature"`
	Thinking    *struct {
		Type         string `json:"type"`
		BudgetTokens int    `json:"budget_tokens"`
	} `json:"thinking"`
	OutputConfig struct {
		Effort string `json:"effort"`
		Format *struct {
			Type   string         `json:"type"`
			Schema jsontext.Value `json:"schema"`
		} `json:"format"`
	} `json:"output_config"`
	Tools []struct {
		Name         string         `json:"name"`
		Description  string         `json:"description"`
		InputSchema  jsontext.Value `json:"input_schema"`
		CacheControl claudeCache    `json:"cache_control"`
	} `json:"tools"`
	ToolChoice struct {
		Type string `json:"type"`
	} `json:"tool_choice"`
	System   []claudeBlock `json:"system"`
	Messages []struct {
		Role    string        `json:"role"`
		Content []claudeBlock `json:"content"`
	} `json:"messages"`
}

type claudeCache struct {
	Type string `json:"type"`
}

// breakpoints is how many it sets.
func (c claudeCache) breakpoints() int {
	if c.Type == "ephemeral" {
		return 1
	}
	return 0
}

type claudeBlock struct {
	Type   string `json:"type"`
	Text   string `json:"text,omitzero"`
	Source struct {
		Type      string `json:"type"`
		MediaType string `json:"media_type"`
		Data      string `json:"data"`
	} `json:"source,omitzero"`
	ID           string         `json:"id,omitzero"`
	Name         string         `json:"name,omitzero"`
	Input        jsontext.Value `json:"input,omitzero"`
	ToolUseID    string         `json:"tool_use_id,omitzero"`
	Content      string         `json:"content,omitzero"`
	Thinking     string         `json:"thinking,omitzero"`
	Signature    string         `json:"signature,omitzero"`
	CacheControl claudeCache    `json:"cache_control,omitzero"`
}

type claudeAnswer struct {
	ID           string         `json:"id"`
	Type         string         `json:"type"`
	Role         string         `json:"role"`
	Model        string         `json:"model"`
	Content      []claudeBlock  `json:"content"`
	StopReason   string         `json:"stop_reason"`
	StopSequence *string        `json:"stop_sequence"`
	Usage        map[string]any `json:"usage"`
}

func (c claude) answer(r *http.Request, body []byte) (*claudeAnswer, error) {
	switch {
	case r.URL.Path != "/v1/messages":
		return nil, &claudeError{status: http.StatusNotFound, kind: "not_found_error", message: "Not found"}
	case r.Method != http.MethodPost:
		return nil, &claudeError{status: http.StatusMethodNotAllowed, kind: "invalid_request_error", message: "Method Not Allowed"}
	case r.Header.Get("X-Api-Key") != c.key:
		return nil, &claudeError{status: http.StatusUnauthorized, kind: "authentication_error", message: "invalid x-api-key"}
	case r.Header.Get("Anthropic-Version") != "2023-06-01":
		return nil, claudeRefuses("anthropic-version: header is required")
	}
	var req claudeRequest
	if err := json.Unmarshal(body, &req, json.RejectUnknownMembers(true)); err != nil {
		path := "request"
		var semantic *json.SemanticError
		if errors.As(err, &semantic) && semantic.JSONPointer != "" {
			path = strings.ReplaceAll(strings.TrimPrefix(string(semantic.JSONPointer), "/"), "/", ".")
		}
		return nil, claudeRefuses("%s: Extra inputs are not permitted", path)
	}
	asked, err := req.read()
	if err != nil {
		return nil, err
	}
	resp, err := c.model.Generate(r.Context(), asked)
	if err != nil {
		return nil, claudeFailure(r.Context(), err)
	}
	return req.write(resp), nil
}

// claudeFailure is the model's error as the API reports one of its kind.
func claudeFailure(ctx context.Context, err error) error {
	var e *llm.Error
	if !errors.As(err, &e) || ctx.Err() != nil {
		return &claudeError{status: http.StatusInternalServerError, kind: "api_error", message: "Internal server error"}
	}
	out := &claudeError{message: e.Message, retryAfter: int(e.RetryAfter.Seconds())}
	switch e.Kind {
	case llm.KindRateLimited:
		out.status, out.kind = http.StatusTooManyRequests, "rate_limit_error"
	case llm.KindOverloaded:
		out.status, out.kind = 529, "overloaded_error"
	case llm.KindUnauthorized:
		out.status, out.kind = http.StatusUnauthorized, "authentication_error"
	case llm.KindRejected:
		out.status, out.kind = http.StatusBadRequest, "invalid_request_error"
	default:
		out.status, out.kind = http.StatusInternalServerError, "api_error"
	}
	return out
}

// read turns a request into what a model is asked. The part of max_tokens that is for
// reasoning is told only with a budget.
func (r *claudeRequest) read() (llm.Request, error) {
	if err := r.check(); err != nil {
		return llm.Request{}, err
	}
	req := llm.Request{
		ToolChoice: llm.ToolsAuto, MaxOutputTokens: r.MaxTokens, Temperature: r.Temperature, Effort: llm.Effort(r.OutputConfig.Effort),
	}
	for _, b := range r.System {
		req.System += b.Text
	}
	for _, t := range r.Tools {
		req.Tools = append(req.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.InputSchema})
	}
	if r.ToolChoice.Type == "none" {
		req.ToolChoice = llm.ToolsNone
	}
	if f := r.OutputConfig.Format; f != nil {
		req.Schema = f.Schema
	}
	if t := r.Thinking; t != nil {
		req.ReasoningTokens, req.MaxOutputTokens = t.BudgetTokens, r.MaxTokens-t.BudgetTokens
	}
	names := map[string]string{} // of the tools called, by id
	for _, m := range r.Messages {
		results := llm.Message{Role: llm.ToolResult}
		msg := llm.Message{Role: llm.Role(m.Role)}
		for _, b := range m.Content {
			switch b.Type {
			case "text":
				msg.Text += b.Text
			case "image":
				data, _ := base64.StdEncoding.DecodeString(b.Source.Data) // checked
				msg.Images = append(msg.Images, llm.Image{MediaType: b.Source.MediaType, Data: data})
			case "tool_use":
				names[b.ID] = b.Name
				msg.Calls = append(msg.Calls, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: b.Input})
			case "tool_result":
				results.Results = append(results.Results, llm.Result{CallID: b.ToolUseID, Name: names[b.ToolUseID], Content: []byte(b.Content)})
			}
		}
		if len(results.Results) > 0 {
			req.Messages = append(req.Messages, results)
		}
		if msg.Text != "" || len(msg.Images) > 0 || len(msg.Calls) > 0 {
			req.Messages = append(req.Messages, msg)
		}
	}
	return req, nil
}

// write is the answer of a model; one that was asked to think begins with its reasoning.
func (r *claudeRequest) write(resp llm.Response) *claudeAnswer {
	reasons := map[llm.Stop]string{llm.StopTools: "tool_use", llm.StopLength: "max_tokens", llm.StopRefusal: "refusal"}
	out := &claudeAnswer{ID: "msg_1", Type: "message", Role: "assistant", Model: r.Model, Content: []claudeBlock{}, StopReason: "end_turn"}
	if reason, other := reasons[resp.Stop]; other {
		out.StopReason = reason
	}
	if r.Thinking != nil {
		out.Content = append(out.Content, claudeBlock{Type: "thinking", Thinking: "Let me think.", Signature: r.signature()})
	}
	if resp.Text != "" {
		out.Content = append(out.Content, claudeBlock{Type: "text", Text: resp.Text})
	}
	for i, c := range resp.Calls {
		if c.ID == "" {
			c.ID = "toolu_" + strconv.Itoa(i+1)
		}
		out.Content = append(out.Content, claudeBlock{Type: "tool_use", ID: c.ID, Name: c.Name, Input: c.Arguments})
	}
	u := resp.Usage
	out.Usage = map[string]any{
		"input_tokens": u.Input - u.Cached - u.Written, "output_tokens": u.Output,
		"cache_creation_input_tokens": u.Written, "cache_read_input_tokens": u.Cached,
		"cache_creation": map[string]int64{"ephemeral_5m_input_tokens": u.Written, "ephemeral_1h_input_tokens": 0},
		"service_tier":   "standard",
	}
	return out
}

// signature stands for the API's, which holds for one model.
func (r *claudeRequest) signature() string {
	return base64.StdEncoding.EncodeToString([]byte("signed by " + r.Model))
}

// budgeted are the models that think by a number of tokens, before 4.6.
var budgeted = regexp.MustCompile(`^claude-(3|[a-z]+-4(-[0-5])?(-\d{8})?$)`)

var claudeName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)

func (r *claudeRequest) check() error {
	thinks := r.Thinking != nil
	format := r.OutputConfig.Format
	switch {
	case r.Model == "":
		return claudeRefuses("model: Field required")
	case r.MaxTokens < 1:
		return claudeRefuses("max_tokens: must be greater than or equal to 1")
	case len(r.Messages) == 0:
		return claudeRefuses("messages: at least one message is required")
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 1):
		return claudeRefuses("temperature: range: 0..1")
	case r.Temperature != nil && thinks:
		return claudeRefuses("`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.")
	case thinks && r.Thinking.Type == "enabled" && !budgeted.MatchString(r.Model):
		return claudeRefuses(`"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.`)
	case thinks && r.Thinking.Type == "enabled" && (r.Thinking.BudgetTokens < 1024 || r.Thinking.BudgetTokens >= r.MaxTokens):
		return claudeRefuses("`max_tokens` must be greater than `thinking.budget_tokens`, and that at least 1024.")
	case thinks && r.Thinking.Type == "adaptive" && budgeted.MatchString(r.Model):
		return claudeRefuses("adaptive thinking is not supported on this model")
	case thinks && r.Thinking.Type != "enabled" && r.Thinking.Type != "adaptive":
		return claudeRefuses("thinking: Input tag '%s' found using 'type' does not match any of the expected tags", r.Thinking.Type)
	case r.OutputConfig.Effort != "" && budgeted.MatchString(r.Model):
		return claudeRefuses("This model does not support the effort parameter.")
	case r.OutputConfig.Effort != "" && !slices.Contains([]string{"low", "medium", "high"}, r.OutputConfig.Effort):
		return claudeRefuses("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	case format != nil && format.Type != "json_schema":
		return claudeRefuses("output_config.format.type: Input should be 'json_schema'")
	case r.ToolChoice.Type != "" && len(r.Tools) == 0:
		return claudeRefuses("tool_choice: tool_choice may only be specified while providing tools.")
	case r.ToolChoice.Type != "" && r.ToolChoice.Type != "auto" && r.ToolChoice.Type != "none":
		return claudeRefuses("tool_choice: Input tag '%s' found using 'type' does not match any of the expected tags", r.ToolChoice.Type)
	}
	if format != nil {
		if err := claudeSchema("output_config.format.schema", format.Schema); err != nil {
			return err
		}
	}
	return r.checkParts()
}

// checkParts checks tools, system prompt and messages.
func (r *claudeRequest) checkParts() error {
	breakpoints := 0
	for i, t := range r.Tools {
		var schema struct {
			Type string `json:"type"`
		}
		if !claudeName.MatchString(t.Name) {
			return claudeRefuses("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		}
		if json.Unmarshal(t.InputSchema, &schema) != nil || schema.Type != "object" {
			return claudeRefuses("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		}
		breakpoints += t.CacheControl.breakpoints()
	}
	for _, b := range r.System {
		if b.Type != "text" || strings.TrimSpace(b.Text) == "" {
			return claudeRefuses("system: text content blocks must be non-empty")
		}
		breakpoints += b.CacheControl.breakpoints()
	}
	var open []string // ids of calls without a result
	for i, m := range r.Messages {
		results := 0
		for j, b := range m.Content {
			if err := r.checkBlock(fmt.Sprintf("messages.%d.content.%d", i, j), m.Role, b); err != nil {
				return err
			}
			breakpoints += b.CacheControl.breakpoints()
			if b.Type == "tool_result" && results == j && slices.Contains(open, b.ToolUseID) {
				results++
			} else if b.Type == "tool_result" {
				return claudeRefuses("messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s", i, j, b.ToolUseID)
			}
		}
		switch {
		case results != len(open):
			return claudeRefuses("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", i-1, strings.Join(open, ", "))
		case len(m.Content) == 0:
			return claudeRefuses("messages.%d: all messages must have non-empty content", i)
		case m.Role == "assistant" && i == len(r.Messages)-1:
			return claudeRefuses("This model does not support assistant message prefill. The conversation must end with a user message.")
		}
		open = nil
		for _, b := range m.Content {
			if b.Type == "tool_use" {
				open = append(open, b.ID)
			}
		}
		if first := m.Content[0].Type; len(open) > 0 && r.Thinking != nil && r.Thinking.Type == "enabled" && first != "thinking" {
			return claudeRefuses("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`.", i, first)
		}
	}
	if breakpoints > 4 {
		return claudeRefuses("A maximum of 4 blocks with cache_control may be provided. Found %d.", breakpoints)
	}
	return nil
}

func (r *claudeRequest) checkBlock(path, role string, b claudeBlock) error {
	_, encoding := base64.StdEncoding.DecodeString(b.Source.Data)
	media := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	switch {
	case role != "user" && role != "assistant":
		return claudeRefuses("messages: Unexpected role %q.", role)
	case b.Type == "text" && strings.TrimSpace(b.Text) != "":
	case b.Type == "text":
		return claudeRefuses("messages: text content blocks must contain non-whitespace text")
	case b.Type == "image" && role == "user" && b.Source.Type == "base64" && encoding == nil && slices.Contains(media, b.Source.MediaType):
	case b.Type == "image":
		return claudeRefuses("%s.image.source: Could not process image", path)
	case b.Type == "tool_result" && role == "user":
	case b.Type == "tool_use" && role == "assistant" && len(r.Tools) == 0:
		return claudeRefuses("Requests which include `tool_use` or `tool_result` blocks must define tools")
	case b.Type == "tool_use" && role == "assistant" && claudeName.MatchString(b.ID) && claudeName.MatchString(b.Name) && b.Input.Kind() == '{':
	case b.Type == "tool_use":
		return claudeRefuses("%s.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", path)
	case b.Type == "thinking" && role == "assistant" && b.Signature == r.signature():
	case b.Type == "thinking":
		return claudeRefuses("%s: Invalid `signature` in `thinking` block", path)
	default:
		return claudeRefuses("%s: Input tag '%s' found using 'type' does not match any of the expected tags", path, b.Type)
	}
	return nil
}

// claudeSchema refuses the keywords that structured output does not take, at any depth.
func claudeSchema(path string, schema jsontext.Value) error {
	var s map[string]jsontext.Value
	if schema.Kind() != '{' {
		return nil
	}
	if err := json.Unmarshal(schema, &s); err != nil {
		return claudeRefuses("%s: Input should be a valid dictionary", path)
	}
	kind := strings.Trim(string(s["type"]), `"`)
	if kind == "object" && string(s["additionalProperties"]) != "false" {
		return claudeRefuses("%s: For 'object' type, 'additionalProperties' must be explicitly set to false", path)
	}
	for keyword, value := range s {
		var within []jsontext.Value
		switch keyword {
		case "properties", "$defs":
			var byName map[string]jsontext.Value
			_ = json.Unmarshal(value, &byName) // what is no object holds no schemas
			for _, v := range byName {
				within = append(within, v)
			}
		case "anyOf", "allOf":
			_ = json.Unmarshal(value, &within) // as above
		case "items":
			within = []jsontext.Value{value}
		case "minItems":
			if string(value) != "0" && string(value) != "1" {
				return claudeRefuses("%s: For 'array' type, 'minItems' values other than 0 or 1 are not supported", path)
			}
		case "type", "enum", "const", "$ref", "description", "title", "required", "default", "pattern", "format", "additionalProperties":
		default:
			return claudeRefuses("%s: For '%s' type, property '%s' is not supported", path, kind, keyword)
		}
		for _, v := range within {
			if err := claudeSchema(path, v); err != nil {
				return err
			}
		}
	}
	return nil
}
