package app

import (
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/agent/prompt"
	"github.com/manychat-agent/manychat-agent/internal/agent/tool"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/config"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Spending says what a tenant's daily budget comes to and what its agent may do, in
// sentences for an operator.
type Spending struct {
	Warnings []string // misnamed files, prices that are not known, and a cap that no message fits in
	Allows   string   // about how many messages the caps are enough for; empty: none is known to fit
	MayDo    string   // see [tenant.Tenant.Allowed]
}

// Log tells it to the log.
func (s Spending) Log(log *slog.Logger) {
	for _, sentence := range s.Warnings {
		log.Warn(sentence)
	}
	if s.Allows != "" {
		log.Info(s.Allows)
	}
	log.Info(s.MayDo)
}

// SpendingOf reckons with the tenant's prompt and the prices of the configured models. The
// messages are those to the first model: a fallback answers few.
func SpendingOf(c config.Config, t *tenant.Tenant) (Spending, error) {
	s := Spending{Warnings: misnamed(c), MayDo: t.Allowed()}
	for i, m := range configured(c.Agent) {
		terms := budget.TermsOf(t.Rules.Budget, m.name.String())
		if !terms.PriceKnown {
			s.Warnings = append(s.Warnings, fmt.Sprintf(
				"nobody named the price of %s, so that it counts $%g a million tokens read and $%g a million written: set budget.prices in rules.json",
				m.name, dollars(terms.Price.Input), dollars(terms.Price.Output)))
		}
		if i > 0 {
			continue
		}
		p, err := prompt.New(t)
		if err != nil {
			return s, err
		}
		s.reckon(terms, llm.Request{
			System: p.System, Messages: p.Messages(prompt.Turn{Now: time.Now()}), Tools: tool.Specs(t.Tools),
			MaxOutputTokens: c.Agent.MaxOutputTokens,
		})
	}
	return s, nil
}

// reckon says how many requests a day's caps are enough for.
func (s *Spending) reckon(terms budget.Terms, req llm.Request) {
	usage := llm.Usage{Input: int64(prompt.Tokens(req.System)), Output: int64(req.MaxOutputTokens)}
	for _, m := range req.Messages {
		usage.Input += int64(prompt.Tokens(m.Text))
	}
	for _, t := range req.Tools {
		usage.Input += int64(prompt.Tokens(prompt.ToolText(t)))
	}
	worst := budget.Worst(req, terms.Price)
	messages, rule := times(terms.Cap.Tokens, worst.Tokens, usage.Input+usage.Output), fmt.Sprintf("budget.dailyTokenCap in rules.json (%d)", terms.Cap.Tokens)
	if n := times(terms.Cap.Micros, worst.Micros, terms.Price.Cost(usage)); n < messages {
		messages, rule = n, fmt.Sprintf("budget.dailyCostCapUsd in rules.json (%g)", dollars(terms.Cap.Micros))
	}
	if messages == 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf(
			"the daily budget has no room for a message to %s, for which up to %d tokens and $%.2f are set aside, so that every contact is handed to a person: raise %s",
			terms.Model, worst.Tokens, dollars(worst.Micros), rule))
		return
	}
	s.Allows = fmt.Sprintf(
		"The daily budget is enough for about %d messages to %s, each of about %d tokens read and at most %d written; earlier messages and reasoning come on top. The cap that is reached first is %s.",
		messages, terms.Model, usage.Input, usage.Output, rule)
}

// times is how many calls a cap lets in that cost usual each, as long as there is room for
// the worst case of one.
func times(limit, worst, usual int64) int64 {
	switch {
	case worst > limit:
		return 0
	case usual <= 0:
		return math.MaxInt64
	}
	return (limit-worst)/usual + 1
}

// dollars is an amount of micro-dollars in dollars.
func dollars(micros int64) float64 { return float64(micros) / 1e6 }
