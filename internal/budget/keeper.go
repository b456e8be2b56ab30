package budget

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// What a keeper counts. A warning is one a day, dimension and process. A call for which
// there was no room at first is counted when it is let in after all, or refused.
const (
	WarnedTokens = "warned_tokens"
	WarnedCost   = "warned_cost"
	Waited       = "waited"
	Refused      = "refused"
)

// Config is what a [Keeper] needs; every field is required.
type Config struct {
	Ledger   Ledger
	TenantID string
	Owner    string // this process
	Now      func() time.Time
	Log      *slog.Logger
	Count    func(event string)
}

// Keeper hands out a tenant's daily budget to the calls of this process. It is safe for
// concurrent use. [Keeper.Run] must run for calls to be let in.
type Keeper struct {
	cfg  Config
	wake chan struct{} // tells Run that there is something to state

	mu       sync.Mutex
	accounts map[Day]*account // today's, and those of days that are not at their end
	queue    []*waiter        // calls that wait, in their order
	stopped  bool
	unpriced map[string]bool // models of unknown price that were reported

	silent bool // the ledger failed last time; only Run has it
}

// New checks the config.
func New(cfg Config) (*Keeper, error) {
	switch {
	case cfg.Ledger == nil, cfg.Now == nil, cfg.Log == nil, cfg.Count == nil:
		return nil, errors.New("budget: a collaborator is missing from the keeper's config")
	case cfg.TenantID == "", cfg.Owner == "":
		return nil, errors.New("budget: the tenant and the owner must be set")
	}
	return &Keeper{cfg: cfg, wake: make(chan struct{}, 1), accounts: map[Day]*account{}, unpriced: map[string]bool{}}, nil
}

// Reserve sets the worst case of a call aside. A call for which there is no room waits
// until call.By for another one to settle, here or in another process, behind those that
// came before it; it never waits when no settlement could make that room. The error is
// [ErrExhausted], or [ErrUnavailable] with the ledger's or ctx's own.
//
// The caller must settle the reservation.
func (k *Keeper) Reserve(ctx context.Context, call Call) (*Reservation, error) {
	k.mu.Lock()
	k.reportPrice(call.Terms)
	if k.stopped {
		k.mu.Unlock()
		return k.refuse(ErrUnavailable)
	}
	a := k.account(DayOf(k.cfg.Now()))
	if len(k.queue) == 0 && a.holds(call) {
		r := k.reserve(a, call.Worst)
		k.mu.Unlock()
		return r, nil
	}
	if a.hopeless(call) {
		k.mu.Unlock()
		return k.refuse(ErrExhausted)
	}
	w := &waiter{call: call, done: make(chan struct{})}
	k.queue = append(k.queue, w)
	k.mu.Unlock()
	k.look()
	return k.wait(ctx, w)
}

// refuse counts a call that is not let in.
func (k *Keeper) refuse(err error) (*Reservation, error) {
	k.cfg.Count(Refused)
	return nil, err
}

// look makes Run look whether there is something to state.
func (k *Keeper) look() {
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// account finds or opens a day's account; k.mu is held.
func (k *Keeper) account(day Day) *account {
	a := k.accounts[day]
	if a == nil {
		a = &account{day: day}
		k.accounts[day] = a
	}
	return a
}

// reserve takes a worst case out of what is unused; k.mu is held.
func (k *Keeper) reserve(a *account, worst Amount) *Reservation {
	a.unused = a.unused.minus(worst)
	a.reserved = a.reserved.plus(worst)
	a.busy = true
	return &Reservation{keeper: k, account: a, worst: worst}
}

func (k *Keeper) reportPrice(t Terms) {
	if t.PriceKnown || k.unpriced[t.Model] {
		return
	}
	k.unpriced[t.Model] = true
	k.cfg.Log.Warn("nobody named the model's price, it counts the highest; set budget.prices in rules.json",
		"model", t.Model, "input_per_million_usd", float64(t.Price.Input)/1e6, "output_per_million_usd", float64(t.Price.Output)/1e6)
}

// Reservation is a call's worst case, set aside. The zero Reservation holds nothing.
type Reservation struct {
	keeper  *Keeper
	account *account // of the day it was made
	worst   Amount
	settled bool
}

// Settle books what the call spent on the day it was reserved, more than was reserved
// included, and frees the rest. It never waits, and only its first call counts.
func (r *Reservation) Settle(spent Amount) {
	k := r.keeper
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if r.settled {
		return
	}
	r.settled = true
	spent = spent.clamped()
	a := r.account
	a.reserved = a.reserved.minus(r.worst)
	a.spent = a.spent.plus(spent)
	a.unused = a.unused.plus(r.worst).minus(spent)
	k.serve()
	if len(k.queue) > 0 || a.returns(a.keeps(false)) {
		k.look()
	}
}

// Unlimited lets every call in, for models that run without a tenant's budget.
type Unlimited struct{}

// Reserve returns a reservation that holds nothing.
func (Unlimited) Reserve(context.Context, Call) (*Reservation, error) { return &Reservation{}, nil }
