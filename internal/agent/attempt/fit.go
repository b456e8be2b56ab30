package attempt

import (
	"slices"
	"sync/atomic"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// candidate is a model with what is known of it.
type candidate struct {
	Model
	provider string
	traits   llm.Traits
	effort   llm.Effort
	breaker  *breaker
	dropped  atomic.Uint32 // bits of features, that the provider refused
}

// features are what a provider may refuse, in the order of their bits.
var features = [...]llm.Feature{llm.Temperature, llm.Reasoning, llm.Schema, llm.Tools, llm.Images}

// drop leaves a feature out from now on, and reports whether it was in so far.
func (c *candidate) drop(f llm.Feature) bool {
	i := slices.Index(features[:], f)
	if i < 0 {
		return false
	}
	bit := uint32(1) << i
	return c.dropped.Or(bit)&bit == 0
}

// takes reports whether a feature is still in.
func (c *candidate) takes(f llm.Feature) bool {
	return c.dropped.Load()&(1<<slices.Index(features[:], f)) == 0
}

// holds reports whether a request has a feature.
func holds(req llm.Request, f llm.Feature) bool {
	switch f {
	case llm.Temperature:
		return req.Temperature != nil
	case llm.Reasoning:
		return req.Effort != ""
	case llm.Schema:
		return len(req.Schema) > 0
	case llm.Tools:
		return len(req.Tools) > 0
	case llm.Images:
		return slices.ContainsFunc(req.Messages, hasImages)
	}
	return false
}

func hasImages(m llm.Message) bool { return len(m.Images) > 0 }

// fit is the request as this model takes it. What the prompt says of the reply's form
// stands in for a schema.
func (c *candidate) fit(req llm.Request) llm.Request {
	switch {
	case c.effort != "" && c.traits.Effort && c.takes(llm.Reasoning):
		req.Effort, req.ReasoningTokens = c.effort, c.effort.Tokens()
	case c.traits.Reasons:
		req.Effort, req.ReasoningTokens = "", llm.Effort("").Tokens()
	}
	if !c.traits.Temperature || !c.takes(llm.Temperature) || req.Effort != "" {
		req.Temperature = nil
	}
	if most := c.traits.MaxOutput; most > 0 && req.MaxOutputTokens+req.ReasoningTokens > most {
		req.MaxOutputTokens = min(req.MaxOutputTokens, most)
		req.ReasoningTokens = most - req.MaxOutputTokens
	}
	if !c.traits.Images || !c.takes(llm.Images) {
		req.Messages = withoutImages(req.Messages)
	}
	if !c.takes(llm.Tools) {
		req.Tools, req.ToolChoice = nil, llm.ToolsNone
	}
	if len(req.Tools) == 0 {
		req.Messages = llm.WithoutTools(req.Messages)
	}
	open := len(req.Tools) > 0 && req.ToolChoice != llm.ToolsNone
	if !c.takes(llm.Schema) || open && !c.traits.ToolsWithSchema {
		req.Schema = nil
	}
	return req
}

func withoutImages(messages []llm.Message) []llm.Message {
	if !slices.ContainsFunc(messages, hasImages) {
		return messages
	}
	messages = slices.Clone(messages)
	for i := range messages {
		messages[i].Images = nil
	}
	return messages
}
