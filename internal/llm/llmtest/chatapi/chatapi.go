// Package chatapi is a local server of the chat completions protocol, for tests. A model
// answers behind it, so that what an adapter sends is read back as such servers would.
package chatapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// New makes a server of the chat completions protocol, at /v1/chat/completions, as OpenAI
// keeps it: it refuses what it does not know. key is the one that it takes; empty: it asks
// for none, and bounds answers by max_tokens, as servers do that took the protocol over.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(openAI{model, key}.answer)
}

type openAI struct {
	model llm.Model
	key   string
}

type openAIRequest struct {
	Model               string                `json:"model"`
	Messages            []openAIMessage       `json:"messages"`
	Tools               []openAITool          `json:"tools"`
	ToolChoice          string                `json:"tool_choice"`
	ResponseFormat      *openAIResponseFormat `json:"response_format"`
	MaxTokens           int                   `json:"max_tokens"`
	MaxCompletionTokens int                   `json:"max_completion_tokens"`
	ReasoningEffort     string                `json:"reasoning_effort"`
	Temperature         *float64              `json:"temperature"`
	PromptCacheKey      string                `json:"prompt_cache_key"`
}

type openAIMessage struct {
	Role             string           `json:"role"`
	Content          jsontext.Value   `json:"content"`
	ToolCalls        []openAIToolCall `json:"tool_calls,omitzero"`
	ToolCallID       string           `json:"tool_call_id,omitzero"`
	ReasoningContent string           `json:"reasoning_content,omitzero"`
}

type openAIPart struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

type openAITool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

func (t openAITool) tool() llm.Tool {
	return llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters}
}

type openAIToolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type openAIResponseFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string         `json:"name"`
		Strict bool           `json:"strict"`
		Schema jsontext.Value `json:"schema"`
	} `json:"json_schema"`
}

// openAIProblem is a refusal, in OpenAI's shape.
type openAIProblem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
	status  int
}

func (p *openAIProblem) Error() string { return p.Message }

func openAIRefuses(status int, param, code, message string) *openAIProblem {
	return &openAIProblem{message, "invalid_request_error", &param, &code, status}
}

func (o openAI) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	status, out := http.StatusOK, any(nil)
	resp, err := o.ask(r, body)
	switch p := (*openAIProblem)(nil); {
	case err == nil:
		out = openAIAnswer(resp)
	case errors.As(err, &p):
		status, out = p.status, map[string]any{"error": p}
	default:
		status, out = http.StatusInternalServerError, map[string]any{"error": openAIProblem{Message: err.Error(), Type: "server_error"}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, out) // the caller may be gone
}

// ask reads and checks a request, and has the model answer it.
func (o openAI) ask(r *http.Request, body []byte) (llm.Response, error) {
	switch given := r.Header.Get("Authorization"); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions":
		return llm.Response{}, openAIRefuses(http.StatusNotFound, "", "unknown_url", "Invalid URL")
	case o.key != "" && given != "Bearer "+o.key:
		return llm.Response{}, openAIRefuses(http.StatusUnauthorized, "", "invalid_api_key", "Incorrect API key provided: "+given)
	}
	var in openAIRequest
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return llm.Response{}, openAIRefuses(http.StatusBadRequest, "", "unknown_parameter", err.Error())
	}
	if err := o.check(in); err != nil {
		return llm.Response{}, err
	}
	req := llm.Request{
		ToolChoice:      llm.ToolChoice(in.ToolChoice),
		MaxOutputTokens: max(in.MaxTokens, in.MaxCompletionTokens),
		Effort:          llm.Effort(in.ReasoningEffort),
		Temperature:     in.Temperature,
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.tool())
	}
	if in.ResponseFormat != nil {
		req.Schema = in.ResponseFormat.JSONSchema.Schema
	}
	if err := openAIMessages(&req, in.Messages); err != nil {
		return llm.Response{}, err
	}
	return o.model.Generate(r.Context(), req)
}

