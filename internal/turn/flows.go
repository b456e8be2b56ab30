package turn

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/flown"
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

// door lets the flows of one turn out. It fills [flown.Door].
type door struct {
	x   *Exchange
	rec Recorded
}

// sender sends what the model of a turn calls for, and what the rules of the sale add.
func (x *Exchange) sender(rec Recorded) *flown.Sender {
	cfg := x.r.cfg
	return &flown.Sender{
		Flows: x.flows, Door: &door{x, rec}, Turn: x.claims(rec), Alive: cfg.Alive, Now: cfg.Now, Log: cfg.Log,
	}
}

// claims is what every claim of a flow by a turn has.
func (x *Exchange) claims(rec Recorded) action.Claim {
	return action.Claim{
		ConversationID: rec.Turn.ConversationID, TurnID: rec.Turn.ID, Since: HistorySince(x.tenant, x.r.cfg.Now()),
	}
}

// Note fills [flown.Door].
func (d *door) Note(ctx context.Context, record []action.Record, c action.Claim) error {
	t := d.rec.Turn
	return d.x.r.cfg.Acts.NoteFlow(ctx, FlowNote{
		TurnID: t.ID, Owner: t.Owner, Attempt: t.Attempt, Actions: record, Claim: c,
		Tagged: person.Tag(d.x.tenant) != "", Wish: d.x.wish(),
	})
}

// Send fills [flown.Door].
func (d *door) Send(ctx context.Context, c action.Claim) action.Ended {
	return d.x.r.cfg.Account.SendFlow(ctx, delivery.Batch{Who: d.rec.Turn.Key, Tools: d.x.tenant.Tools, Claim: c})
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
