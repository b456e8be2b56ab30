package tool

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
)

// sendWithin bounds one flow (docs/spec/05-delivery.md, "ManyChat client").
const sendWithin = 10 * time.Second

// again answers a call of a flow that was called before, when that one is answered.
func (d *Desk) again(c action.Call, e *entry) Outcome {
	if e.done == nil || e.answer.kind != "" {
		return d.told(c, e)
	}
	d.trace = append(d.trace, &traced{c, e})
	// It ends with the first, which ends with its context, or with the desk.
	return Outcome{Run: func(context.Context) any { <-e.done; return d.toldOf(e) }}
}

// fly sends a flow when those ahead of it are done with, and returns what the model is told.
func (d *Desk) fly(ctx context.Context, e *entry, ahead []*entry) any {
	r, started := d.begin(ctx, e, ahead)
	if started {
		d.land(e, d.send(ctx, r))
	}
	return d.toldOf(e)
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
	return e.record, true
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
	e.record, e.answer = l.record, answerOf(l.record)
	if l.had {
		e.gone, e.answer = true, answer{action.AnsweredNotSent, alreadySent}
		d.slots--
	}
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
	return e.answer.told()
}
