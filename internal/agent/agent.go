// Package agent turns what a contact wrote into a reply of the contract: it writes the
// prompt, runs the bounded loop with the model, and says how a turn failed when it did.
package agent

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/reply"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Budget lets calls of the model in.
type Budget interface {
	// Reserve sets a call's worst case aside, and waits for room until call.By at most.
	// An error keeps the call from being made; the reservation is to be settled.
	Reserve(ctx context.Context, call budget.Call) (*budget.Reservation, error)
}

// Config is what an [Agent] needs.
type Config struct {
	Model           llm.Model
	Budget          Budget
	ModelName       string   // provider:model, as it is recorded
	MaxOutputTokens int      // of the visible answer; positive
	Temperature     *float64 // nil: the provider's default
	Now             func() time.Time
}

// Agent answers turns. It is safe for concurrent use.
type Agent struct {
	config Config
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
	case c.Model == nil, c.Budget == nil:
		return nil, errors.New("agent: Config.Model or Config.Budget is missing")
	case c.ModelName == "":
		return nil, errors.New("agent: Config.ModelName is missing")
	case c.MaxOutputTokens <= 0:
		return nil, errors.New("agent: Config.MaxOutputTokens is not positive")
	case c.Now == nil:
		return nil, errors.New("agent: Config.Now is missing")
	}
	schema, err := reply.Schema()
	if err != nil {
		return nil, err
	}
	return &Agent{config: c, schema: schema}, nil
}

// Input is one turn.
type Input struct {
	Tenant    *tenant.Tenant
	History   []conversation.Entry // oldest first, without Text
	Text      string               // what the contact wrote
	FirstName string               // the contact's; empty: the model is not told
	Offering  string               // id of the contact's offering; empty: none
	ReserveBy time.Time            // until when a call waits for room in the budget
}

// Result is what a turn's loop came to. After an error it still holds everything but
// the reply: what was spent, and the steps so far.
type Result struct {
	Reply         reply.Reply
	Model         string // provider:model
	PromptVersion string
	Spend         conversation.Spend // tokens as the provider counts them, and what the calls were charged
	Steps         []Step
}

// Step is one call of the model.
type Step struct {
	Took    time.Duration
	Stop    llm.Stop // empty: the call failed
	Usage   llm.Usage
	Calls   []llm.ToolCall
	Results []llm.Result // one per call that was answered
}

// Run answers a turn. It ends when ctx does, which is the model's abort. Its error is
// an [*Error].
func (a *Agent) Run(ctx context.Context, in Input) (Result, error) {
	result := Result{Model: a.config.ModelName}
	p, err := a.promptFor(in.Tenant)
	if err != nil {
		return result, &Error{Class: Prompt, Err: err}
	}
	result.PromptVersion = p.Version
	l := loop{agent: a, result: &result, terms: budget.TermsOf(in.Tenant.Rules.Budget, a.config.ModelName), by: in.ReserveBy, request: llm.Request{
		System: p.System,
		Messages: p.Messages(prompt.Turn{
			History: in.History, Text: in.Text, FirstName: in.FirstName, Offering: in.Offering, Now: a.config.Now(),
		}),
		ToolChoice:      llm.ToolsNone,
		Schema:          a.schema,
		MaxOutputTokens: a.config.MaxOutputTokens,
		Temperature:     a.config.Temperature,
	}}
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
