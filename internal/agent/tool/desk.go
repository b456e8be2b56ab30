package tool

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/sales"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// Turn is what the tools of one turn act on.
type Turn struct {
	Tools   *tenant.Tools       // what the tenant configured; nil: nothing is offered
	Flows   Sender              // nil: flows are staged like everything else, as on a nudge turn
	Contact Reader              // nil: get_contact is not offered
	Nudges  bool                // whether schedule_nudge is offered
	Sent    []string            // ids of the flows that the contact was sent before
	Sale    contact.Sale        // what is known of the contact as a buyer
	Earlier []action.Record     // of an earlier try of this turn: the flows it sent, those of the server's rules too
	Menu    *Menu               // keeps the specs between turns; nil: they are written anew
	Fence   func(string) string // puts a contact's words, and what may hold them, between fences; nil: notes are not read
}

// Result is what the calls of a turn came to.
type Result struct {
	Record  []action.Record  // in the order made, those of the earlier try first; nil: no tool was offered and there was none
	Pending []action.Pending // those of the record that are staged, in their order
	Calls   []action.Call    // the trace
	Sale    contact.Sale     // of the contact, with what was staged
}

// Desk takes the calls of one turn. It is safe for concurrent use.
type Desk struct {
	turn  Turn
	tools []Tool

	mu      sync.Mutex // guards what follows, and every entry
	entries []*entry   // of the record, in the order made
	known   map[key]*entry
	sale    sales.Case
	due     *tenant.Flow // the opening, until it goes out; nil: none
	slots   int          // taken of [maxActions]
	nudged  bool         // a nudge was staged
	reads   int          // begun
	read    []byte       // the last successful read, as JSON
	trace   []*traced
	result  *Result // of a closed desk
}

// traced is a call and, when it is of an action, the entry that it is answered by.
type traced struct {
	call  action.Call
	entry *entry
}

// NewDesk opens the desk of a turn.
func NewDesk(t Turn) *Desk {
	if t.Tools == nil {
		t.Tools = &tenant.Tools{}
	}
	d := &Desk{turn: t, known: map[key]*entry{}, sale: sales.Open(t.Tools, t.Sale, t.Sent)}
	for _, r := range t.Earlier {
		d.resume(r)
	}
	for _, tool := range []*offered{
		d.sendFlow(), d.addTag(), d.removeTag(), d.setField(), d.writeNote(), d.scheduleNudge(), d.getContact(),
	} {
		if tool != nil {
			d.tools = append(d.tools, tool)
		}
	}
	return d
}

// Tools are what is offered, in a fixed order; none: nothing is.
func (d *Desk) Tools() []Tool { return slices.Clone(d.tools) }

// Open sends the opening, if one of the calls made it due and no flow has gone out since, which it
// would have preceded (docs/spec/08-sales.md, "Opening"). The turn calls it before a reply that
// does not go to a person. It ends when ctx does.
func (d *Desk) Open(ctx context.Context) {
	d.mu.Lock()
	run := d.opening()
	d.mu.Unlock()
	if run != nil {
		run(ctx)
	}
}

// Close takes no more calls and returns what they came to. A flow whose answer is still
// awaited has failed with [action.OutcomeUnknown]; one that was waiting for its turn is not
// sent any more.
func (d *Desk) Close() Result {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.result == nil {
		for _, e := range d.entries {
			d.abandon(e)
		}
		d.result = d.summary()
	}
	return Result{slices.Clone(d.result.Record), slices.Clone(d.result.Pending), slices.Clone(d.result.Calls), d.result.Sale}
}

func (d *Desk) summary() *Result {
	r := &Result{Sale: d.sale.Sale()}
	if len(d.tools) > 0 || len(d.turn.Earlier) > 0 {
		r.Record = []action.Record{}
	}
	for _, e := range d.entries {
		if e.gone {
			continue
		}
		if e.record.Status == action.Staged {
			r.Pending = append(r.Pending, action.Pending{
				Place: len(r.Record), Tool: e.record.Tool, ID: e.record.ID, Value: e.record.Value,
				ContactAsked: e.asked, Origin: e.record.Origin, FollowOn: e.follows, Text: e.text,
			})
		}
		r.Record = append(r.Record, e.record)
	}
	for _, t := range d.trace {
		r.Calls = append(r.Calls, t.answered())
	}
	return r
}

// answered is the call with its answer.
func (t *traced) answered() action.Call {
	if t.entry != nil {
		t.call.Answer, t.call.Reason = t.entry.answer.kind, t.entry.answer.reason
	}
	return t.call
}

// Rules is every text of the tools' own that a model is told, which no reply may quote.
func Rules() string {
	return strings.Join([]string{
		sendFlowText, addTagText, removeTagText, setFieldText, writeNoteText, scheduleNudgeText, getContactText,
		askedText, noteTextText, sendFlowSaleText, setFieldSaleText,
	}, "\n")
}
