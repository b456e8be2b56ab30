package google

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/wire"
)

// The shapes below are those of https://ai.google.dev/api/generate-content.

type request struct {
	System     *content    `json:"systemInstruction,omitzero"`
	Tools      []toolbox   `json:"tools,omitzero"`
	ToolConfig *toolConfig `json:"toolConfig,omitzero"`
	Contents   []content   `json:"contents"`
	Generation generation  `json:"generationConfig,omitzero"`
}

type content struct {
	Role  string `json:"role,omitzero"`
	Parts []part `json:"parts"`
}

// part holds exactly one of its first four, and Signature beside a text or a call.
type part struct {
	Text      *string           `json:"text,omitzero"`
	Image     *blob             `json:"inlineData,omitzero"`
	Call      *functionCall     `json:"functionCall,omitzero"`
	Result    *functionResponse `json:"functionResponse,omitzero"`
	Signature string            `json:"thoughtSignature,omitzero"`
}

type blob struct {
	MediaType string `json:"mimeType"`
	Data      []byte `json:"data"`
}

type functionCall struct {
	ID   string         `json:"id,omitzero"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args,omitzero"`
}

type functionResponse struct {
	ID       string         `json:"id,omitzero"`
	Name     string         `json:"name"`
	Response jsontext.Value `json:"response"`
}

type toolbox struct {
	Functions []function `json:"functionDeclarations"`
}

type function struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitzero"`
	Parameters  jsontext.Value `json:"parametersJsonSchema,omitzero"`
}

type toolConfig struct {
	Calling callingConfig `json:"functionCallingConfig"`
}

type callingConfig struct {
	Mode string `json:"mode"`
}

type generation struct {
	Temperature     *float64       `json:"temperature,omitzero"`
	MaxOutputTokens int            `json:"maxOutputTokens,omitzero"`
	MediaType       string         `json:"responseMimeType,omitzero"`
	Schema          jsontext.Value `json:"responseJsonSchema,omitzero"`
	Thinking        *thinking      `json:"thinkingConfig,omitzero"`
}

type thinking struct {
	Budget int    `json:"thinkingBudget,omitzero"`
	Level  string `json:"thinkingLevel,omitzero"`
}

// request is a request in Google's shapes. Google caches the beginning of a prompt by
// itself; there is no breakpoint to set.
func (m *Model) request(req llm.Request) (request, error) {
	messages := req.Messages
	if len(req.Tools) == 0 {
		messages = llm.WithoutTools(messages)
	}
	r := request{Contents: m.contents(messages)}
	if system := wire.Text(req.System); system != "" {
		r.System = &content{Parts: []part{{Text: &system}}}
	}
	if len(req.Tools) > 0 {
		functions, err := m.declared(req.Tools)
		if err != nil {
			return request{}, err
		}
		r.Tools = []toolbox{{functions}}
		// Without a mode Google takes AUTO, or, beside a schema, VALIDATED, which is AUTO
		// with calls that follow their declaration.
		if req.ToolChoice == llm.ToolsNone {
			r.ToolConfig = &toolConfig{callingConfig{Mode: "NONE"}}
		}
	}
	var err error
	r.Generation, err = m.generation(req)
	return r, err
}

func (m *Model) generation(req llm.Request) (generation, error) {
	g := generation{Temperature: req.Temperature, Thinking: m.thinking(req)}
	if req.MaxOutputTokens > 0 {
		g.MaxOutputTokens = req.MaxOutputTokens + req.ReasoningTokens
	}
	if req.Schema != nil {
		schema, err := m.fit(req.Schema)
		if err != nil {
			return generation{}, fmt.Errorf("the schema of the answer: %w", err)
		}
		g.MediaType, g.Schema = "application/json", schema
	}
	return g, nil
}

func (m *Model) declared(tools []llm.Tool) ([]function, error) {
	functions := make([]function, 0, len(tools))
	for _, t := range tools {
		schema, err := m.parameters(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("the schema of the tool %s: %w", t.Name, err)
		}
		functions = append(functions, function{Name: wire.Text(t.Name), Description: wire.Text(t.Description), Parameters: schema})
	}
	return functions, nil
}

// mostThinking is the largest budget that every Gemini 2.5 takes; Pro takes 32 768:
// https://ai.google.dev/gemini-api/docs/thinking#set-budget.
const mostThinking = 24576

// thinking is how hard the model is asked to reason. Up to Gemini 2.5 that is a number of
// tokens, which also keeps the model to what is reserved for reasoning; from Gemini 3 on
// a level, and Gemini 4 refuses the number.
func (m *Model) thinking(req llm.Request) *thinking {
	switch {
	case m.signs() && req.Effort != "":
		return &thinking{Level: m.level(req.Effort)}
	case m.signs():
		return nil
	case req.ReasoningTokens > 0:
		return &thinking{Budget: min(req.ReasoningTokens, mostThinking)}
	case req.Effort != "":
		return &thinking{Budget: req.Effort.Tokens()}
	}
	return nil
}

// level is the name of an effort. Only the Flash models before 3.7 take MINIMAL; LOW is
// the least of the others.
func (m *Model) level(e llm.Effort) string {
	if e == llm.EffortMinimal && !(strings.Contains(m.name, "flash") && m.version < 3.7) {
		e = llm.EffortLow
	}
	return strings.ToUpper(string(e))
}