// check holds what OpenAI refuses of a request before it looks at the messages.
func (o openAI) check(in openAIRequest) error {
	bad := func(param, code, message string) error {
		return openAIRefuses(http.StatusBadRequest, param, code, message)
	}
	switch {
	case in.Model == "":
		return bad("model", "missing_required_parameter", "you must provide a model parameter")
	case o.key != "" && in.MaxTokens > 0:
		return bad("max_tokens", "unsupported_parameter", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
	case o.key == "" && in.MaxCompletionTokens+len(in.PromptCacheKey) > 0:
		return bad("max_completion_tokens", "", "Extra inputs are not permitted")
	case in.ToolChoice != "" && (len(in.Tools) == 0 || in.ToolChoice != "none"):
		return bad("tool_choice", "invalid_value", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	for _, t := range in.Tools {
		var p struct {
			Type       string         `json:"type"`
			Properties jsontext.Value `json:"properties"`
		}
		if t.Type != "function" || !openAIName.MatchString(t.Function.Name) ||
			json.Unmarshal(t.Function.Parameters, &p) != nil || p.Type != "object" || p.Properties.Kind() != '{' {
			return bad("tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function: object schema missing properties.")
		}
	}
	if f := in.ResponseFormat; f != nil {
		var schema any
		_ = json.Unmarshal(f.JSONSchema.Schema, &schema) // it is JSON; the body was
		wrong := openAIStrict(schema)
		if f.Type != "json_schema" || !openAIName.MatchString(f.JSONSchema.Name) || !f.JSONSchema.Strict || wrong != "" {
			return bad("response_format", "invalid_json_schema", "Invalid schema for response_format: "+wrong)
		}
	}
	return nil
}

var openAIName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// openAIStrict is what strict mode refuses of a schema; empty: nothing.
func openAIStrict(schema any) string {
	s, ok := schema.(map[string]any)
	if !ok {
		return "is no object"
	}
	inner := []any{}
	for keyword, value := range s {
		switch keyword {
		case "type", "description", "enum", "const", "$ref", "required", "additionalProperties":
		case "items":
			inner = append(inner, value)
		case "anyOf":
			all, _ := value.([]any)
			inner = append(inner, all...)
		case "properties", "$defs":
			all, _ := value.(map[string]any)
			inner = slices.AppendSeq(inner, maps.Values(all))
		default:
			return keyword + " is not permitted"
		}
	}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	if s["type"] == "object" && (s["additionalProperties"] != false || len(properties) != len(required)) {
		return "every property is required, and none beside them"
	}
	for _, i := range inner {
		if wrong := openAIStrict(i); wrong != "" {
			return wrong
		}
	}
	return ""
}

// openAIMessages reads messages, and holds that every call is answered, by nothing else.
func openAIMessages(out *llm.Request, messages []openAIMessage) error {
	open := map[string]string{} // calls without a result, by id, to their names
	for i, m := range messages {
		param := fmt.Sprintf("messages.[%d]", i)
		bad := func(message string) error {
			return openAIRefuses(http.StatusBadRequest, param, "", message)
		}
		text, images, err := openAIContent(m.Content)
		name, asked := open[m.ToolCallID]
		switch {
		case err != nil:
			return openAIRefuses(http.StatusBadRequest, param+".content.image_url", "", err.Error())
		case m.Role != "tool" && len(open) > 0:
			return bad("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")
		case m.Role == "system" && i == 0:
			out.System = text
		case m.Role == "user":
			out.Messages = append(out.Messages, llm.Message{Role: llm.User, Text: text, Images: images})
		case m.Role == "assistant":
			msg := llm.Message{Role: llm.Assistant, Text: text, State: []byte(m.ReasoningContent)}
			for _, c := range m.ToolCalls {
				if c.ID == "" || c.Type != "function" || !openAIName.MatchString(c.Function.Name) {
					return bad("Invalid tool call")
				}
				open[c.ID] = c.Function.Name
				msg.Calls = append(msg.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: []byte(c.Function.Arguments)})
			}
			out.Messages = append(out.Messages, msg)
		case m.Role == "tool" && asked:
			delete(open, m.ToolCallID)
			if out.Messages[len(out.Messages)-1].Role != llm.ToolResult {
				out.Messages = append(out.Messages, llm.Message{Role: llm.ToolResult})
			}
			results := &out.Messages[len(out.Messages)-1].Results
			*results = append(*results, llm.Result{CallID: m.ToolCallID, Name: name, Content: []byte(text)})
		default:
			return bad("a message with this role may not stand here")
		}
	}
	return nil
}

// openAIContent reads a text, parts, or nothing.
func openAIContent(content jsontext.Value) (text string, images []llm.Image, err error) {
	switch {
	case len(content) == 0 || string(content) == "null":
		return "", nil, nil
	case content.Kind() == '"':
		return text, nil, json.Unmarshal(content, &text)
	}
	var parts []openAIPart
	if err := json.Unmarshal(content, &parts, json.RejectUnknownMembers(true)); err != nil {
		return "", nil, err
	}
	for _, p := range parts {
		switch {
		case p.Type == "text" && p.ImageURL == nil:
			text += p.Text
		case p.Type == "image_url" && p.ImageURL != nil:
			media, data, _ := strings.Cut(strings.TrimPrefix(p.ImageURL.URL, "data:"), ";base64,")
			decoded, err := base64.StdEncoding.DecodeString(data)
			if err != nil || len(decoded) == 0 || !strings.HasPrefix(media, "image/") {
				return "", nil, errors.New("invalid image data")
			}
			images = append(images, llm.Image{MediaType: media, Data: decoded})
		default:
			return "", nil, fmt.Errorf("invalid value: '%s'", p.Type)
		}
	}
	return text, images, nil
}

// openAIAnswer writes a completion. Tokens written into a cache are told as since GPT-5.6.
func openAIAnswer(resp llm.Response) any {
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	if resp.Text != "" {
		message["content"] = resp.Text
	}
	if len(resp.State) > 0 {
		message["reasoning_content"] = string(resp.State)
	}
	var calls []openAIToolCall
	for _, c := range resp.Calls {
		call := openAIToolCall{ID: c.ID, Type: "function"}
		call.Function.Name, call.Function.Arguments = c.Name, string(c.Arguments)
		calls = append(calls, call)
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	finish := map[llm.Stop]string{llm.StopEnd: "stop", llm.StopTools: "tool_calls", llm.StopLength: "length", llm.StopRefusal: "content_filter"}
	u := resp.Usage
	return map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": finish[resp.Stop]}},
		"usage": map[string]any{
			"prompt_tokens": u.Input, "completion_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"prompt_tokens_details": map[string]any{"cached_tokens": u.Cached, "cache_write_tokens": u.Written},
		},
	}
}
