package attempt

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/redact"
)

// ErrBudget is a call that the day's budget did not let in.
var ErrBudget = errors.New("not within the budget")

// PanicError is an adapter that panicked.
type PanicError struct {
	What  string // without personal data
	Stack []byte
}

func (e *PanicError) Error() string { return "the model's adapter panicked: " + e.What }

// answer is what came of one exchange with a model.
type answer struct {
	resp   llm.Response
	err    error
	micros int64 // micro-dollars it was charged
}

// exchange asks a model and returns when it answers or ctx ends, whichever comes first.
// settle is called once, when the model returns, however late that is, and says what the
// call is charged; one that has not returned yet counts as worst.
func exchange(ctx context.Context, m llm.Model, req llm.Request, settle func(llm.Response, error) int64, worst int64) answer {
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if p := recover(); p != nil {
				a.resp, a.err = llm.Response{}, &PanicError{What: redact.Panic(p), Stack: debug.Stack()}
			}
			a.micros = settle(a.resp, a.err)
			answers <- a
		}()
		a.resp, a.err = m.Generate(ctx, req)
	}()
	select {
	case a := <-answers:
		return a
	case <-ctx.Done():
		return answer{err: fmt.Errorf("no answer in time: %w", ctx.Err()), micros: worst}
	}
}
