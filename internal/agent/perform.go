package agent

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json"

	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// problem is what a model is told of a call that came to nothing.
type problem struct {
	Error string `json:"error"`
}

// What a model is told when no tool could tell it.
const (
	toldUnknown = "there is no tool of this name"
	toldClosed  = "no tool can be called any more: write the reply"
	toldLate    = "the turn is over: this call was not made"
	toldFailed  = "the tool failed: do not rely on it"
)

// specs is what the model is told of the tools now.
func specs(tools []tool.Tool) []llm.Tool {
	var out []llm.Tool
	for _, t := range tools {
		if t.Offered() {
			out = append(out, t.Spec())
		}
	}
	return out
}

// perform takes the calls of a step in their order, runs what takes time side by side,
// and returns one result a call. It ends when ctx does, and then takes no further call.
func (l *loop) perform(ctx context.Context, calls []llm.ToolCall) []llm.Result {
	told := make([]any, len(calls))
	var running sync.WaitGroup
	var mu sync.Mutex // guards told once ctx may have ended
	for i, call := range calls {
		o := l.take(ctx, call)
		switch {
		case o.Run != nil:
			told[i] = problem{toldFailed}
			running.Go(func() {
				answer := guarded(ctx, o.Run)
				mu.Lock()
				defer mu.Unlock()
				told[i] = answer
			})
		case o.Bad != "":
			l.bad[call.Name]++
			told[i] = problem{o.Bad}
		default:
			told[i] = o.Told
		}
	}
	done := make(chan struct{})
	go func() { running.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	results := make([]llm.Result, len(calls))
	for i, call := range calls {
		results[i] = llm.Result{CallID: call.ID, Name: call.Name, Content: encode(told[i])}
	}
	return results
}

// take hands one call to its tool. A tool that panics costs the model an answer.
func (l *loop) take(ctx context.Context, call llm.ToolCall) (o tool.Outcome) {
	called, found := l.tools[call.Name]
	switch {
	case ctx.Err() != nil:
		return tool.Outcome{Told: problem{toldLate}}
	case !found:
		return tool.Outcome{Bad: toldUnknown}
	case l.closed:
		return tool.Outcome{Bad: toldClosed}
	}
	defer func() {
		if recover() != nil {
			o = tool.Outcome{Told: problem{toldFailed}}
		}
	}()
	return called.Call(len(l.result.Steps), call.Arguments)
}

// guarded runs what may panic.
func guarded(ctx context.Context, run func(context.Context) any) (told any) {
	defer func() {
		if recover() != nil {
			told = problem{toldFailed}
		}
	}()
	return run(ctx)
}

// encode writes what a model is told.
func encode(told any) (written []byte) {
	written = []byte(`{"error":"` + toldFailed + `"}`)
	defer func() { _ = recover() }() // of a value that writes itself
	if b, err := json.Marshal(told, json.Deterministic(true)); err == nil {
		return b
	}
	return written
}
