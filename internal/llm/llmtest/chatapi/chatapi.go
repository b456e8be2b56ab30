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

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"
)

// New makes a server of the chat completions protocol, at /v1/chat/completions, as strict as
// one of those that took it over can be: it refuses what the protocol did not have when they
// did, bounds answers by max_tokens, and holds schemas to OpenAI's strict mode. key is the
// one that it takes; empty: it asks for none.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(api{model, key}.answer)
}

type api struct {
	model llm.Model
	key   string
}

type request struct {
	Model           string          `json:"model"`
	Messages        []message       `json:"messages"`
	Tools           []tool          `json:"tools"`
	ToolChoice      string          `json:"tool_choice"`
	ResponseFormat  *responseFormat `json:"response_format"`
	MaxTokens       int             `json:"max_tokens"`
	ReasoningEffort string          `json:"reasoning_effort"`
	Temperature     *float64        `json:"temperature"`
}

type message struct {
	Role             string         `json:"role"`
	Content          jsontext.Value `json:"content"`
	ToolCalls        []toolCall     `json:"tool_calls,omitzero"`
	ToolCallID       string         `json:"tool_call_id,omitzero"`
	ReasoningContent string         `json:"reasoning_content,omitzero"`
}

type part struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	ImageURL *struct {
		URL string `json:"url"`
	} `json:"image_url"`
}

type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

func (t tool) tool() llm.Tool {
	return llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters}
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

type responseFormat struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string         `json:"name"`
		Strict bool           `json:"strict"`
		Schema jsontext.Value `json:"schema"`
	} `json:"json_schema"`
}

// problem is a refusal, in the protocol's shape.
type problem struct {
	Message string  `json:"message"`
	Type    string  `json:"type"`
	Param   *string `json:"param"`
	Code    *string `json:"code"`
	status  int
}

func (p *problem) Error() string { return p.Message }

func refusal(status int, param, code, message string) *problem {
	return &problem{message, "invalid_request_error", &param, &code, status}
}

func (o api) answer(w http.ResponseWriter, r *http.Request, body []byte) {
	status, out := http.StatusOK, any(nil)
	resp, err := o.ask(r, body)
	switch p := (*problem)(nil); {
	case err == nil:
		out = completion(resp)
	case errors.As(err, &p):
		status, out = p.status, map[string]any{"error": p}
	default:
		status, out = http.StatusInternalServerError, map[string]any{"error": problem{Message: err.Error(), Type: "server_error"}}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, out) // the caller may be gone
}

// ask reads and checks a request, and has the model answer it.
func (o api) ask(r *http.Request, body []byte) (llm.Response, error) {
	switch given := r.Header.Get("Authorization"); {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/chat/completions":
		return llm.Response{}, refusal(http.StatusNotFound, "", "unknown_url", "Invalid URL")
	case o.key != "" && given != "Bearer "+o.key:
		return llm.Response{}, refusal(http.StatusUnauthorized, "", "invalid_api_key", "Incorrect API key provided: "+given)
	}
	var in request
	if err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return llm.Response{}, refusal(http.StatusBadRequest, "", "unknown_parameter", err.Error())
	}
	if err := check(in); err != nil {
		return llm.Response{}, err
	}
	req := llm.Request{
		ToolChoice:      llm.ToolChoice(in.ToolChoice),
		MaxOutputTokens: in.MaxTokens,
		Effort:          llm.Effort(in.ReasoningEffort),
		Temperature:     in.Temperature,
	}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.tool())
	}
	if in.ResponseFormat != nil {
		req.Schema = in.ResponseFormat.JSONSchema.Schema
	}
	if err := messagesOf(&req, in.Messages); err != nil {
		return llm.Response{}, err
	}
	return o.model.Generate(r.Context(), req)
}

// check holds what is refused of a request before it looks at the messages.
func check(in request) error {
	bad := func(param, code, message string) error {
		return refusal(http.StatusBadRequest, param, code, message)
	}
	switch {
	case in.Model == "":
		return bad("model", "missing_required_parameter", "you must provide a model parameter")
	case in.ToolChoice != "" && (len(in.Tools) == 0 || in.ToolChoice != "none"):
		return bad("tool_choice", "invalid_value", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	for _, t := range in.Tools {
		var p struct {
			Type       string         `json:"type"`
			Properties jsontext.Value `json:"properties"`
		}
		if t.Type != "function" || !validName.MatchString(t.Function.Name) ||
			json.Unmarshal(t.Function.Parameters, &p) != nil || p.Type != "object" || p.Properties.Kind() != '{' {
			return bad("tools[0].function.parameters", "invalid_function_parameters", "Invalid schema for function: object schema missing properties.")
		}
	}
	if f := in.ResponseFormat; f != nil {
		var schema any
		_ = json.Unmarshal(f.JSONSchema.Schema, &schema) // it is JSON; the body was
		wrong := notStrict(schema)
		if f.Type != "json_schema" || !validName.MatchString(f.JSONSchema.Name) || !f.JSONSchema.Strict || wrong != "" {
			return bad("response_format", "invalid_json_schema", "Invalid schema for response_format: "+wrong)
		}
	}
	return nil
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// notStrict is what strict mode refuses of a schema; empty: nothing.
func notStrict(schema any) string {
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
		if wrong := notStrict(i); wrong != "" {
			return wrong
		}
	}
	return ""
}

// messagesOf reads messages, and holds that every call is answered, by nothing else.
func messagesOf(out *llm.Request, messages []message) error {
	open := map[string]string{} // calls without a result, by id, to their names
	for i, m := range messages {
		param := fmt.Sprintf("messages.[%d]", i)
		bad := func(message string) error {
			return refusal(http.StatusBadRequest, param, "", message)
		}
		text, images, err := contentOf(m.Content)
		name, asked := open[m.ToolCallID]
		switch {
		case err != nil:
			return refusal(http.StatusBadRequest, param+".content.image_url", "", err.Error())
		case m.Role != "tool" && len(open) > 0:
			return bad("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.")
		case m.Role == "system" && i == 0:
			out.System = text
		case m.Role == "user":
			out.Messages = append(out.Messages, llm.Message{Role: llm.User, Text: text, Images: images})
		case m.Role == "assistant":
			msg := llm.Message{Role: llm.Assistant, Text: text, State: []byte(m.ReasoningContent)}
			for _, c := range m.ToolCalls {
				if c.ID == "" || c.Type != "function" || !validName.MatchString(c.Function.Name) {
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

// contentOf reads a text, parts, or nothing.
func contentOf(content jsontext.Value) (text string, images []llm.Image, err error) {
	switch {
	case len(content) == 0 || string(content) == "null":
		return "", nil, nil
	case content.Kind() == '"':
		return text, nil, json.Unmarshal(content, &text)
	}
	var parts []part
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

// completion writes a completion. Tokens written into a cache are told as since GPT-5.6.
func completion(resp llm.Response) any {
	message := map[string]any{"role": "assistant", "content": nil, "refusal": nil}
	if resp.Text != "" {
		message["content"] = resp.Text
	}
	if len(resp.State) > 0 {
		message["reasoning_content"] = string(resp.State)
	}
	var calls []toolCall
	for _, c := range resp.Calls {
		call := toolCall{ID: c.ID, Type: "function"}
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
