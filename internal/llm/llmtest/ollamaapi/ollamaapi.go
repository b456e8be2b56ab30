// Package ollamaapi is a local server of Ollama's chat protocol, for tests. A model
// answers behind it, so that what an adapter sends is read back as Ollama would.
package ollamaapi

import (
	"net/http"
	"slices"

	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest/provider"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// New makes a server of Ollama's own chat protocol, at /api/chat. It holds one model,
// whose name is the last part of what is asked for, and asks for no key where key is empty.
func New(model llm.Model, key string) *provider.Server {
	return provider.New(func(w http.ResponseWriter, r *http.Request, body []byte) {
		status, answer := answerOf(model, key, r, body)
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, answer) // the caller may be gone
	})
}

type ollamaRequest struct {
	Model    string          `json:"model"`
	Messages []ollamaMessage `json:"messages"`
	Tools    []ollamaTool    `json:"tools"`
	Format   jsontext.Value  `json:"format"`
	Think    jsontext.Value  `json:"think"`
	Options  struct {
		NumCtx      int      `json:"num_ctx"`
		NumPredict  int      `json:"num_predict"`
		Temperature *float64 `json:"temperature"`
	} `json:"options"`
	Stream   *bool `json:"stream"`
	Truncate *bool `json:"truncate"`
	Shift    *bool `json:"shift"`
}

type ollamaTool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parameters  jsontext.Value `json:"parameters"`
	} `json:"function"`
}

func (t ollamaTool) tool() llm.Tool {
	return llm.Tool{Name: t.Function.Name, Description: t.Function.Description, Parameters: t.Function.Parameters}
}

type ollamaMessage struct {
	Role       string           `json:"role"`
	Content    string           `json:"content"`
	Thinking   string           `json:"thinking,omitzero"`
	Images     [][]byte         `json:"images,omitzero"`
	ToolCalls  []ollamaToolCall `json:"tool_calls,omitzero"`
	ToolName   string           `json:"tool_name,omitzero"`
	ToolCallID string           `json:"tool_call_id,omitzero"`
}

type ollamaToolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string         `json:"name"`
		Arguments jsontext.Value `json:"arguments"`
	} `json:"function"`
}

func answerOf(model llm.Model, key string, r *http.Request, body []byte) (status int, answer any) {
	var in ollamaRequest
	refuse := func(status int, message string) (int, any) { return status, map[string]string{"error": message} }
	switch err := json.Unmarshal(body, &in, json.RejectUnknownMembers(true)); {
	case r.Method != http.MethodPost || r.URL.Path != "/api/chat":
		return http.StatusNotFound, "404 page not found"
	case key != "" && r.Header.Get("Authorization") != "Bearer "+key:
		return refuse(http.StatusUnauthorized, "unauthorized")
	case err != nil:
		return refuse(http.StatusBadRequest, err.Error())
	case in.Model == "":
		return refuse(http.StatusBadRequest, "model is required")
	case in.Stream == nil || *in.Stream:
		return refuse(http.StatusNotImplemented, "this server does not stream")
	case len(in.Format) > 0 && in.Format.Kind() != '{' && string(in.Format) != `"json"`:
		return refuse(http.StatusBadRequest, "invalid format: expected \"json\" or a JSON schema")
	}
	req := llm.Request{Schema: in.Format, MaxOutputTokens: in.Options.NumPredict, Temperature: in.Options.Temperature}
	for _, t := range in.Tools {
		req.Tools = append(req.Tools, t.tool())
	}
	for _, m := range in.Messages {
		switch last := len(req.Messages) - 1; {
		case !slices.Contains([]string{"system", "user", "assistant", "tool"}, m.Role):
			return refuse(http.StatusBadRequest, "invalid role: "+m.Role)
		case slices.ContainsFunc(m.ToolCalls, func(c ollamaToolCall) bool { return c.Function.Arguments.Kind() != '{' }):
			return refuse(http.StatusBadRequest, "json: cannot unmarshal string into Go struct field api.ToolCallFunctionArguments")
		case m.Role == "system":
			req.System = m.Content
		case m.Role == "tool" && last >= 0 && req.Messages[last].Role == llm.ToolResult:
			req.Messages[last].Results = append(req.Messages[last].Results, m.result())
		default:
			req.Messages = append(req.Messages, m.message())
		}
	}
	resp, err := model.Generate(r.Context(), req)
	if err != nil {
		return refuse(http.StatusInternalServerError, err.Error())
	}
	return http.StatusOK, ollamaDone(resp)
}

func (m ollamaMessage) result() llm.Result {
	return llm.Result{CallID: m.ToolCallID, Name: m.ToolName, Content: []byte(m.Content)}
}

func (m ollamaMessage) message() llm.Message {
	if m.Role == "tool" {
		return llm.Message{Role: llm.ToolResult, Results: []llm.Result{m.result()}}
	}
	out := llm.Message{Role: llm.Role(m.Role), Text: m.Content, State: []byte(m.Thinking)}
	for _, data := range m.Images {
		out.Images = append(out.Images, llm.Image{Data: data}) // the protocol says no media type
	}
	for _, c := range m.ToolCalls {
		out.Calls = append(out.Calls, llm.ToolCall{ID: c.ID, Name: c.Function.Name, Arguments: c.Function.Arguments})
	}
	return out
}

func ollamaDone(resp llm.Response) any {
	message := ollamaMessage{Role: "assistant", Content: resp.Text, Thinking: string(resp.State)}
	for _, c := range resp.Calls {
		call := ollamaToolCall{ID: c.ID}
		call.Function.Name, call.Function.Arguments = c.Name, c.Arguments
		message.ToolCalls = append(message.ToolCalls, call)
	}
	reason := "stop"
	if resp.Stop == llm.StopLength {
		reason = "length"
	}
	return map[string]any{"model": "scripted", "message": message, "done": true, "done_reason": reason,
		"prompt_eval_count": resp.Usage.Input, "prompt_eval_cached_count": resp.Usage.Cached, "eval_count": resp.Usage.Output}
}
