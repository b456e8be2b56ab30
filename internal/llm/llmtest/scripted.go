// Package llmtest provides a model that plays a script, for tests that need exact
// answers at exact times.
package llmtest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Hang says how a step never answers.
type Hang int

// UntilAbort keeps the model's contract: it returns when ctx ends. Forever breaks
// it: it ignores ctx until [Scripted.Release].
const (
	No Hang = iota
	UntilAbort
	Forever
)

// Step is one call's answer; a stop that is not given is StopEnd.
type Step struct {
	After    time.Duration // wait first; cut short when ctx ends
	Text     string        // replaces the text of Response when not empty
	Response llm.Response
	Err      error
	Panic    any
	Hang     Hang
}

// Scripted is an [llm.Model] that plays Steps in order, one a call, and keeps what it
// was asked. The last step repeats when Repeat is set; otherwise a call past the end
// is an error. The zero value with Steps is ready; it is safe for concurrent use.
type Scripted struct {
	Steps  []Step
	Repeat bool

	mu       sync.Mutex
	requests []llm.Request
	released chan struct{}
}

// Generate plays the next step.
func (s *Scripted) Generate(ctx context.Context, req llm.Request) (llm.Response, error) {
	step, released, err := s.next(req)
	if err != nil {
		return llm.Response{}, err
	}
	if err := wait(ctx, step.After); err != nil {
		return llm.Response{}, err
	}
	switch step.Hang {
	case UntilAbort:
		<-ctx.Done()
		return llm.Response{}, aborted(ctx)
	case Forever:
		<-released
	}
	if step.Panic != nil {
		panic(step.Panic)
	}
	return step.answer()
}

// Requests returns every request so far, in the order of the calls.
func (s *Scripted) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Release lets every call that hangs forever go, now and later. It may be called
// more than once; a test's cleanup calls it so that no goroutine is left.
func (s *Scripted) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.gate()
	select {
	case <-ch:
	default:
		close(ch)
	}
}

func (s *Scripted) next(req llm.Request) (Step, <-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := len(s.requests)
	req.Messages = slices.Clone(req.Messages)
	s.requests = append(s.requests, req)
	if i >= len(s.Steps) {
		if !s.Repeat || len(s.Steps) == 0 {
			return Step{}, nil, fmt.Errorf("scripted model: call %d of a script of %d steps", i+1, len(s.Steps))
		}
		i = len(s.Steps) - 1
	}
	return s.Steps[i], s.gate(), nil
}

// gate makes the channel that Release closes; s.mu is held.
func (s *Scripted) gate() chan struct{} {
	if s.released == nil {
		s.released = make(chan struct{})
	}
	return s.released
}

func (s Step) answer() (llm.Response, error) {
	if s.Err != nil {
		return s.Response, s.Err
	}
	resp := s.Response
	if s.Text != "" {
		resp.Text = s.Text
	}
	if resp.Stop == "" {
		resp.Stop = llm.StopEnd
	}
	return resp, nil
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
	return &llm.Error{Provider: "scripted", Kind: llm.KindNetwork, Message: "aborted", Err: ctx.Err()}
}
