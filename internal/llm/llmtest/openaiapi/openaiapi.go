// Package openaiapi is a local server of OpenAI's Responses API, for tests. A model
// answers behind it, so that what an adapter sends is read back as OpenAI would.
package openaiapi

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// New makes a server of OpenAI's Responses API that takes one key. It refuses what the
// API refuses of a request that it is not to keep, in its words where they are known. The
// state of an answer is its reasoning, and comes back as such.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(func(w http.ResponseWriter, r *http.Request, body []byte) {
		status, answer := responding{model, key}.answer(r, body)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, answer, json.Deterministic(true)) // the caller may be gone
	})
}

type responding struct {
	model llm.Model
	key   string
}

// responseError is an error as the API writes it.
type responseError struct {
	status               int
	message, param, code string
}

func (e responseError) Error() string { return e.message }

func refusesResponse(param, code, format string, args ...any) error {
	return responseError{http.StatusBadRequest, fmt.Sprintf(format, args...), param, code}
}

func (r responding) answer(req *http.Request, body []byte) (int, any) {
	resp, in, err := r.generate(req, body)
	if err == nil {
		return http.StatusOK, responseOf(resp, in)
	}
	kind, e := "invalid_request_error", responseError{}
	if !errors.As(err, &e) {
		kind, e = "server_error", responseError{http.StatusInternalServerError, err.Error(), "", ""}
	}
	orNull := func(s string) any {
		if s == "" {
			return nil
		}
		return s
	}
	return e.status, map[string]any{"error": map[string]any{"message": e.message, "type": kind, "param": orNull(e.param), "code": orNull(e.code)}}
}

func (r responding) generate(req *http.Request, body []byte) (resp llm.Response, in responseRequest, err error) {
	given := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	switch {
	case req.Method != http.MethodPost || req.URL.Path != "/v1/responses":
		return resp, in, responseError{http.StatusNotFound, "Invalid URL (" + req.Method + " " + req.URL.Path + ")", "", ""}
	case given != r.key:
		return resp, in, responseError{http.StatusUnauthorized, "Incorrect API key provided: " + given + ".", "", "invalid_api_key"}
	case req.Header.Get("Content-Type") != "application/json":
		return resp, in, refusesResponse("", "", "The body is not JSON.")
	}
	if err = json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); err != nil {
		return resp, in, refusesResponse("", "unknown_parameter", "Unknown parameter: %v", err)
	}
	out, err := in.request()
	if err == nil {
		resp, err = r.model.Generate(req.Context(), out)
	}
	return resp, in, err
}

