// Package attempt gets an answer to one request of a turn out of the models that are
// configured: it tries again when a provider fails, goes on to the fallback model, leaves
// a provider alone that has failed for a while, and leaves out of the request what a
// model does not take. Every attempt is let into the budget on its own.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Budget lets calls of the model in.
type Budget interface {
	// Reserve sets a call's worst case aside, and waits for room until call.By at most.
	// An error keeps the call from being made; the reservation is to be settled.
	Reserve(ctx context.Context, call budget.Call) (*budget.Reservation, error)
}

// Model is one model that may be asked.
type Model struct {
	Name  string // provider:model
	Model llm.Model
}

// Config is what a [Caller] needs.
type Config struct {
	Models []Model    // in the order in which they are asked: the first, and the fallback
	Effort llm.Effort // for models that take one; empty: none is asked for
	Budget Budget
	Now    func() time.Time
	Jitter func(time.Duration) time.Duration // spreads a wait; at most what it is given
	Log    *slog.Logger
}

// Caller makes calls. It is safe for concurrent use.
type Caller struct {
	config     Config
	candidates []*candidate
}

// New checks the configuration. Models of one provider share its breaker.
func New(c Config) (*Caller, error) {
	switch {
	case len(c.Models) == 0:
		return nil, errors.New("attempt: Config.Models is empty")
	case c.Budget == nil, c.Now == nil, c.Jitter == nil, c.Log == nil:
		return nil, errors.New("attempt: Config.Budget, Config.Now, Config.Jitter or Config.Log is missing")
	}
	caller := &Caller{config: c}
	breakers := map[string]*breaker{}
	for _, m := range c.Models {
		provider, _, err := llm.ParseName(m.Name)
		switch {
		case err != nil:
			return nil, err
		case m.Model == nil:
			return nil, fmt.Errorf("attempt: model %s is missing", m.Name)
		case breakers[provider] == nil:
			breakers[provider] = &breaker{}
		}
		caller.candidates = append(caller.candidates, &candidate{
			Model: m, provider: provider, traits: llm.TraitsOf(m.Name), effort: c.Effort, breaker: breakers[provider],
		})
	}
	return caller, nil
}

// Turn is the calls of one turn. They go on with the fallback once it was needed.
type Turn struct {
	caller *Caller
	budget tenant.Budget
	by     time.Time
	at     int // the candidate in use
}

// Turn begins the calls of a turn under a tenant's budget; each of them waits for room
// in it until by.
func (c *Caller) Turn(rules tenant.Budget, by time.Time) *Turn {
	return &Turn{caller: c, budget: rules, by: by}
}

// Model is the model that the turn is with, provider:model.
func (t *Turn) Model() string { return t.caller.candidates[t.at].Name }

// Made is one attempt.
type Made struct {
	Model string // provider:model
	Took  time.Duration
	Usage llm.Usage // as the provider counts
	Cost  int64     // micro-dollars that it was charged
	Err   error     // nil: it was answered
}

// Call gets an answer, or the reason why none came: the context's, the budget's
// ([ErrBudget]), the last provider's, an [*OpenError] when providers are left alone, or a
// [*PanicError]. It returns when ctx ends, whatever a model does. Made lists the
// attempts, also behind an error.
func (t *Turn) Call(ctx context.Context, req llm.Request) (resp llm.Response, made []Made, err error) {
	for {
		c := t.caller.candidates[t.at]
		last := t.at == len(t.caller.candidates)-1
		resp, err = t.ask(ctx, c, req, last, &made)
		if err == nil || last || ctx.Err() != nil || errors.Is(err, ErrBudget) {
			return resp, made, err
		}
		t.at++
		t.caller.config.Log.Warn("model failed, going on with the fallback", "model", c.Name, "fallback", t.Model(), "error", err)
	}
}

