package agent

import (
	"context"
	"errors"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
)

// Class is why a turn's loop produced no reply; each is a log class of its own, and
// each hands off.
type Class string

// The classes.
const (
	Schema   Class = "schema"    // an answer that breaks the reply contract
	Length   Class = "length"    // a reply that was cut off
	Refusal  Class = "refusal"   // the model would not answer
	Empty    Class = "empty"     // an answer without text
	ToolCall Class = "tool_call" // a tool call in the last step, or too many of them in one
	Provider Class = "provider"  // the provider failed
	Open     Class = "breaker"   // the provider is left alone, since it failed again and again
	Abort    Class = "abort"     // the context ended
	Panic    Class = "panic"     // the provider's adapter panicked
	Prompt   Class = "prompt"    // the prompt could not be written

	OverBudget Class = "budget" // there was no room in the day's budget
)

var errTooMany = errors.New("too many tool calls in one step")

// Error is a loop that ended without a reply. It never quotes what a model or a
// contact wrote.
type Error struct {
	Class Class
	Err   error // nil when the class says it all
}

func (e *Error) Error() string {
	s := "no reply of the model (" + string(e.Class) + ")"
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// ClassOf is the class of an error of [Agent.Run]; empty for nil.
func ClassOf(err error) Class {
	var e *Error
	switch {
	case err == nil:
		return ""
	case errors.As(err, &e):
		return e.Class
	}
	return Provider
}

// failed is the error of a request that no model answered.
func failed(ctx context.Context, err error) *Error {
	var open *attempt.OpenError
	var panicked *attempt.PanicError
	switch {
	case ctx.Err() != nil:
		return &Error{Class: Abort, Err: ctx.Err()}
	case errors.Is(err, attempt.ErrBudget):
		return &Error{Class: OverBudget, Err: err}
	case errors.As(err, &open):
		return &Error{Class: Open, Err: err}
	case errors.As(err, &panicked):
		return &Error{Class: Panic, Err: err}
	}
	return &Error{Class: Provider, Err: err}
}
