package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/redact"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

// maxSteps bounds the loop (docs/spec/07-tools.md, "Bounds").
const maxSteps = 4

// loop runs the steps of one turn.
type loop struct {
	agent   *Agent
	terms   budget.Terms
	by      time.Time // until when a call waits for room in the budget
	request llm.Request
	result  *Result
}

// run asks the model until it answers without calling tools. A call in the last step
// fails the turn.
func (l *loop) run(ctx context.Context) (reply.Reply, error) {
	for range maxSteps {
		resp, err := l.step(ctx)
		if err != nil {
			return reply.Reply{}, err
		}
		if len(resp.Calls) == 0 || resp.Stop == llm.StopLength || resp.Stop == llm.StopRefusal {
			return read(resp)
		}
		if err := l.answerCalls(resp); err != nil {
			return reply.Reply{}, err
		}
	}
	return reply.Reply{}, &Error{Class: ToolCall}
}

// step makes one call within the budget, and records what it took, used and cost
// whatever it came to.
func (l *loop) step(ctx context.Context) (llm.Response, error) {
	worst := budget.Worst(l.request, l.terms.Price)
	reserved, err := l.agent.config.Budget.Reserve(ctx, budget.Call{Terms: l.terms, Worst: worst, By: l.by})
	if err != nil {
		return llm.Response{}, &Error{Class: OverBudget, Err: err}
	}
	start := l.agent.config.Now()
	resp, err := l.generate(ctx)
	spent := budget.Spent(worst, l.terms.Price, resp.Usage, err)
	reserved.Settle(spent)
	l.result.Spend.CostMicros += spent.Micros
	l.result.Steps = append(l.result.Steps, Step{
		Took:  l.agent.config.Now().Sub(start),
		Stop:  resp.Stop,
		Usage: resp.Usage,
		Calls: resp.Calls,
	})
	l.result.Spend.TokensIn += resp.Usage.Input
	l.result.Spend.TokensCached += resp.Usage.Cached
	l.result.Spend.TokensOut += resp.Usage.Output
	return resp, err
}

// generate calls the model; an adapter's panic is an error of the turn, not the end of
// the process.
func (l *loop) generate(ctx context.Context) (resp llm.Response, err error) {
	defer func() {
		if p := recover(); p != nil {
			resp, err = llm.Response{}, &Error{Class: Panic, Err: errors.New(redact.Panic(p))}
		}
	}()
	resp, err = l.agent.config.Model.Generate(ctx, l.request)
	switch {
	case err != nil && ctx.Err() != nil:
		return resp, &Error{Class: Abort, Err: ctx.Err()}
	case err != nil:
		return resp, &Error{Class: Provider, Err: err}
	}
	return resp, nil
}

// answerCalls tells the model that none of the tools it called exists.
func (l *loop) answerCalls(resp llm.Response) error {
	results := make([]llm.Result, len(resp.Calls))
	for i, call := range resp.Calls {
		content, err := json.Marshal(map[string]string{"error": "there is no tool named " + call.Name + "; answer with the reply"})
		if err != nil {
			return &Error{Class: ToolCall, Err: fmt.Errorf("answer a call: %w", err)}
		}
		results[i] = llm.Result{CallID: call.ID, Name: call.Name, Content: content}
	}
	l.result.Steps[len(l.result.Steps)-1].Results = results
	l.request.Messages = append(l.request.Messages,
		llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls},
		llm.Message{Role: llm.ToolResult, Results: results})
	return nil
}

// read decodes the answer of a step, or says why it is none.
func read(resp llm.Response) (reply.Reply, error) {
	switch {
	case resp.Stop == llm.StopLength:
		return reply.Reply{}, &Error{Class: Length}
	case resp.Stop == llm.StopRefusal:
		return reply.Reply{}, &Error{Class: Refusal}
	case strings.TrimSpace(resp.Text) == "":
		return reply.Reply{}, &Error{Class: Empty}
	}
	r, err := reply.Decode(resp.Text)
	if err != nil {
		return reply.Reply{}, &Error{Class: Schema, Err: err}
	}
	return r, nil
}
