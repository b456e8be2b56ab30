package budget

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// The pace of a keeper (docs/spec/06-contact.md, "Caps, all before the model runs, all
// escalating").
const (
	// pollEvery is how often room is asked for that another process may have made.
	pollEvery = time.Second
	// bookEvery is how often what was spent is booked, and in which others are seen to
	// ask; a whole multiple of pollEvery.
	bookEvery = 5 * time.Second
	// stateWithin bounds one statement. A call whose turn has no time left waits for it.
	stateWithin = 3 * time.Second
	// stopWithin bounds the last statements, and stopRetry is the pause between them.
	stopWithin = 10 * time.Second
	stopRetry  = 250 * time.Millisecond
)

// Run states to the ledger what this process has of the budget: when calls wait, when
// more is unused than it keeps, and every 5 s. When ctx ends it refuses the calls that
// wait and states everything but what is in flight as spent or returned, for 10 s at most.
// It runs once.
func (k *Keeper) Run(ctx context.Context) {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for tick := 1; ; {
		select {
		case <-ctx.Done():
			k.stop()
			return
		case <-k.wake:
			k.round(false)
		case <-ticker.C:
			k.round(tick%int(bookEvery/pollEvery) == 0)
			tick++
		}
	}
}

// round states every account that has something to state.
func (k *Keeper) round(booking bool) {
	k.mu.Lock()
	k.account(DayOf(k.cfg.Now()))
	days := slices.Sorted(maps.Keys(k.accounts))
	k.mu.Unlock()
	for _, day := range days {
		for again, first := true, booking; again; first = false {
			again = k.restate(day, first)
		}
	}
}

// restate makes one statement of an account when it has something to state, and reports
// whether there may be another one at once.
func (k *Keeper) restate(day Day, booking bool) (again bool) {
	k.mu.Lock()
	a, waiting := k.account(day), []*waiter(nil)
	now := k.cfg.Now()
	if day == DayOf(now) {
		waiting = k.batch()
	}
	keep := a.keeps(booking)
	a.busy = a.busy && !booking
	if len(waiting) == 0 && !a.returns(keep) && (!booking || !a.unstated()) {
		if day != DayOf(now) && a.ended() {
			delete(k.accounts, day)
		}
		k.mu.Unlock()
		return false
	}
	s := a.statement(waiting, keep)
	k.mu.Unlock()

	ctx, cancel := context.WithTimeout(context.Background(), stateWithin)
	defer cancel()
	ans, err := k.say(ctx, s)

	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failed(a, waiting, err)
		return false
	}
	return k.answered(a, s, ans, waiting)
}

// say writes a statement, and reports once that it cannot and once that it can again.
func (k *Keeper) say(ctx context.Context, s Statement) (Answer, error) {
	s.TenantID, s.Owner = k.cfg.TenantID, k.cfg.Owner
	ans, err := k.cfg.Ledger.State(ctx, s)
	switch {
	case err != nil && !k.silent:
		k.cfg.Log.Warn("the budget's ledger cannot be written; calls that need more of the budget wait", "error", err)
	case err == nil && k.silent:
		k.cfg.Log.Info("the budget's ledger can be written again")
	}
	k.silent = err != nil
	return ans, err
}

// failed is a statement of unknown fate: it is made again at the next booking, or at the
// next poll when calls wait. k.mu is held.
func (k *Keeper) failed(a *account, waiting []*waiter, err error) {
	a.unsure = true
	for _, w := range waiting {
		k.tried(w, fmt.Errorf("%w: %w", ErrUnavailable, err))
	}
	k.serve()
}

// answered lets in what the ledger admitted. k.mu is held.
func (k *Keeper) answered(a *account, s Statement, ans Answer, waiting []*waiter) (again bool) {
	a.answered(s, ans)
	k.warn(a, ans.Total)
	k.admit(a, waiting[:ans.Admitted])
	for _, w := range waiting[ans.Admitted:] {
		k.tried(w, ErrExhausted)
	}
	k.serve()
	if a.day == DayOf(k.cfg.Now()) && len(k.queue) > 0 {
		return k.queue[0].reason == nil // else what is unused waits with it
	}
	return a.returns(a.keeps(false))
}

// warn reports once that a day's use passed the share to warn at; k.mu is held.
func (k *Keeper) warn(a *account, total Total) {
	used := total.Spent.plus(total.Leased)
	for i, d := range [...]struct {
		event, unit, rule string
		used, cap         int64
	}{
		{WarnedTokens, "tokens", "budget.dailyTokenCap", used.Tokens, a.cap.Tokens},
		{WarnedCost, "micro-dollars", "budget.dailyCostCapUsd", used.Micros, a.cap.Micros},
	} {
		if a.warned[i] || float64(d.used) < a.warnAt*float64(d.cap) {
			continue
		}
		a.warned[i] = true
		k.cfg.Count(d.event)
		k.cfg.Log.Warn("the daily budget is nearly used; its cap is "+d.rule+" in rules.json", "day", a.day.String(), "unit", d.unit, "used", d.used, "cap", d.cap)
	}
}

// stop refuses what waits and ends every account.
func (k *Keeper) stop() {
	k.mu.Lock()
	k.stopped = true
	for len(k.queue) > 0 {
		k.finish(k.queue[0], nil, ErrUnavailable)
	}
	accounts := slices.Collect(maps.Values(k.accounts))
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), stopWithin)
	defer cancel()
	for _, a := range accounts {
		for !k.end(ctx, a) {
			select {
			case <-ctx.Done():
				k.cfg.Log.Error("the budget could not be returned; the next start takes it over")
				return
			case <-time.After(stopRetry):
			}
		}
	}
}

// end states an account for the last time, and reports whether that is done.
func (k *Keeper) end(ctx context.Context, a *account) bool {
	k.mu.Lock()
	if !a.unstated() {
		k.mu.Unlock()
		return true
	}
	s := a.statement(nil, Amount{})
	k.mu.Unlock()
	ans, err := k.say(ctx, s)
	if err != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	a.answered(s, ans)
	return true
}
