// Package tool holds what a model may ask for in a turn: the seven tools of
// docs/spec/07-tools.md, one a file with its description beside it, and the desk that
// stages what they ask for under the turn's bounds. A tool stages or reads, and sends a
// flow through the one narrow function that its turn gives it; nothing here reaches
// ManyChat.
package tool

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Tool is something that a model may ask for in a turn.
type Tool interface {
	// Spec is what the model is told of it. A call may change it for the steps that follow, as
	// that of another tool may; its name stays.
	Spec() llm.Tool
	// Offered reports whether the model is told of it now: there is something to ask it for.
	Offered() bool
	// Call takes one call. Calls of a step come one at a time, in the order in which the
	// model made them, and return at once: this is where places under a cap are given and
	// actions are staged. Steps of the loop count from 1; arguments are as the model wrote
	// them.
	Call(step int, arguments []byte) Outcome
}

// Outcome is what became of a call. Exactly one of the fields is set.
type Outcome struct {
	Told any    // what the model is told: a value that JSON can write
	Bad  string // why the call could not be made; it is told this
	// Run does what takes time, beside the other calls of the step, and returns what the
	// model is told.
	Run func(ctx context.Context) any
}

// Sender sends flows to the turn's contact.
type Sender interface {
	// Send sends a flow, which r names by its configured id, and returns r with what became
	// of it: performed, failed with a safe reason, discarded when a person has the
	// conversation, or staged when the flow has to follow the turn's own reply. It returns
	// [action.ErrSent], and r as it was, when the contact has the flow already, or when it is the
	// opening and goes out no more. r.ContactAsked says that the contact asked for the link to pay,
	// who may then have it again; what the turn's record says is whether that opened its gate. It
	// ends when ctx does; the calls of one desk come one at a time.
	Send(ctx context.Context, r action.Record) (action.Record, error)
}

// Reader reads the turn's contact.
type Reader interface {
	// Read returns what the tenant's files let the agent know of the contact. It ends when
	// ctx does.
	Read(ctx context.Context) (contact.Profile, error)
}
