// Package googleapi is a local server of Google's Gemini Developer API, for tests. A model
// answers behind it, so that what an adapter sends is read back as Google would.
package googleapi

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
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

// New makes Google's Gemini Developer API for one key. Every model name is served; what
// it takes goes by the version in it. From Gemini 3 on a model gives its calls ids and
// signs the first of them, and wants both back.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(func(w http.ResponseWriter, r *http.Request, body []byte) {
		status, answer := googleAnswer(model, key, r, body)
		b, err := json.Marshal(answer, json.Deterministic(true))
		if err != nil { // a call of the model's whose arguments are not JSON
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=UTF-8")
		w.WriteHeader(status)
		_, _ = w.Write(b) // the caller may be gone
	})
}

type gRequest struct {
	System     *gContent  `json:"systemInstruction"`
	Contents   []gContent `json:"contents"`
	Tools      []gTools   `json:"tools"`
	ToolConfig *struct {
		Calling struct {
			Mode string `json:"mode"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation struct {
		Temperature *float64       `json:"temperature"`
		MaxOutput   int            `json:"maxOutputTokens"`
		MediaType   string         `json:"responseMimeType"`
		Schema      jsontext.Value `json:"responseJsonSchema"`
		Thinking    *struct {
			Budget *int   `json:"thinkingBudget"`
			Level  string `json:"thinkingLevel"`
		} `json:"thinkingConfig"`
	} `json:"generationConfig"`
}

type gTools struct {
	Functions []struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parametersJsonSchema"`
	} `json:"functionDeclarations"`
}

type gContent struct {
	Role  string  `json:"role,omitzero"`
	Parts []gPart `json:"parts,omitzero"`
}

type gPart struct {
	Text  *string `json:"text,omitzero"`
	Image *struct {
		MediaType string `json:"mimeType"`
		Data      []byte `json:"data"`
	} `json:"inlineData,omitzero"`
	Call      *gCall   `json:"functionCall,omitzero"`
	Result    *gResult `json:"functionResponse,omitzero"`
	Signature string   `json:"thoughtSignature,omitzero"`
}

type gCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args,omitzero"`
}

