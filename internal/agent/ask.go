package agent

import (
	"context"
	"log/slog"
	"runtime/debug"

	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// Runner writes replies, as an [Agent] does.
type Runner interface {
	Run(ctx context.Context, in Input) (Result, error)
}

// Ask has a reply written by an agent that it does not trust: it returns when the agent does or
// when ctx ends, whichever comes first, with ctx's cause. A panic is an error of class [Panic].
func Ask(ctx context.Context, who Runner, log *slog.Logger, in Input) (Result, error) {
	type answer struct {
		result Result
		err    error
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				log.Error("agent panicked", "panic", redact.Panic(p), "stack", string(debug.Stack()))
				a.err = &Error{Class: Panic}
			}
			answers <- a
		}()
		a.result, a.err = who.Run(ctx, in)
	}()
	select {
	case a := <-answers:
		return a.result, a.err
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	}
}