// ask tries one model: once when another is to follow, else again and again while that
// may help and the context allows.
func (t *Turn) ask(ctx context.Context, c *candidate, req llm.Request, last bool, made *[]Made) (llm.Response, error) {
	for failures, reworded := 0, 0; ; {
		fitted := c.fit(req)
		resp, err := t.attempt(ctx, c, fitted, last, made)
		if err == nil {
			return resp, nil
		}
		if t.without(c, fitted, err) {
			continue
		}
		if rewords(err) && reworded < maxRewordings {
			reworded++
			t.caller.config.Log.Info("model takes its requests otherwise; they are written so until the next start", "model", c.Name, "error", err)
			continue
		}
		failures++
		wait, again := t.pause(ctx, err, failures)
		if !last || !again {
			return resp, err
		}
		if open := c.breaker.openAt(c.provider, t.caller.config.Now().Add(wait)); open != nil {
			return llm.Response{}, open
		}
		t.caller.config.Log.Warn("model failed, trying again", "model", c.Name, "attempt", failures, "wait", wait.String(), "error", err)
		if !sleep(ctx, wait) {
			return resp, err
		}
	}
}

// maxRewordings bounds what an adapter may have to learn for one request.
const maxRewordings = 4

// rewords reports whether an adapter would write the same request otherwise.
func rewords(err error) bool {
	var e *llm.Error
	return errors.As(err, &e) && e.Unsupported == llm.Wording
}

// without leaves out of c's requests, from now on, what the provider does not take, and
// reports whether req held it, so that the next one is another.
func (t *Turn) without(c *candidate, req llm.Request, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || !holds(req, e.Unsupported) {
		return false
	}
	if c.drop(e.Unsupported) {
		t.caller.config.Log.Warn("model does not take a part of its requests; they leave it out until the next start",
			"model", c.Name, "part", string(e.Unsupported), "error", err)
	}
	return true
}

// attempt makes one attempt, unless ctx has ended, or the breaker or the budget is
// against it.
func (t *Turn) attempt(ctx context.Context, c *candidate, req llm.Request, last bool, made *[]Made) (llm.Response, error) {
	if err := ctx.Err(); err != nil {
		return llm.Response{}, err
	}
	now := t.caller.config.Now
	pass, err := c.breaker.admit(c.provider, now())
	if err != nil {
		return llm.Response{}, err
	}
	start, came := now(), unknown
	defer func() { t.tell(c, pass.report(start, now(), came)) }()
	terms := budget.TermsOf(t.budget, c.Name)
	worst := budget.Worst(req, terms.Price)
	reserved, err := t.caller.config.Budget.Reserve(ctx, budget.Call{Terms: terms, Worst: worst, By: t.by})
	if err != nil {
		return llm.Response{}, fmt.Errorf("%w: %w", ErrBudget, err)
	}
	start = now()
	within, cancel := share(ctx, start, last)
	defer cancel()
	a := exchange(within, c.Model.Model, req, func(resp llm.Response, err error) int64 {
		spent := budget.Spent(worst, terms.Price, resp.Usage, err)
		reserved.Settle(spent)
		return spent.Micros
	}, worst.Micros)
	came = outcomeOf(ctx, a.err)
	if p := (*PanicError)(nil); errors.As(a.err, &p) {
		t.caller.config.Log.Error("the model's adapter panicked", "model", c.Name, "panic", p.What, "stack", string(p.Stack))
	}
	*made = append(*made, Made{Model: c.Name, Took: now().Sub(start), Usage: a.resp.Usage, Cost: a.micros, Err: a.err})
	return a.resp, a.err
}

// tell reports a breaker that changed.
func (t *Turn) tell(c *candidate, change change) {
	switch change.to {
	case opened:
		t.caller.config.Log.Error("provider fails again and again; it is left alone for a while, and turns go to the fallback or to a person",
			"provider", c.provider, "for", change.pause.String())
	case closed:
		t.caller.config.Log.Info("provider answers again", "provider", c.provider)
	}
}

// share is the time that an attempt has: all that is left, or half of it when another
// model is to be asked behind it.
func share(ctx context.Context, now time.Time, last bool) (context.Context, context.CancelFunc) {
	deadline, bounded := ctx.Deadline()
	if last || !bounded {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, now.Add(deadline.Sub(now)/2))
}
