package tool

import (
	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Turn is what the tools of one turn act on.
type Turn struct {
	Tools   *tenant.Tools       // what the tenant configured; nil: nothing is offered
	Flows   Sender              // nil: flows are staged like everything else, as on a nudge turn
	Contact Reader              // nil: get_contact is not offered
	Nudges  bool                // whether schedule_nudge is offered
	Sent    []string            // ids of the flows that the contact was sent before
	Earlier []action.Record     // of an earlier try of this turn: the flows it sent
	Fence   func(string) string // puts a contact's words, and what may hold them, between fences
}

// Result is what the calls of a turn came to.
type Result struct {
	Record  []action.Record  // in the order made, those of the earlier try first; nil: no tool was offered and there was none
	Pending []action.Pending // those of the record that are staged, in their order
	Calls   []action.Call    // the trace
}

// Desk takes the calls of one turn. It is safe for concurrent use.
type Desk struct{}

// NewDesk opens the desk of a turn.
func NewDesk(Turn) *Desk { return &Desk{} }

// Tools are what is offered, in a fixed order; none: nothing is.
func (d *Desk) Tools() []Tool { return nil }

// SoFar says in words, for the model, what was staged, what went out, what was refused and what was
// read last; empty: nothing was called.
func (d *Desk) SoFar() string { return "" }

// Close takes no more calls and returns what they came to. A flow whose answer is still
// awaited has failed with [action.OutcomeUnknown].
func (d *Desk) Close() Result { return Result{} }

// Rules is every text of the tools' own that a model is told, which no reply may quote.
func Rules() string { return "" }
