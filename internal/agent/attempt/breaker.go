package attempt

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// When a provider is left alone, and for how long. A single hiccup is for the retries;
// what must not happen is that every turn of an outage waits out its abort.
const (
	failuresInARow = 5
	failingFor     = 10 * time.Second // since the first of them began
	firstPause     = 15 * time.Second // doubled by each probe that fails
	longestPause   = 2 * time.Minute
)

// OpenError is a call that was not made because its provider failed again and again.
type OpenError struct {
	Provider string
	Until    time.Time // a probe is let through then
}

func (e *OpenError) Error() string {
	return fmt.Sprintf("%s has failed again and again and is left alone", e.Provider)
}

// breaker is what one provider's attempts came to lately. The zero value lets every one
// through.
type breaker struct {
	mu       sync.Mutex
	failures int       // in a row
	since    time.Time // when the first of them began
	pause    time.Duration
	until    time.Time // open until then; zero: closed
	probe    *pass     // open, and this attempt is in flight to see; nil: none is
}

// pass lets one attempt through.
type pass struct {
	breaker *breaker
}

// outcome is what an attempt tells of its provider.
type outcome int

const (
	answered outcome = iota
	failed
	unknown // nothing: it was not made, or it failed by the request's own fault
)

// change is what a report changed.
type change struct {
	to    state
	pause time.Duration
}

type state int

const (
	same state = iota
	opened
	closed
)

// admit lets an attempt through, whose outcome is to be reported once, or returns an
// [*OpenError].
func (b *breaker) admit(provider string, now time.Time) (*pass, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := &pass{breaker: b}
	switch {
	case b.until.IsZero():
		return p, nil
	case b.probe != nil, now.Before(b.until):
		return nil, &OpenError{Provider: provider, Until: b.until}
	}
	b.probe = p
	return p, nil
}

// openAt is the [*OpenError] of an attempt that would be refused at a time to come; nil
// when none would be, as far as is known.
func (b *breaker) openAt(provider string, at time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if at.Before(b.until) {
		return &OpenError{Provider: provider, Until: b.until}
	}
	return nil
}

// report takes in what an attempt from began to ended came to.
func (p *pass) report(began, ended time.Time, o outcome) change {
	b := p.breaker
	b.mu.Lock()
	defer b.mu.Unlock()
	probe := b.probe == p
	if probe {
		b.probe = nil
	}
	switch o {
	case answered:
		return b.reset()
	case failed:
		return b.count(began, ended, probe)
	}
	return change{}
}

// reset closes the breaker; b.mu is held.
func (b *breaker) reset() change {
	wasOpen := !b.until.IsZero()
	b.failures, b.pause, b.until, b.probe = 0, 0, time.Time{}, nil
	if wasOpen {
		return change{to: closed}
	}
	return change{}
}

// count takes in a failure of an attempt from began to ended, and opens the breaker when
// it is one too many; b.mu is held. One that was let through before it opened changes
// nothing.
func (b *breaker) count(began, ended time.Time, probe bool) change {
	if b.failures == 0 || began.Before(b.since) {
		b.since = began
	}
	b.failures++
	open := !b.until.IsZero()
	switch {
	case open && !probe:
		return change{}
	case !open && (b.failures < failuresInARow || ended.Sub(b.since) < failingFor):
		return change{}
	}
	b.pause = min(max(2*b.pause, firstPause), longestPause)
	b.until = ended.Add(b.pause)
	if open {
		return change{}
	}
	return change{to: opened, pause: b.pause}
}

// outcomeOf is what the end of an attempt tells of its provider. A turn that was given up
// before its time tells nothing.
func outcomeOf(turn context.Context, err error) outcome {
	if err == nil {
		return answered
	}
	if errors.Is(turn.Err(), context.Canceled) {
		return unknown
	}
	var e *llm.Error
	if errors.As(err, &e) && e.Kind == llm.KindRejected {
		return unknown
	}
	return failed
}
