// Package api is ManyChat's public API over the state of an account: paths,
// shapes, limits, codes and texts as in section 2 of the platform notes.
package api

import (
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/account"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/block"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/rate"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Config is what a [Handler] works with. Every field but Limiter is required.
type Config struct {
	Account *account.Account
	Token   string // the whole API token
	PageID  string
	Page    phone.Page
	Limiter *rate.Limiter // nil: unlimited
	Faults  *fault.Injector
	Flows   Flows
	// Rules are those for data that goes to a contact on the channel.
	Rules  func(*account.State, *account.Contact, manychat.Channel) block.Rules
	Record func(phone.Call)
	Now    func() time.Time
	Done   <-chan struct{} // closed when the emulator stops
}

// Flows are the account's flows.
type Flows interface {
	// List is every flow.
	List() []phone.FlowDef
	// Has reports whether there is a flow with the namespace.
	Has(ns string) bool
	// Start plays the flow to the contact and returns at once. Call it outside an
	// account update.
	Start(contact, ns string)
}

// Handler serves the API.
type Handler struct{ cfg Config }

// New makes a handler.
func New(cfg Config) *Handler { return &Handler{cfg: cfg} }

// ServeHTTP answers one call.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := newCall(h, w, r)
	ep, known := endpoints[r.Method+" "+r.URL.Path]
	switch {
	case !known:
		c.answer(fail(http.StatusNotFound, "Not found"))
		return
	case !c.authorized(r.Header.Get("Authorization")):
		return
	case !c.read(r):
		return
	}
	plan := h.cfg.Faults.API(fault.Call{Path: r.URL.Path, Family: string(ep.family), Contact: c.log.Contact, Names: c.names()})
	c.wait(plan.Latency)
	if !h.allow(ep.family, c.log.Contact) {
		c.answer(fail(http.StatusTooManyRequests, "Too many requests"))
		return
	}
	c.log.Fault = string(plan.Fault.Kind)
	c.run(ep, plan.Fault)
}

// allow counts the call against the lower of the two official limits (2.3). They
// hold for the whole account and, but for sendFlow, for the family as a whole:
// their scope is not stated, and this is the strictest reading.
func (h *Handler) allow(f family, contact string) bool {
	if h.cfg.Limiter == nil || f == unlimited {
		return true
	}
	limits := []rate.Limit{{Key: string(f), N: perSecond[f], Per: time.Second}}
	if f == sendFlow && contact != "" {
		limits = append(limits, rate.Limit{Key: "hour " + contact, N: 100, Per: time.Hour})
	}
	return h.cfg.Limiter.Allow(limits...)
}
