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
	// Messages alternate between the contact's side and the model's, oldest first.
	Messages []Message
	// Tools may be called unless ToolChoice says otherwise.
	Tools      []Tool
	ToolChoice ToolChoice
	// Schema is the JSON Schema that the final answer must follow; nil: free text.
	Schema []byte
	// MaxOutputTokens bounds the visible answer; 0: the provider's default.
	MaxOutputTokens int
	// Temperature is sent only to models that take one; nil: the provider's default.
	Temperature *float64
}

// ToolChoice says whether a request may be answered with tool calls.
type ToolChoice string

// ToolsAuto leaves it to the model; ToolsNone keeps the tools in the request, for the
// provider's prompt cache, but lets none be called.
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
	Calls   []ToolCall // Assistant: the tools it called
	Results []Result   // ToolResult: one per call
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

// Usage is what a call used, in tokens. Input includes the cached ones and Output
// includes reasoning, whatever the provider counts.
type Usage struct {
	Input, Cached, Output int64
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

// Error is a failed call. Message is the provider's own, without credentials.
type Error struct {
	Provider   string
	Kind       ErrorKind
	Status     int // HTTP status; 0: there was none
	Message    string
	RetryAfter time.Duration // what the provider asked for; 0: nothing
	Err        error         // the cause, when there is one below
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
