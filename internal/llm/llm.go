// Package llm is the contract with any language model: one interface of one method,
// the messages and tools that cross it, what a call used, and how it can fail.
// Providers live in sub-packages, one each; nothing else imports their SDKs.
package llm

import (
	"context"
	"time"
)

// Model answers one request. Implementations are safe for concurrent use.
//
// Generate returns an [*Error] for everything a provider can answer or fail to
// answer; it returns promptly when ctx ends, with an error that wraps ctx's. It
// never retries. A refusal, a reply cut off for length and an empty answer are not
// errors: they are [Response.Stop].
type Model interface {
	Generate(ctx context.Context, req Request) (Response, error)
}

// Request is everything a model gets for one step.
type Request struct {
	// System is the static part of the prompt, the same for every turn of a tenant;
	// a provider that caches prompts sets its breakpoint after it.
	System string
	// Messages alternate between the contact's side and the model's, oldest first; a word
	// of the server may follow a ToolResult as a User message.
	Messages []Message
	// Tools may be called unless ToolChoice says otherwise.
	Tools      []Tool
	ToolChoice ToolChoice
	// Schema is the JSON Schema that the final answer must follow; nil: free text.
	Schema []byte
	// MaxOutputTokens bounds the visible answer; 0: the provider's default.
	MaxOutputTokens int
	// ReasoningTokens is what the model may spend on reasoning beside that.
	ReasoningTokens int
	// Effort is how hard the model is asked to reason; empty: it is not asked.
	Effort Effort
	// Temperature is how freely the model words its answer, from 0; nil: the provider's
	// default.
	Temperature *float64
}

// Effort is how hard a model is asked to reason.
type Effort string

// The efforts of AGENT_REASONING_EFFORT.
const (
	EffortMinimal Effort = "minimal"
	EffortLow     Effort = "low"
	EffortMedium  Effort = "medium"
	EffortHigh    Effort = "high"
)

// Tokens is what an effort may spend on reasoning: enough that the answer is seldom cut
// off, and no more than fits the time a contact waits. An effort of the provider's own
// choice counts as medium.
func (e Effort) Tokens() int {
	switch e {
	case EffortMinimal:
		return 1024 // the least that Anthropic takes
	case EffortLow:
		return 2048
	case EffortHigh:
		return 16384
	}
	return 6144
}

// ToolChoice says whether a request may be answered with tool calls.
type ToolChoice string

// ToolsAuto leaves it to the model; ToolsNone keeps the tools in the request, for the
// provider's prompt cache, but lets none be called. A provider without such a choice gets
// no tools, and [WithoutTools] of the messages.
const (
	ToolsAuto ToolChoice = "auto"
	ToolsNone ToolChoice = "none"
)

// Role is who a message comes from.
type Role string

// The roles of a message. A ToolResult message answers the calls of the model
// message before it.
const (
	User       Role = "user"
	Assistant  Role = "assistant"
	ToolResult Role = "tool"
)

// Message is one message of the conversation with a model.
type Message struct {
	Role    Role
	Text    string
	Images  []Image    // User: shown before the text
	Calls   []ToolCall // Assistant: the tools it called
	Results []Result   // ToolResult: one per call
	State   []byte     // Assistant: [Response.State] of the answer that made the calls
}

// Image is a picture for a model that takes images.
type Image struct {
	MediaType string // image/jpeg, image/png, image/webp or image/gif
	Data      []byte
}

// Tool is a function that a model may ask for.
type Tool struct {
	Name        string
	Description string
	Parameters  []byte // JSON Schema of the arguments object
}

// ToolCall is a model asking for a tool. Arguments is JSON as the model wrote it:
// untrusted, to be validated by whoever runs the tool.
type ToolCall struct {
	ID        string
	Name      string
	Arguments []byte
}

// Result answers a [ToolCall].
type Result struct {
	CallID  string
	Name    string
	Content []byte // JSON
}

// Response is a model's answer to a request.
type Response struct {
	Text  string
	Calls []ToolCall
	Stop  Stop
	Usage Usage
	// State is what the provider wants back with the results of the calls, such as signed
	// reasoning; only the adapter that made it reads it. It begins with the provider's name
	// and a colon, so that another passes over it. Empty: nothing.
	State []byte
}

// Stop is why a model stopped writing.
type Stop string

// The stops a caller tells apart. A provider's unknown reason maps to StopEnd when
// there is an answer.
const (
	StopEnd     Stop = "end"
	StopTools   Stop = "tools"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
)

// Usage is what a call used, in tokens. Input includes those read from the provider's
// cache and those written into it, and Output includes reasoning, whatever the provider
// counts.
type Usage struct {
	Input, Cached, Written, Output int64
}

// ErrorKind says how a call failed.
type ErrorKind string

// The kinds of failure. Network, RateLimited, Overloaded and Server may go away by
// themselves; see [Error.Retryable].
const (
	KindNetwork      ErrorKind = "network"
	KindRateLimited  ErrorKind = "rate_limited"
	KindOverloaded   ErrorKind = "overloaded"
	KindServer       ErrorKind = "server"
	KindUnauthorized ErrorKind = "unauthorized"
	KindRejected     ErrorKind = "rejected"
	KindProtocol     ErrorKind = "protocol" // an answer that cannot be read
)

// Feature is a part of a request that some models do not take.
type Feature string

// The features that a request goes on without, once a provider has refused them.
const (
	Temperature Feature = "temperature"
	Reasoning   Feature = "reasoning effort"
	Schema      Feature = "schema"
	Tools       Feature = "tools"
	Images      Feature = "images"
)

// Wording is no part of a request but how it was written: the adapter has learned from the
// refusal, and writes the same request otherwise from then on.
const Wording Feature = "wording"

// Error is a failed call. Message is the provider's own, without credentials.
type Error struct {
	Provider    string
	Kind        ErrorKind
	Unsupported Feature // KindRejected: what the model does not take; empty: something else
	Status      int     // HTTP status; 0: there was none
	Message     string
	RetryAfter  time.Duration // what the provider asked for; 0: nothing
	Err         error         // the cause, when there is one below
}

func (e *Error) Error() string {
	s := e.Provider + ": " + string(e.Kind)
	if e.Message != "" {
		s += ": " + e.Message
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// Retryable reports whether the same call may work a moment later.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case KindNetwork, KindRateLimited, KindOverloaded, KindServer:
		return true
	}
	return false
}
