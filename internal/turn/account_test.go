package turn_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// account is the business's account at ManyChat: what it was asked for and when.
type account struct {
	start time.Time
	takes time.Duration // each request

	mu     sync.Mutex
	calls  []string
	faults map[string]action.Ended // by the id of the action
	tagged bool                    // the contact carries the tag of an active person
}

// do answers a request for an action, unless ctx ends before.
func (a *account) do(ctx context.Context, what string, p action.Pending) action.Ended {
	a.mu.Lock()
	takes := a.takes
	a.calls = append(a.calls, fmt.Sprintf("%s %s %s", time.Since(a.start), what, p.ID))
	ended, broken := a.faults[p.ID]
	a.mu.Unlock()
	ended.Place = p.Place
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return action.Ended{Place: p.Place, Status: action.Failed, Error: action.OutcomeUnknown}
	}
	if !broken {
		ended.Status, ended.At = action.Performed, time.Now()
	}
	return ended
}

// Perform fills [turn.Account].
func (a *account) Perform(ctx context.Context, b delivery.Batch) (all []action.Ended) {
	for _, p := range b.Actions {
		all = append(all, a.do(ctx, "act "+string(p.Tool), p))
	}
	return all
}

// SendFlow fills [turn.Account].
func (a *account) SendFlow(ctx context.Context, b delivery.Batch) action.Ended {
	return a.do(ctx, "flow", action.Pending{ID: b.Claim.Flow})
}

// HasTag fills [turn.Account].
func (a *account) HasTag(ctx context.Context, _ contact.Key, tag string) (bool, error) {
	if e := a.do(ctx, "tags", action.Pending{ID: tag}); e.Status != action.Performed {
		return false, errors.New("ManyChat does not answer")
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.tagged, nil
}

// Read fills [turn.Account].
func (a *account) Read(ctx context.Context, _ contact.Key, _ *tenant.Tools) (contact.Profile, error) {
	if e := a.do(ctx, "read", action.Pending{ID: "contact"}); e.Status != action.Performed {
		return contact.Profile{}, errors.New("ManyChat does not answer")
	}
	return contact.Profile{Tags: []string{"gift"}}, nil
}

func (a *account) seen() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.calls...)
}