type responseRequest struct {
	Model string           `json:"model"`
	Input []jsontext.Value `json:"input"`
	Tools []struct {
		Type        string         `json:"type"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
		Strict      *bool          `json:"strict"`
	} `json:"tools"`
	ToolChoice string `json:"tool_choice"`
	Text       *struct {
		Format struct {
			Type   string         `json:"type"`
			Name   string         `json:"name"`
			Schema jsontext.Value `json:"schema"`
			Strict bool           `json:"strict"`
		} `json:"format"`
	} `json:"text"`
	MaxOutputTokens *int `json:"max_output_tokens"`
	Reasoning       *struct {
		Effort string `json:"effort"`
	} `json:"reasoning"`
	Temperature    *float64 `json:"temperature"`
	Include        []string `json:"include"`
	PromptCacheKey string   `json:"prompt_cache_key"`
	Store          *bool    `json:"store"`
}

var responseName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

// request checks a request as a whole, and then its parts.
func (in responseRequest) request() (out llm.Request, err error) {
	switch {
	case in.Model == "":
		return out, refusesResponse("model", "missing_required_parameter", "Missing required parameter: 'model'.")
	case len(in.Input) == 0:
		return out, refusesResponse("input", "missing_required_parameter", "One of 'input' or 'previous_response_id' must be provided.")
	case in.Store == nil || *in.Store:
		return out, refusesResponse("store", "", "This server keeps nothing.")
	case len(in.PromptCacheKey) > 64:
		return out, refusesResponse("prompt_cache_key", "string_above_max_length", "Invalid 'prompt_cache_key': string too long.")
	case in.ToolChoice != "" && in.ToolChoice != "none" && in.ToolChoice != "auto":
		return out, refusesResponse("tool_choice", "invalid_value", "Invalid value: '%s'.", in.ToolChoice)
	case in.ToolChoice != "" && len(in.Tools) == 0:
		return out, refusesResponse("tool_choice", "", "Tool choice must be specified with 'tools' parameter.")
	case len(in.Include) > 0 && !slices.Equal(in.Include, []string{"reasoning.encrypted_content"}):
		return out, refusesResponse("include", "invalid_value", "Invalid value: '%s'.", in.Include)
	case len(in.Include) > 0 && !in.reasons():
		return out, refusesResponse("include", "", "Encrypted content is not supported with this model.")
	}
	out.ToolChoice = llm.ToolChoice(in.ToolChoice)
	if err := in.knobs(&out); err != nil {
		return out, err
	}
	if err := in.schemas(&out); err != nil {
		return out, err
	}
	return out, in.items(&out)
}

func (in responseRequest) reasons() bool {
	return strings.HasPrefix(in.Model, "gpt-5") || strings.HasPrefix(in.Model, "gpt-6") || strings.HasPrefix(in.Model, "o")
}

// marks reports whether the model's cache takes marks.
func (in responseRequest) marks() bool {
	return strings.HasPrefix(in.Model, "gpt-5.6") || strings.HasPrefix(in.Model, "gpt-6")
}

func (in responseRequest) knobs(out *llm.Request) error {
	if n := in.MaxOutputTokens; n != nil {
		if *n < 16 {
			return refusesResponse("max_output_tokens", "integer_below_min_value", "Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16, but got %d instead.", *n)
		}
		out.MaxOutputTokens = *n
	}
	if in.Reasoning != nil {
		out.Effort = llm.Effort(in.Reasoning.Effort)
		efforts := []string{"low", "medium", "high"}
		if strings.HasPrefix(in.Model, "gpt-5-") || in.Model == "gpt-5" {
			efforts = append(efforts, "minimal")
		}
		switch {
		case !in.reasons():
			return refusesResponse("reasoning.effort", "unsupported_parameter", "Unsupported parameter: 'reasoning.effort' is not supported with this model.")
		case !slices.Contains(efforts, in.Reasoning.Effort):
			return refusesResponse("reasoning.effort", "unsupported_value", "Unsupported value: '%s' is not supported with the '%s' model.", in.Reasoning.Effort, in.Model)
		}
	}
	if in.Temperature != nil {
		if *in.Temperature < 0 || *in.Temperature > 2 || in.Reasoning != nil {
			return refusesResponse("temperature", "unsupported_parameter", "Unsupported parameter: 'temperature' is not supported with this model.")
		}
		out.Temperature = in.Temperature
	}
	return nil
}

// schemas reads the tools and the form of the answer.
func (in responseRequest) schemas(out *llm.Request) error {
	for i, t := range in.Tools {
		var p struct {
			Type       string         `json:"type"`
			Properties jsontext.Value `json:"properties"`
		}
		at := fmt.Sprintf("tools[%d]", i)
		switch {
		case t.Type != "function":
			return refusesResponse(at+".type", "invalid_value", "Invalid value: '%s'.", t.Type)
		case !responseName.MatchString(t.Name):
			return refusesResponse(at+".name", "invalid_value", "Invalid '%s.name': string does not match pattern.", at)
		case json.Unmarshal(t.Parameters, &p) != nil || p.Type != "object" || p.Properties.Kind() != '{':
			return refusesResponse(at+".parameters", "invalid_function_parameters", "Invalid schema for function '%s': object schema missing properties.", t.Name)
		case t.Strict == nil || *t.Strict:
			if err := strictResponse(t.Parameters); err != nil {
				return refusesResponse(at+".parameters", "invalid_function_parameters", "Invalid schema for function '%s': %v", t.Name, err)
			}
		}
		out.Tools = append(out.Tools, llm.Tool{Name: t.Name, Description: t.Description, Parameters: t.Parameters})
	}
	if in.Text == nil {
		return nil
	}
	f := in.Text.Format
	if f.Type != "json_schema" || !f.Strict || !responseName.MatchString(f.Name) {
		return refusesResponse("text.format", "invalid_value", "Invalid 'text.format'.")
	}
	if err := strictResponse(f.Schema); err != nil {
		return refusesResponse("text.format.schema", "invalid_json_schema", "Invalid schema for response_format '%s': %v", f.Name, err)
	}
	out.Schema = f.Schema
	return nil
}

// strictResponse refuses a schema that strict mode does.
func strictResponse(schema jsontext.Value) error {
	var keywords map[string]jsontext.Value
	if err := json.Unmarshal(schema, &keywords); err != nil {
		return errors.New("not an object")
	}
	var inner []jsontext.Value
	var properties map[string]jsontext.Value
	var required []string
	for keyword, value := range keywords {
		var err error
		var named map[string]jsontext.Value
		var all []jsontext.Value
		switch keyword {
		case "type", "description", "enum", "const", "$ref", "additionalProperties", "minimum", "maximum", "minItems", "maxItems":
		case "required":
			err = json.Unmarshal(value, &required)
		case "properties":
			err = json.Unmarshal(value, &properties)
			named = properties
		case "$defs":
			err = json.Unmarshal(value, &named)
		case "items":
			inner = append(inner, value)
		case "anyOf":
			err = json.Unmarshal(value, &all)
		default:
			return fmt.Errorf("'%s' is not permitted", keyword)
		}
		if err != nil {
			return err
		}
		inner = append(inner, all...)
		for _, s := range named {
			inner = append(inner, s)
		}
	}
	if string(keywords["type"]) == `"object"` {
		if string(keywords["additionalProperties"]) != "false" {
			return errors.New("'additionalProperties' is required to be supplied and to be false")
		}
		for name := range properties {
			if !slices.Contains(required, name) {
				return fmt.Errorf("'required' is required to be an array including every key in properties. Missing '%s'", name)
			}
		}
	}
	for _, s := range inner {
		if err := strictResponse(s); err != nil {
			return err
		}
	}
	return nil
}

type responseItem struct {
	ID        *string        `json:"id"`
	Type      string         `json:"type"`
	Role      string         `json:"role"`
	Phase     string         `json:"phase"`
	Content   []responsePart `json:"content"`
	Summary   jsontext.Value `json:"summary"`
	Encrypted string         `json:"encrypted_content"`
	CallID    string         `json:"call_id"`
	Name      string         `json:"name"`
	Arguments *string        `json:"arguments"`
	Output    *string        `json:"output"`
}

type responsePart struct {
	Type       string `json:"type"`
	Text       string `json:"text"`
	ImageURL   string `json:"image_url"`
	Detail     string `json:"detail"`
	Breakpoint *struct {
		Mode string `json:"mode"`
	} `json:"prompt_cache_breakpoint"`
}

// items reads the input. Items of the model in a row are one message; every call is
// answered before anything else, and a reasoning is followed by what it led to.
func (in responseRequest) items(out *llm.Request) error {
	open := map[string]string{} // calls without a result, by id, to their names
	reasoned := false
	for n, value := range in.Input {
		var i responseItem
		at := fmt.Sprintf("input[%d]", n)
		if err := json.Unmarshal(value, &i, json.RejectUnknownMembers(true)); err != nil {
			return refusesResponse(at, "unknown_parameter", "Unknown parameter: %v", err)
		}
		model := i.Type == "reasoning" || i.Type == "function_call" || i.Role == "assistant"
		switch {
		case i.ID != nil:
			return responseError{http.StatusNotFound, "Item with id '" + *i.ID + "' not found. Items are not persisted when `store` is set to false.", "input", ""}
		case len(open) > 0 && i.Type != "function_call" && i.Type != "function_call_output" && i.Type != "reasoning":
			return refusesResponse("input", "", "No tool output found for function call.")
		case reasoned && !model:
			return refusesResponse("input", "", "Item of type 'reasoning' was provided without its required following item.")
		}
		reasoned = i.Type == "reasoning"
		if last := len(out.Messages) - 1; model && (last < 0 || out.Messages[last].Role != llm.Assistant) {
			out.Messages = append(out.Messages, llm.Message{Role: llm.Assistant})
		}
		if err := in.item(out, i, at, open); err != nil {
			return err
		}
	}
	if len(open) > 0 || reasoned {
		return refusesResponse("input", "", "No tool output found for function call.")
	}
	return nil
}

// item reads one item; of the model, into the last message.
func (in responseRequest) item(out *llm.Request, i responseItem, at string, open map[string]string) error {
	last := len(out.Messages) - 1
	switch i.Type {
	case "message":
		return in.message(out, i, at)
	case "reasoning":
		state, err := base64.StdEncoding.DecodeString(i.Encrypted)
		if err != nil || i.Summary.Kind() != '[' || i.Encrypted == "" {
			return refusesResponse("", "invalid_encrypted_content", "The encrypted content could not be verified.")
		}
		out.Messages[last].State = state
	case "function_call":
		if !responseName.MatchString(i.Name) || i.CallID == "" || len(i.CallID) > 64 || i.Arguments == nil {
			return refusesResponse(at, "invalid_value", "Invalid '%s'.", at)
		}
		open[i.CallID] = i.Name
		out.Messages[last].Calls = append(out.Messages[last].Calls, llm.ToolCall{ID: i.CallID, Name: i.Name, Arguments: []byte(*i.Arguments)})
	case "function_call_output":
		name, asked := open[i.CallID]
		if !asked || i.Output == nil {
			return refusesResponse("input", "", "No tool call found for function call output with call_id %s.", i.CallID)
		}
		delete(open, i.CallID)
		if last < 0 || out.Messages[last].Role != llm.ToolResult {
			out.Messages = append(out.Messages, llm.Message{Role: llm.ToolResult})
			last++
		}
		out.Messages[last].Results = append(out.Messages[last].Results, llm.Result{CallID: i.CallID, Name: name, Content: []byte(*i.Output)})
	default:
		return refusesResponse(at, "invalid_value", "Invalid value: '%s'.", i.Type)
	}
	return nil
}

func (in responseRequest) message(out *llm.Request, i responseItem, at string) error {
	msg := llm.Message{Role: llm.Role(i.Role)}
	kind := "input_text"
	if i.Role == "assistant" {
		kind = "output_text"
	}
	for n, p := range i.Content {
		media, data, isData := strings.Cut(strings.TrimPrefix(p.ImageURL, "data:"), ";base64,")
		decoded, err := base64.StdEncoding.DecodeString(data)
		switch {
		case p.Breakpoint != nil && !in.marks():
			return refusesResponse(at, "unsupported_parameter", "Unsupported parameter: 'prompt_cache_breakpoint' is not supported with this model.")
		case p.Type == kind && p.Text != "" && p.ImageURL == "":
			msg.Text += p.Text
		case p.Type == "input_image" && i.Role == "user" && isData && err == nil && len(decoded) > 0 && strings.HasPrefix(media, "image/"):
			msg.Images = append(msg.Images, llm.Image{MediaType: media, Data: decoded})
		default:
			return refusesResponse(fmt.Sprintf("%s.content[%d]", at, n), "invalid_value", "Invalid value: '%s'.", p.Type)
		}
	}
	switch {
	case len(i.Content) == 0:
		return refusesResponse(at+".content", "missing_required_parameter", "Missing required parameter: '%s.content'.", at)
	case i.Role == "developer" && at == "input[0]":
		out.System = msg.Text
	case i.Role == "user":
		out.Messages = append(out.Messages, msg)
	case i.Role == "assistant":
		out.Messages[len(out.Messages)-1].Text += msg.Text
	default:
		return refusesResponse(at+".role", "invalid_value", "Invalid value: '%s'.", i.Role)
	}
	return nil
}

// responseOf writes an answer. Its reasoning can be read only when that was asked for.
func responseOf(resp llm.Response, in responseRequest) any {
	output := []any{}
	if len(resp.State) > 0 {
		reasoning := map[string]any{"type": "reasoning", "id": "rs_1", "summary": []any{}}
		if len(in.Include) > 0 {
			reasoning["encrypted_content"] = base64.StdEncoding.EncodeToString(resp.State)
		}
		output = append(output, reasoning)
	}
	said := map[string]any{"type": "output_text", "text": resp.Text, "annotations": []any{}, "logprobs": []any{}}
	if resp.Stop == llm.StopRefusal {
		said = map[string]any{"type": "refusal", "refusal": "I cannot help with that."}
	}
	if resp.Text != "" || resp.Stop == llm.StopRefusal {
		output = append(output, map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{said}})
	}
	for i, c := range resp.Calls {
		output = append(output, map[string]any{"type": "function_call", "id": fmt.Sprintf("fc_%d", i), "call_id": c.ID, "name": c.Name, "arguments": string(c.Arguments), "status": "completed"})
	}
	status, incomplete := "completed", any(nil)
	if resp.Stop == llm.StopLength {
		status, incomplete = "incomplete", map[string]any{"reason": "max_output_tokens"}
	}
	u := resp.Usage
	return map[string]any{
		"id": "resp_1", "object": "response", "created_at": 1, "model": in.Model, "status": status,
		"error": nil, "incomplete_details": incomplete, "output": output, "store": false,
		"usage": map[string]any{
			"input_tokens": u.Input, "output_tokens": u.Output, "total_tokens": u.Input + u.Output,
			"input_tokens_details":  map[string]any{"cached_tokens": u.Cached, "cache_write_tokens": u.Written},
			"output_tokens_details": map[string]any{"reasoning_tokens": 0},
		},
	}
}
