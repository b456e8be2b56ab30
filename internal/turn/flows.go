package turn

import (
	"context"
	"errors"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
)

// Account is the business's ManyChat account, one contact a call. It never retries.
type Account interface {
	// Perform makes the requests of staged actions, in their order, and says what became of
	// every one when they ended or ctx did.
	Perform(ctx context.Context, b delivery.Batch) []action.Ended
	// SendFlow sends the flow of b.Claim, whose right was claimed before.
	SendFlow(ctx context.Context, b delivery.Batch) action.Ended
	// HasTag asks whether a contact carries a tag.
	HasTag(ctx context.Context, who contact.Key, tag string) (bool, error)
	// Read reads what the tenant's files let the agent know of a contact.
	Read(ctx context.Context, who contact.Key, tools *tenant.Tools) (contact.Profile, error)
}

// flows sends what the model of one turn calls for, before the reply. It fills
// [tool.Sender].
type flows struct {
	x   *Exchange
	rec Recorded
}

// noteWithin bounds the write of what became of a flow; settling writes it again.
const noteWithin = 2 * time.Second

// Send fills [tool.Sender]: the flow is written down before its request, and again with
// what became of it.
func (f *flows) Send(ctx context.Context, r action.Record) (action.Record, error) {
	if !f.x.r.cfg.Alive() {
		r.Status, r.Error = action.Failed, action.NotStarted
		return r, nil
	}
	r.Status = action.Sending
	if err := f.note(ctx, r); err != nil {
		return f.unsent(r, err)
	}
	f.x.flows.Note(r)
	ended := f.x.r.cfg.Account.SendFlow(ctx, delivery.Batch{Who: f.rec.Turn.Key, Tools: f.x.tenant.Tools, Claim: f.claim(r)})
	r.Status, r.Error, r.At = ended.Status, ended.Error, ended.At
	f.x.flows.Note(r)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	if err := f.note(last, r); err != nil && !errors.Is(err, ErrNotOwner) {
		f.x.r.cfg.Log.Error("what became of a flow was not written; settling writes it", "turn", f.rec.Turn.ID, "error", err)
	}
	return r, nil
}

// unsent says what becomes of a flow that could not be claimed.
func (f *flows) unsent(r action.Record, err error) (action.Record, error) {
	switch {
	case errors.Is(err, ErrQueuedAhead):
		r.Status = action.Staged // it follows the turn's own reply
		return r, nil
	case errors.Is(err, ErrPaused), errors.Is(err, ErrOptedOut):
		r.Status = action.Discarded
		f.x.flows.Note(r)
		return r, nil
	case errors.Is(err, action.ErrSent):
		return r, action.ErrSent
	case errors.Is(err, action.ErrFlowLimit):
		r.Status, r.Error = action.Failed, action.FlowLimit
		return r, nil
	}
	f.x.r.cfg.Log.Warn("flow not sent: it could not be written down before", "turn", f.rec.Turn.ID, "flow", r.ID, "error", err)
	r.Status, r.Error = action.Failed, delivery.NotRecorded
	return r, nil
}

// note writes a flow into the record of the running turn.
func (f *flows) note(ctx context.Context, r action.Record) error {
	t := f.rec.Turn
	return f.x.r.cfg.Acts.NoteFlow(ctx, FlowNote{
		TurnID: t.ID, Owner: t.Owner, Attempt: t.Attempt, Actions: f.x.flows.With(r), Claim: f.claim(r),
		Tagged: person.Tag(f.x.tenant) != "", Wish: f.x.wish(),
	})
}

// claim is the contact's right to a flow.
func (f *flows) claim(r action.Record) action.Claim {
	flow, _ := f.x.tenant.Tools.Flow(r.ID)
	now := f.x.r.cfg.Now()
	return action.Claim{
		ConversationID: f.rec.Turn.ConversationID, TurnID: f.rec.Turn.ID, Flow: r.ID, At: now,
		Since: HistorySince(f.x.tenant, now), Repeatable: flow.Again(r.ContactAsked),
	}
}

// reader reads the contact of one turn. It fills [tool.Reader].
type reader struct {
	x   *Exchange
	rec Recorded
}

// Read fills [tool.Reader].
func (r *reader) Read(ctx context.Context) (contact.Profile, error) {
	profile, err := r.x.r.cfg.Account.Read(ctx, r.rec.Turn.Key, r.x.tenant.Tools)
	if err != nil {
		r.x.r.cfg.Log.Warn("contact not read", "turn", r.rec.Turn.ID, "error", err)
	}
	return profile, err
}
