// Package api is ManyChat's public API over the state of an account: paths,
// shapes, limits, codes and texts as in section 2 of the platform notes.
package api

import (
	"net/http"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/manychattest/fault"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/operation"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/rate"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/internal/wire"
	"github.com/manychat-agent/manychat-agent/manychat/manychattest/phone"
)

// Config is what a [Handler] works with. Every field but Limiter is required.
type Config struct {
	operation.Config
	Token   string        // the whole API token
	Limiter *rate.Limiter // nil: unlimited
	Faults  *fault.Injector
	Record  func(phone.Call)
	Now     func() time.Time
	Done    <-chan struct{} // closed when the emulator stops
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
		c.answer(wire.Fail(http.StatusNotFound, "Not found"))
		return
	case !c.authorized(r.Header.Get("Authorization")):
		return
	case !c.read(r):
		return
	}
	plan := h.cfg.Faults.API(fault.Call{Path: r.URL.Path, Family: string(ep.family), Contact: c.op.Contact, Names: c.op.Names()})
	c.wait(plan.Latency)
	if !h.allow(ep.family, c.op.Contact) {
		c.answer(wire.Fail(http.StatusTooManyRequests, "Too many requests"))
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