type gResult struct {
	ID       string         `json:"id"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
}

var gPath = regexp.MustCompile(`^/v1beta/models/([a-zA-Z0-9._-]+):generateContent$`)

func googleAnswer(model llm.Model, key string, r *http.Request, body []byte) (int, any) {
	path := gPath.FindStringSubmatch(r.URL.Path)
	switch given := r.Header.Get("X-Goog-Api-Key"); {
	case path == nil || r.Method != http.MethodPost || r.URL.RawQuery != "":
		return gError(http.StatusNotFound, "NOT_FOUND", "The requested URL was not found on this server.")
	case given == "":
		return gError(http.StatusForbidden, "PERMISSION_DENIED", "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.")
	case given != key:
		return gError(http.StatusBadRequest, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", map[string]any{"reason": "API_KEY_INVALID"})
	}
	var req gRequest
	if err := json.Unmarshal(body, &req, json.RejectUnknownMembers(true)); err != nil {
		return gUnreadable(err)
	}
	name := path[1]
	if wrong := req.check(name, gVersion(name)); wrong != "" {
		return gError(http.StatusBadRequest, "INVALID_ARGUMENT", wrong)
	}
	resp, err := model.Generate(r.Context(), req.request())
	if err != nil {
		return gFailed(err)
	}
	return http.StatusOK, gEncode(name, resp)
}

func gError(code int, status, message string, details ...any) (int, any) {
	e := map[string]any{"code": code, "message": message, "status": status}
	if len(details) > 0 {
		e["details"] = details
	}
	return code, map[string]any{"error": e}
}

func gUnreadable(err error) (int, any) {
	message := "Invalid JSON payload received. " + err.Error()
	if e, ok := errors.AsType[*json.SemanticError](err); ok {
		message = fmt.Sprintf("Invalid JSON payload received. Unknown name %q at '%s': Cannot find field.", e.JSONPointer.LastToken(), e.JSONPointer.Parent())
	}
	return gError(http.StatusBadRequest, "INVALID_ARGUMENT", message, map[string]any{"fieldViolations": []any{map[string]any{"description": message}}})
}

func gFailed(err error) (int, any) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return gError(http.StatusInternalServerError, "INTERNAL", "An internal error has occurred.")
	}
	switch e.Kind {
	case llm.KindRateLimited:
		return gError(http.StatusTooManyRequests, "RESOURCE_EXHAUSTED", e.Message, map[string]any{"retryDelay": fmt.Sprintf("%gs", e.RetryAfter.Seconds())})
	case llm.KindOverloaded:
		return gError(http.StatusServiceUnavailable, "UNAVAILABLE", e.Message)
	case llm.KindUnauthorized:
		return gError(http.StatusForbidden, "PERMISSION_DENIED", e.Message)
	case llm.KindRejected:
		return gError(http.StatusBadRequest, "INVALID_ARGUMENT", e.Message)
	}
	return gError(http.StatusInternalServerError, "INTERNAL", e.Message)
}

// gVersion is the version of a Gemini model by its name; one without is the newest.
func gVersion(name string) float64 {
	version, err := strconv.ParseFloat(strings.Split(strings.TrimPrefix(name, "gemini-"), "-")[0], 64)
	if err != nil {
		return 99
	}
	return version
}

// check is what Google would say against a request; empty: nothing.
func (r gRequest) check(model string, version float64) string {
	g := r.Generation
	mode := "AUTO"
	if r.ToolConfig != nil {
		mode = r.ToolConfig.Calling.Mode
	}
	switch {
	case mode != "AUTO" && mode != "NONE":
		return "Invalid value at 'tool_config.function_calling_config.mode'"
	case r.ToolConfig != nil && len(r.Tools) == 0:
		return "Function calling config is set without function_declarations."
	case g.Temperature != nil && (*g.Temperature < 0 || *g.Temperature > 2):
		return "* GenerateContentRequest.generation_config.temperature: temperature must be in the range [0.0, 2.0].\n"
	case len(g.Schema) > 0 && g.MediaType != "application/json":
		return "* GenerateContentRequest.generation_config.response_json_schema: only allowed when the response mime type is application/json\n"
	case g.MediaType != "" && len(r.Tools) > 0 && mode == "AUTO" && version < 3:
		return "Function calling with a response mime type: 'application/json' is unsupported"
	}
	if keyword := gRefusedKeyword(g.Schema); keyword != "" {
		return "Unknown keyword " + keyword + " in generation_config.response_json_schema."
	}
	return cmp.Or(r.checkThinking(model, version), r.checkTools(), r.checkContents(model, version))
}

func (r gRequest) checkThinking(model string, version float64) string {
	t := r.Generation.Thinking
	switch {
	case t == nil:
		return ""
	case t.Budget != nil && t.Level != "":
		return "You can only set only one of thinking budget and thinking level."
	case version < 2.5:
		return "thinking_config is not supported."
	case t.Level != "" && version < 3:
		return "Thinking level is not supported for this model."
	case t.Budget != nil && version >= 4:
		return "Thinking budget is not supported for this model."
	case t.Budget != nil && (*t.Budget < 512 || *t.Budget > 24576):
		return fmt.Sprintf("The thinking budget %d is invalid. Please choose a value between 512 and 24576.", *t.Budget)
	case t.Level == "MINIMAL" && (version >= 3.7 || !strings.Contains(model, "flash")):
		return "Thinking level MINIMAL is not supported for this model."
	case !slices.Contains([]string{"", "MINIMAL", "LOW", "MEDIUM", "HIGH"}, t.Level):
		return "Invalid value at 'generation_config.thinking_config.thinking_level'"
	}
	return ""
}

var gName = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)

func (r gRequest) checkTools() string {
	for i, tools := range r.Tools {
		for j, f := range tools.Functions {
			at := fmt.Sprintf("* GenerateContentRequest.tools[%d].function_declarations[%d]", i, j)
			if !gName.MatchString(f.Name) {
				return at + ".name: Invalid function name.\n"
			}
			if len(f.Parameters) == 0 {
				continue
			}
			var p struct {
				Properties map[string]jsontext.Value `json:"properties"`
			}
			if err := json.Unmarshal(f.Parameters, &p); err != nil || len(p.Properties) == 0 {
				return at + ".parameters.properties: should be non-empty for OBJECT type\n"
			}
			if keyword := gRefusedKeyword(f.Parameters); keyword != "" {
				return at + ".parameters: Unknown keyword " + keyword + "\n"
			}
		}
	}
	return ""
}

// gRefusedKeyword finds a keyword of a schema that Google's list of supported ones does
// not have; empty: there is none.
func gRefusedKeyword(schema jsontext.Value) string {
	var members map[string]jsontext.Value
	if len(schema) == 0 || json.Unmarshal(schema, &members) != nil {
		return "" // absent, or a boolean
	}
	for name, v := range members {
		below := []jsontext.Value{v}
		switch name {
		case "$id", "$ref", "$anchor", "type", "format", "title", "description", "enum", "minItems", "maxItems",
			"minimum", "maximum", "required", "propertyOrdering":
			continue
		case "items", "additionalProperties":
		case "properties", "$defs":
			var named map[string]jsontext.Value
			_ = json.Unmarshal(v, &named) // not an object: nothing below
			below = slices.Collect(maps.Values(named))
		case "prefixItems", "anyOf", "oneOf":
			_ = json.Unmarshal(v, &below)
		default:
			return name
		}
		for _, s := range below {
			if keyword := gRefusedKeyword(s); keyword != "" {
				return keyword
			}
		}
	}
	return ""
}

func (r gRequest) checkContents(model string, version float64) string {
	if len(r.Contents) == 0 {
		return "* GenerateContentRequest.contents: contents is not specified\n"
	}
	if r.System != nil && (len(r.System.Parts) != 1 || r.System.Parts[0].Text == nil || *r.System.Parts[0].Text == "") {
		return "* GenerateContentRequest.system_instruction: must be one text\n"
	}
	if r.Contents[len(r.Contents)-1].Role == "model" && version >= 4 {
		return "Requests that end with a turn of the model are not supported for this model."
	}
	for i, c := range r.Contents {
		at := fmt.Sprintf("* GenerateContentRequest.contents[%d]", i)
		if c.Role != "user" && c.Role != "model" {
			return "Please use a valid role: user, model."
		}
		if len(c.Parts) == 0 {
			return at + ".parts: contents.parts must not be empty.\n"
		}
		for j, p := range c.Parts {
			if wrong := p.check(c.Role); wrong != "" {
				return fmt.Sprintf("%s.parts[%d]%s\n", at, j, wrong)
			}
		}
		var next []gPart
		if i+1 < len(r.Contents) {
			next = r.Contents[i+1].Parts
		}
		if wrong := c.checkCalls(model, version, next); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (p gPart) check(role string) string {
	set := []bool{p.Text != nil, p.Image != nil, p.Call != nil, p.Result != nil}
	switch {
	case len(slices.DeleteFunc(set, func(is bool) bool { return !is })) != 1:
		return ".data: required oneof field 'data' must have one initialized field"
	case p.Text != nil && *p.Text == "":
		return ".text: must not be empty"
	case p.Image != nil && !slices.Contains([]string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}, p.Image.MediaType):
		return ".inline_data: Unsupported MIME type: " + p.Image.MediaType
	case p.Call != nil && (role != "model" || !gName.MatchString(p.Call.Name) || p.Call.Args.Kind() != '{'):
		return ".function_call: is not valid"
	case p.Result != nil && (role != "user" || !gName.MatchString(p.Result.Name) || p.Result.Response.Kind() != '{'):
		return ".function_response: is not valid"
	}
	return ""
}

// checkCalls compares the calls of a content with the results behind it.
func (c gContent) checkCalls(model string, version float64, next []gPart) string {
	var calls []gPart
	for _, p := range c.Parts {
		if p.Call != nil {
			calls = append(calls, p)
		}
	}
	if len(calls) == 0 {
		return ""
	}
	if version >= 3 && calls[0].Signature == "" {
		return "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly."
	}
	if len(calls) != len(next) {
		return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
	}
	for i, p := range calls {
		if p.Signature != "" && p.Signature != "skip_thought_signature_validator" && p.Signature != gSignature(model, p.Call.Name) {
			return "Corrupted thought signature."
		}
		if r := next[i].Result; r == nil || r.Name != p.Call.Name || r.ID != p.Call.ID {
			return "functionResponse.id does not match functionCall.id"
		}
	}
	return ""
}

// gSignature is what a model signs a call with.
func gSignature(model, name string) string {
	return base64.StdEncoding.EncodeToString([]byte("signed by " + model + ": " + name))
}

// request is the request in this program's terms. What a call has no id for is call_1,
// call_2 and so on, as the adapter numbers them.
func (r gRequest) request() llm.Request {
	var req llm.Request
	if r.System != nil {
		req.System = *r.System.Parts[0].Text
	}
	for _, c := range r.Contents {
		req.Messages = append(req.Messages, c.message())
	}
	for _, tools := range r.Tools {
		for _, f := range tools.Functions {
			req.Tools = append(req.Tools, llm.Tool{Name: f.Name, Description: f.Description, Parameters: f.Parameters})
		}
	}
	switch {
	case r.ToolConfig != nil && r.ToolConfig.Calling.Mode == "NONE":
		req.ToolChoice = llm.ToolsNone
	case len(req.Tools) > 0:
		req.ToolChoice = llm.ToolsAuto
	}
	g := r.Generation
	req.Temperature, req.MaxOutputTokens, req.Schema = g.Temperature, g.MaxOutput, g.Schema
	if t := g.Thinking; t != nil {
		req.Effort = llm.Effort(strings.ToLower(t.Level))
		req.ReasoningTokens = req.Effort.Tokens()
		if t.Budget != nil {
			req.ReasoningTokens = *t.Budget
		}
		req.MaxOutputTokens -= req.ReasoningTokens
	}
	return req
}

func (c gContent) message() llm.Message {
	m := llm.Message{Role: llm.User}
	if c.Role == "model" {
		m.Role = llm.Assistant
	}
	id := func(given string, n int) string { return cmp.Or(given, fmt.Sprintf("call_%d", n+1)) }
	for _, p := range c.Parts {
		switch {
		case p.Text != nil:
			m.Text += *p.Text
		case p.Image != nil:
			m.Images = append(m.Images, llm.Image{MediaType: p.Image.MediaType, Data: p.Image.Data})
		case p.Call != nil:
			m.Calls = append(m.Calls, llm.ToolCall{ID: id(p.Call.ID, len(m.Calls)), Name: p.Call.Name, Arguments: p.Call.Args})
		case p.Result != nil:
			m.Role = llm.ToolResult
			m.Results = append(m.Results, llm.Result{CallID: id(p.Result.ID, len(m.Results)), Name: p.Result.Name, Content: p.Result.Response})
		}
	}
	return m
}

// gEncode is an answer as a model gives it. A third of the output are thoughts.
func gEncode(model string, resp llm.Response) any {
	signs := gVersion(model) >= 3
	var c gContent
	if resp.Text != "" {
		c.Parts = append(c.Parts, gPart{Text: &resp.Text})
	}
	for i, call := range resp.Calls {
		p := gPart{Call: &gCall{Name: call.Name, Args: call.Arguments}}
		if signs {
			p.Call.ID = call.ID
		}
		if signs && i == 0 {
			p.Signature = gSignature(model, call.Name)
		}
		c.Parts = append(c.Parts, p)
	}
	if len(c.Parts) > 0 {
		c.Role = "model"
	}
	reason := cmp.Or(map[llm.Stop]string{llm.StopLength: "MAX_TOKENS", llm.StopRefusal: "SAFETY"}[resp.Stop], "STOP")
	u, thoughts := resp.Usage, resp.Usage.Output/3
	return map[string]any{
		"candidates": []any{map[string]any{"content": c, "finishReason": reason, "index": 0}},
		"usageMetadata": map[string]any{
			"promptTokenCount": u.Input, "cachedContentTokenCount": u.Cached,
			"candidatesTokenCount": u.Output - thoughts, "thoughtsTokenCount": thoughts, "totalTokenCount": u.Input + u.Output,
		},
		"modelVersion": model,
	}
}
