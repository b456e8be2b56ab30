package tool

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
)

// sendWithin bounds one flow (docs/spec/05-delivery.md, "ManyChat client").
const sendWithin = 10 * time.Second

// launch gives a flow its place, and returns what sends it; nil: nothing does now, and its answer
// says why.
func (d *Desk) launch(e *entry) func(context.Context) {
	ahead := slices.Clone(d.entries)
	switch placed := d.place(flowKey(e.record.ID), e); {
	case !placed:
		e.answer = d.flowRefused(overCap)
		return nil
	case d.turn.Flows == nil:
		e.record.Status, e.answer = action.Staged, answer{action.AnsweredStaged, ""}
		d.went(e)
		return nil
	}
	e.record.Status, e.done = action.Sending, make(chan struct{})
	return func(ctx context.Context) { d.fly(ctx, e, ahead) }
}

// awaited is the flow that an entry's answer waits for; nil: none any more.
func (e *entry) awaited() *entry {
	if e.done == nil && e.beside.flow != nil {
		e = e.beside.flow
	}
	if e.done == nil || e.answer.kind != "" {
		return nil
	}
	return e
}

// again answers a call of an action that was called before, when that one is answered.
func (d *Desk) again(c action.Call, e *entry) Outcome {
	first := e.awaited()
	if first == nil {
		return d.told(c, e)
	}
	d.trace = append(d.trace, &traced{c, e})
	// It ends with the first, which ends with its context, or with the desk.
	return Outcome{Run: func(context.Context) any { <-first.done; return d.toldOf(e) }}
}

// fly sends a flow when those ahead of it are done with.
func (d *Desk) fly(ctx context.Context, e *entry, ahead []*entry) {
	if r, started := d.begin(ctx, e, ahead); started {
		d.land(e, d.send(ctx, r))
	}
}

// begin waits until a flow may be sent. One that may not be any more has failed: nothing was
// asked of ManyChat.
func (d *Desk) begin(ctx context.Context, e *entry, ahead []*entry) (r action.Record, started bool) {
	for _, before := range ahead {
		if before.done == nil {
			continue
		}
		select {
		case <-before.done:
		case <-ctx.Done():
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.result != nil:
		return e.record, false
	case ctx.Err() != nil:
		d.abandon(e)
		return e.record, false
	}
	e.begun = true
	r = e.record
	r.ContactAsked = e.asked // whatever the gate: who asked may have it again
	return r, true
}

// landing is what became of a flow that was handed to its sender.
type landing struct {
	record action.Record
	had    bool // the contact has it already
}

// send sends a flow. A sender that breaks its contract may have sent it.
func (d *Desk) send(ctx context.Context, r action.Record) (l landing) {
	ctx, cancel := context.WithTimeout(ctx, sendWithin)
	defer cancel()
	unknown := r
	unknown.Status, unknown.Error = action.Failed, action.OutcomeUnknown
	defer func() {
		if recover() != nil {
			l = landing{record: unknown}
		}
	}()
	sent, err := d.turn.Flows.Send(ctx, r)
	switch {
	case errors.Is(err, action.ErrSent):
		return landing{record: r, had: true}
	case err != nil:
		return landing{record: unknown}
	}
	r.Status, r.Error, r.At = sent.Status, sent.Error, sent.At
	switch r.Status {
	case action.Performed, action.Staged, action.Failed, action.Discarded:
		return landing{record: r}
	}
	return landing{record: unknown}
}

// land notes what became of a flow, unless the desk has closed over it.
func (d *Desk) land(e *entry, l landing) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.result != nil {
		return
	}
	e.record.Status, e.record.Error, e.record.At = l.record.Status, l.record.Error, l.record.At
	e.answer = answerOf(e.record)
	if l.had {
		e.gone, e.answer = true, answer{action.AnsweredNotSent, alreadySent}
		if !e.outside {
			d.slots--
		}
	}
	d.went(e)
	close(e.done)
}

// abandon gives up a flow that is not done with: what was not handed to its sender was
// certainly not sent.
func (d *Desk) abandon(e *entry) {
	if e.done == nil || e.answer.kind != "" {
		return
	}
	e.record.Status, e.record.Error = action.Failed, action.NotStarted
	if e.begun {
		e.record.Error = action.OutcomeUnknown
	}
	e.answer = answerOf(e.record)
	close(e.done)
}

func (d *Desk) toldOf(e *entry) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	return e.told()
}
