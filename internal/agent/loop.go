package agent

import (
	"context"
	"strings"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/reply"
)

// The bounds of the loop (docs/spec/07-tools.md, "Bounds"; docs/spec/04-agent.md, "Loop").
const (
	maxSteps = 4
	// maxBadCalls of one tool end the tool phase.
	maxBadCalls = 2
	// maxCalls of one step are made; an answer with more is no honest use of any set of
	// tools and fails the turn before one of them is.
	maxCalls = 32
	// maxName is how much is kept of the name of what was called, in bytes: no provider
	// takes a tool with a longer one.
	maxName = 64
)

// loop runs the steps of one turn.
type loop struct {
	agent   *Agent
	calls   *attempt.Turn
	result  *Result
	request llm.Request
	offered []tool.Tool
	tools   map[string]tool.Tool
	bad     map[string]int // calls of a tool that could not be made
	soFar   func() string  // what the calls came to, in words; nil: not told
	closed  bool           // no tool can be called any more
}

func newLoop(a *Agent, calls *attempt.Turn, result *Result, in Input) *loop {
	l := &loop{
		agent: a, calls: calls, result: result, offered: in.Tools, tools: map[string]tool.Tool{}, bad: map[string]int{}, soFar: in.SoFar,
	}
	for _, t := range in.Tools {
		l.tools[t.Spec().Name] = t
	}
	return l
}

// run asks until a step brings a reply and no tool calls. A step with both answers the
// calls and passes over the reply, but for the last one, in which no tool can be called:
// there a valid reply counts, and a call without one fails the turn.
func (l *loop) run(ctx context.Context) (reply.Reply, error) {
	l.closed = len(l.tools) == 0
	for n := 1; ; n++ {
		last := n == maxSteps
		if last && !l.closed {
			l.close()
		}
		resp, err := l.step(ctx)
		switch {
		case err != nil:
			return reply.Reply{}, err
		case len(resp.Calls) > maxCalls:
			return reply.Reply{}, &Error{Class: ToolCall, Err: errTooMany}
		case len(resp.Calls) == 0, resp.Stop == llm.StopLength, resp.Stop == llm.StopRefusal:
			return read(resp)
		case last:
			if r, err := read(resp); err == nil {
				return r, nil
			}
			return reply.Reply{}, &Error{Class: ToolCall}
		}
		l.answer(ctx, resp)
	}
}

// step makes one request, unless ctx has ended, and records what it took, used and cost,
// whatever it came to. The tools are asked anew for what the model is told of them, since a call of
// the step before may have changed it; where none did, the request begins with the same bytes.
func (l *loop) step(ctx context.Context) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, failed(ctx, err)
	}
	l.request.Tools, l.request.ToolChoice = specs(l.offered), llm.ToolsAuto
	if l.closed {
		l.request.ToolChoice = llm.ToolsNone
	}
	start := l.agent.config.Now()
	resp, made, err := l.calls.Call(ctx, l.request)
	l.result.Model = l.calls.Model()
	l.result.Steps = append(l.result.Steps, Step{
		Took: l.agent.config.Now().Sub(start), Attempts: made, Stop: resp.Stop, Calls: kept(resp.Calls), Asked: len(resp.Calls),
	})
	for _, m := range made {
		l.result.Spend.TokensIn += m.Usage.Input
		l.result.Spend.TokensCached += m.Usage.Cached
		l.result.Spend.TokensOut += m.Usage.Output
		l.result.Spend.CostMicros += m.Cost
	}
	if err != nil {
		return resp, failed(ctx, err)
	}
	return resp, nil
}

// kept are the names of the first calls of a step, cut to their length. What a model made
// up goes no further than its turn.
func kept(calls []llm.ToolCall) (names []string) {
	for _, call := range calls[:min(len(calls), maxCalls)] {
		names = append(names, strings.Clone(call.Name[:min(len(call.Name), maxName)]))
	}
	return names
}

// answer answers the calls of a step and adds both to the request.
func (l *loop) answer(ctx context.Context, resp llm.Response) {
	results := l.perform(ctx, resp.Calls)
	l.result.Steps[len(l.result.Steps)-1].Results = results
	l.request.Messages = append(l.request.Messages,
		llm.Message{Role: llm.Assistant, Text: resp.Text, Calls: resp.Calls, State: resp.State},
		llm.Message{Role: llm.ToolResult, Results: results})
	for _, bad := range l.bad {
		if bad >= maxBadCalls && !l.closed {
			l.close()
		}
	}
}

// closing tells the model that the tools are done with. What they did stands above it.
const closing = "SERVER: no more tools can be called in this turn. Write the reply now, true to what the tools answered."

// close ends the tool phase. What the calls came to is said once more in words, since a
// model whose provider leaves the tools out of the request may not see their answers.
func (l *loop) close() {
	l.closed = true
	text := closing
	if l.soFar != nil {
		if said := l.soFar(); said != "" {
			text += "\n" + said
		}
	}
	l.request.Messages = append(l.request.Messages, llm.Message{Role: llm.User, Text: text})
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
