// Package agent turns what a contact wrote into a reply of the contract: it writes the
// prompt, runs the bounded loop with the model, and says how a turn failed when it did.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Config is what an [Agent] needs.
type Config struct {
	Models          []attempt.Model // in the order in which they are asked: the first, and the fallback
	Effort          llm.Effort      // for models that take one; empty: none is asked for
	Budget          attempt.Budget
	MaxOutputTokens int      // of the visible answer; positive
	Temperature     *float64 // nil: the provider's default
	Now             func() time.Time
	Jitter          func(time.Duration) time.Duration // spreads the waits between attempts
	Log             *slog.Logger
}

// Agent answers turns. It is safe for concurrent use.
type Agent struct {
	config Config
	caller *attempt.Caller
	schema []byte
	prompt atomic.Pointer[cached] // of the tenant that was asked for last
}

type cached struct {
	tenant *tenant.Tenant
	prompt *prompt.Prompt
}

// New checks the configuration.
func New(c Config) (*Agent, error) {
	switch {
	case c.MaxOutputTokens <= 0:
		return nil, errors.New("agent: Config.MaxOutputTokens is not positive")
	case c.Now == nil:
		return nil, errors.New("agent: Config.Now is missing")
	}
	caller, err := attempt.New(attempt.Config{
		Models: c.Models, Effort: c.Effort, Budget: c.Budget, Now: c.Now, Jitter: c.Jitter, Log: c.Log,
	})
	if err != nil {
		return nil, fmt.Errorf("agent: %w", err)
	}
	schema, err := reply.Schema()
	if err != nil {
		return nil, err
	}
	return &Agent{config: c, caller: caller, schema: schema}, nil
}

// Input is one turn.
type Input struct {
	Tenant    *tenant.Tenant
	History   []conversation.Entry // oldest first, without Text
	Text      string               // what the contact wrote
	FirstName string               // the contact's; empty: the model is not told
	Offering  string               // id of the contact's offering; empty: none
	Sale      contact.Sale         // what is known of the contact as a buyer
	Tools     []tool.Tool          // what the model may ask for; each for this turn alone
	SoFar     func() string        // what the calls came to, in words, for the last step; nil: not told
	Earlier   []action.Record      // what an earlier try of this turn sent
	Quiet     time.Duration        // how long the contact has not written, of a turn that follows up on that; zero: it answers Text
	ReserveBy time.Time            // until when a call waits for room in the budget
}

// Result is what a turn's loop came to. After an error it still holds everything but
// the reply: what was spent, and the steps so far.
type Result struct {
	Reply         reply.Reply
	Model         string // that was asked last, provider:model
	PromptVersion string
	Spend         conversation.Spend // tokens as the provider counts them, and what the calls were charged
	Steps         []Step
}

// Step is one request to the models.
type Step struct {
	Took     time.Duration // with every attempt and the waits between
	Attempts []attempt.Made
	Stop     llm.Stop     // empty: no model answered
	Asked    int          // how many calls the answer holds; more than are kept: none was made
	Calls    []string     // names of what was called, cut to their length, in order
	Results  []llm.Result // one per call that was answered
}

// Run answers a turn. It ends when ctx does, which is the model's abort, whatever a model
// or what a tool runs does. Its error is an [*Error].
func (a *Agent) Run(ctx context.Context, in Input) (Result, error) {
	calls := a.caller.Turn(in.Tenant.Rules.Budget, in.ReserveBy)
	result := Result{Model: calls.Model()}
	p, err := a.promptFor(in.Tenant)
	if err != nil {
		return result, &Error{Class: Prompt, Err: err}
	}
	result.PromptVersion = p.Version
	l := newLoop(a, calls, &result, in)
	l.request = llm.Request{
		System: p.System,
		Messages: p.Messages(prompt.Turn{
			History: in.History, Text: in.Text, FirstName: in.FirstName, Offering: in.Offering, Sale: in.Sale,
			Earlier: in.Earlier, Quiet: in.Quiet, Now: a.config.Now(),
		}),
		Schema:          a.schema,
		MaxOutputTokens: a.config.MaxOutputTokens,
		Temperature:     a.config.Temperature,
	}
	result.Reply, err = l.run(ctx)
	return result, err
}

// promptFor renders a tenant's prompt once for as long as turns come with that tenant.
func (a *Agent) promptFor(t *tenant.Tenant) (*prompt.Prompt, error) {
	if c := a.prompt.Load(); c != nil && c.tenant == t {
		return c.prompt, nil
	}
	p, err := prompt.New(t)
	if err != nil {
		return nil, err
	}
	a.prompt.Store(&cached{t, p})
	return p, nil
}
