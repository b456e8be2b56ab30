// Package mock is the model mock:demo, a deterministic rule-based front desk. It reads
// the prompt that a real model gets and answers from the catalog in it. It recognises
// a few intents by cue words of several languages and speaks none of its own: its
// sentences are put together from the catalog's text. Directives make it misbehave.
package mock

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/cue"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/read"
	"github.com/manychat-agent/manychat-agent/internal/llm/mock/toolbox"
)

// provider names this model in errors.
const provider = "mock"

// Model is the front desk. It is safe for concurrent use.
type Model struct {
	cues *cue.Cues
	desk atomic.Pointer[desk] // the last prompt read

	mu        sync.Mutex
	directive Directive
	left      int // requests that still get the directive's mode, when it is bounded
}

// New makes an honest model that answers at once.
func New() *Model { return &Model{cues: cue.Read()} }

// Control replaces the directive from the next request on, or refuses an invalid one.
func (m *Model) Control(d Directive) error {
	if err := d.Validate(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.directive, m.left = d, d.FailTimes
	return nil
}

// Directive returns the directive in force; FailTimes is what it was set to.
func (m *Model) Directive() Directive {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.directive
}

// next takes one request off the directive: how long it waits and how it behaves.
func (m *Model) next() (time.Duration, Mode) {
	m.mu.Lock()
	defer m.mu.Unlock()
	mode := m.directive.Mode
	if m.directive.FailTimes > 0 {
		if m.left == 0 {
			mode = OK
		} else {
			m.left--
		}
	}
	return m.directive.Latency, mode
}

// Generate answers the last message of the request, or does what the directive says.
func (m *Model) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	latency, mode := m.next()
	if slices.ContainsFunc(req.Messages, func(m llm.Message) bool { return m.Role == llm.ToolResult }) {
		latency = 0 // it has waited in the turn's first step
	}
	if err := wait(ctx, latency); err != nil {
		return llm.Response{}, err
	}
	switch mode {
	case Fail:
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindServer, Status: 500, Message: "told to fail"}
	case RateLimit:
		return llm.Response{}, &llm.Error{Provider: provider, Kind: llm.KindRateLimited, Status: 429, Message: "told to limit", RetryAfter: time.Second}
	case Hang:
		<-ctx.Done()
		return llm.Response{}, aborted(ctx)
	case Panic:
		panic("mock model: told to panic")
	}
	resp, err := m.respond(req, mode)
	if err != nil {
		return llm.Response{}, err
	}
	resp.Usage = read.Usage(req, resp)
	return resp, nil
}

// respond writes the text of an answer in a mode that answers at all.
func (m *Model) respond(req llm.Request, mode Mode) (llm.Response, error) {
	switch mode {
	case Refuse:
		return llm.Response{Stop: llm.StopRefusal}, nil
	case Empty:
		return llm.Response{Stop: llm.StopEnd}, nil
	case Garbage:
		return llm.Response{Text: "{\"messages\": 7 ]", Stop: llm.StopEnd}, nil
	case ToolCall:
		call := llm.ToolCall{ID: "call_1", Name: "open_the_till", Arguments: []byte("{}")}
		return llm.Response{Calls: []llm.ToolCall{call}, Stop: llm.StopTools}, nil
	}
	d, c := m.read(req.System), read.OfConversation(req.Messages)
	box, open := toolbox.Open(req)
	do, a := m.decide(d, c, box)
	if c.Used.Stepped {
		do = do.opened(d, c)
	}
	if open && (!c.Used.Stepped || do.flow != nil && mode != EveryTool) || mode == UnknownID {
		if calls := do.callsIn(mode, a, box); len(calls) > 0 {
			return llm.Response{Calls: calls, Stop: llm.StopTools}, nil
		}
	}
	if a.needsFlow && !c.Used.Sent {
		a = handOff(outOfScope) // nothing was sent that would be an answer
	}
	a = a.misbehaved(d, mode)
	text, err := a.encode()
	if err != nil {
		return llm.Response{}, err
	}
	if mode == Length {
		return llm.Response{Text: text[:len(text)/2], Stop: llm.StopLength}, nil
	}
	return llm.Response{Text: text, Stop: llm.StopEnd}, nil
}

// read reads the static part of a prompt, once for as long as it stays the same.
func (m *Model) read(system string) *desk {
	if d := m.desk.Load(); d != nil && d.system == system {
		return d
	}
	d := readDesk(system)
	m.desk.Store(d)
	return d
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return aborted(ctx)
	}
}

func aborted(ctx context.Context) error {
	return &llm.Error{Provider: provider, Kind: llm.KindNetwork, Message: "aborted", Err: ctx.Err()}
}
