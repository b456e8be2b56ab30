// Package budget keeps a tenant's daily budgets of tokens and money. A call of a model
// reserves its worst case before it is made and settles what it spent after it, so that
// what is spent and what is in flight never pass a cap together.
//
// The days are kept by a [Ledger] that every process writes. A process leases blocks of
// a day from it, 1 % of the cap each and as many as its calls need, and hands them out
// in memory; what it does not use goes back. What a process holds is written as
// absolute numbers, so a statement that is said twice is said once.
//
// Of a process that died the ledger charges what was spent, the worst case of what was in
// flight, and of what it still held at most the one block that it works from. It never
// charges less than that. A block too small for a call is not worked from, and then
// nothing but what was settled since the last statement, at most a block too, is
// charged in vain.
package budget

import (
	"errors"
	"math"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Errors of [Keeper.Reserve]; either way the call must not be made.
var (
	// ErrExhausted says that the day's budget has no room for the call.
	ErrExhausted = errors.New("the daily budget has no room for a call of the model; its caps are budget.dailyTokenCap and budget.dailyCostCapUsd in rules.json")
	// ErrUnavailable says that the ledger did not answer, or that the keeper has stopped.
	ErrUnavailable = errors.New("the daily budget cannot be asked")
)

// Amount is a part of a budget, in both of its dimensions.
type Amount struct {
	Tokens int64 // read and written
	Micros int64 // micro-dollars
}

// most bounds every amount, so that sums of them never overflow: a thousand million
// dollars, or as many tokens as would cost that at a dollar a million.
const most = int64(1e15)

func (a Amount) plus(b Amount) Amount { return Amount{a.Tokens + b.Tokens, a.Micros + b.Micros} }

func (a Amount) minus(b Amount) Amount { return Amount{a.Tokens - b.Tokens, a.Micros - b.Micros} }

// below is the smaller of both in each dimension, above the larger.
func (a Amount) below(b Amount) Amount {
	return Amount{min(a.Tokens, b.Tokens), min(a.Micros, b.Micros)}
}

func (a Amount) above(b Amount) Amount {
	return Amount{max(a.Tokens, b.Tokens), max(a.Micros, b.Micros)}
}

// covers reports whether b can be taken out of a. Nothing can be taken out of anything.
func (a Amount) covers(b Amount) bool {
	return (b.Tokens <= 0 || b.Tokens <= a.Tokens) && (b.Micros <= 0 || b.Micros <= a.Micros)
}

// block is what is leased at a time: 1 % of a cap and at least one unit
// (docs/spec/06-contact.md, "Caps, all before the model runs, all escalating").
func (a Amount) block() Amount { return Amount{max(1, a.Tokens/100), max(1, a.Micros/100)} }

func (a Amount) clamped() Amount { return a.above(Amount{}).below(Amount{most, most}) }

// Terms are what a tenant's rules say about a model's calls.
type Terms struct {
	Cap        Amount  // of a day
	WarnAt     float64 // share of the cap at which the day's use is reported
	Model      string  // provider:model
	Price      llm.Price
	PriceKnown bool // false: nobody named the model's price, and it counts the pessimistic one
}

// TermsOf reads a tenant's rules. Prices of the rules win over the built-in ones.
func TermsOf(b tenant.Budget, model string) Terms {
	t := Terms{
		Cap:    Amount{Tokens: b.DailyTokenCap, Micros: micros(b.DailyCostCapUSD)}.clamped(),
		WarnAt: b.WarnAt,
		Model:  model,
	}
	if p, ok := b.Prices[model]; ok {
		t.Price, t.PriceKnown = priceOf(p), true
		return t
	}
	t.Price, t.PriceKnown = llm.PriceOf(model)
	return t
}

func priceOf(p tenant.ModelPrice) llm.Price {
	price := llm.Price{Input: micros(p.Input), Cached: micros(p.Input), Output: micros(p.Output)}
	if p.Cached != nil {
		price.Cached = micros(*p.Cached)
	}
	return price
}

// micros is an amount of US dollars in micro-dollars.
func micros(usd float64) int64 {
	return int64(math.Round(max(0, min(usd*1e6, float64(most)))))
}

// Call is a call of a model that wants to be made.
type Call struct {
	Terms Terms
	Worst Amount // see [Worst]
	// By is until when the call waits for room. A call for which there is none is refused
	// at once when By has passed, as it always has for the zero time.
	By time.Time
}
