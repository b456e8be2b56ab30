package turn

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
	"github.com/manychat-agent/manychat-agent/internal/turn/aside"
	"github.com/manychat-agent/manychat-agent/internal/turn/carry"
	"github.com/manychat-agent/manychat-agent/internal/turn/lane"
	"github.com/manychat-agent/manychat-agent/internal/turn/person"
	"github.com/manychat-agent/manychat-agent/internal/turn/race"
)

// settle writes the turn's end and the one route of its reply: in the response while
// the deadline has not passed and the caller waits, else an outbox row. A write that
// fails is tried again, on the route that is then open, for as long as the process
// runs: an outage of the database delays a reply and loses none.
func (r *Runner) settle(x *Exchange, rec Recorded, v verdict) {
	w := way{x: x, texts: x.shape.Texts(v.messages)}
	w.turn, w.pending = x.ended(rec, v)
	if len(w.texts) == 0 {
		r.settleSilent(w, false)
		return
	}
	lastSent := rec.Conversation.LastSentAt
	if !rec.Turn.Bound {
		lastSent = time.Time{}
	}
	held, ok := r.hold(x, lastSent)
	w.turn.Timings.Hold, w.queued = held, !ok
	w.plan(rec)
	err := r.persist("turn not settled", w.turn.ID, w.settle)
	if errors.Is(err, ErrRefused) {
		w.bare(rec)
		err = r.persist("handoff not settled", w.turn.ID, w.settle)
	}
	switch {
	case errors.Is(err, ErrQuiet):
		r.settleSilent(w, true)
	case errors.Is(err, ErrPaused), errors.Is(err, ErrOptedOut):
		w.turn, w.pending = aside.Silenced(w.turn, errors.Is(err, ErrOptedOut)), nil
		r.settleSilent(w, false)
	}
}

// settleSilent settles a turn that says nothing; quiet says that it would have said a
// handoff again. What it does all the same goes through the outbox, by a row without
// texts.
func (r *Runner) settleSilent(w way, quiet bool) {
	w.turn.Path, w.turn.Replies = conversation.Silent, nil
	s := Settlement{Turn: w.turn}
	if len(w.pending) > 0 {
		row := r.row(w.x, w.turn, 0, outbox.Payload{Actions: w.pending})
		row.NextAttemptAt = w.x.due(true)
		s.Row = &row
	}
	r.notify(w.x, &s, quiet)
	r.persist("turn not settled", w.turn.ID, func(ctx context.Context) error { return r.write(ctx, w.x, s) })
	w.x.Finish(Answer{})
	r.freed(w.turn.ConversationID)
}

// bare makes it the handoff of a turn whose values the database refuses: nothing but what was
// recorded, the escalation copy, and what follows a flow that went out.
func (w *way) bare(rec Recorded) {
	v := w.x.handoff(conversation.EscalatedError, conversation.ByError)
	w.turn, w.pending = w.x.ended(rec, v)
	w.texts, w.ahead, w.carried = w.x.shape.Texts(v.messages), nil, nil
}

// way is a reply on its way to a route.
type way struct {
	x       *Exchange
	turn    conversation.Turn
	texts   []string
	pending []action.Pending // what follows them
	queued  bool             // it must follow an earlier text through the outbox
	ahead   carry.Load       // the contact's replies that are queued, all of which the response can carry
	carried []Carried        // and how they are
}

// settle tries the route that is open, and the other one when it turns out not to be.
func (w *way) settle(ctx context.Context) error {
	r := w.x.r
	if !w.queued && w.x.Claim() {
		err := r.settleInline(ctx, w)
		var soon *TooSoonError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrNotOwner):
			w.x.Unclaim()
			w.reroute(w.x.due(w.x.Finish(Answer{}))) // follows a silent response at once
			return err
		case errors.Is(err, ErrQueuedAhead):
			w.x.Unclaim()
			w.queued, w.carried = true, nil
		case errors.As(err, &soon):
			w.x.Unclaim()
			held, ok := r.hold(w.x, soon.LastSent)
			w.turn.Timings.Hold += held
			w.queued = !ok
			return w.settle(ctx)
		default:
			w.x.Unclaim()
			return err
		}
	}
	err := r.settleDeferred(ctx, w)
	if errors.Is(err, ErrNotOwner) {
		w.reroute(w.x.due(false))
	}
	return err
}

// reroute gives the outbox the reply of a turn that is not to be settled any more. When an
// earlier inline try was committed although it reported a failure, nothing was written
// to the caller for it; in every other case the turn is not answering, and stays as it is.
func (w *way) reroute(due time.Time) {
	now, later := w.x.shape.Cut(w.texts)
	p := outbox.Payload{Texts: now}
	if !w.follows(outbox.Payload{Texts: later, Actions: w.pending}) { // else that row has them
		p.Actions = w.pending
	}
	w.x.r.reroute(w.x, w.turn, p, due)
}

// settleInline settles the claimed inline route and hands the reply to the response.
// When the response has left without it, the reply is rerouted. Actions follow the last
// of the texts: behind the response, or with what it cannot carry.
func (r *Runner) settleInline(ctx context.Context, w *way) error {
	x, turn := w.x, w.turn
	now, later := x.shape.Cut(w.texts)
	turn.Path, turn.Replies = conversation.Inline, w.texts
	s := Settlement{Turn: turn, Gap: r.cfg.Gap, Quiet: quiet(x.tenant), Pending: w.pending, Carried: w.carried}
	if p := (outbox.Payload{Texts: later, Actions: w.pending}); w.follows(p) {
		// It is claimable once the turn is no longer answering and the gap behind the
		// response has passed: the claim sees to both.
		due := r.cfg.Now()
		if !turn.Bound { // its response moves no last-sent time for the claim to see
			due = x.due(false)
		}
		row := r.row(x, turn, 1, p)
		row.NextAttemptAt = due
		s.Row, s.Pending = &row, nil
	}
	r.notify(x, &s, false)
	if err := r.write(ctx, x, s); err != nil {
		return err
	}
	reply := Reply{texts: now, acts: s.Pending, carried: w.carried}
	if !x.Finish(Answer{Texts: w.ahead.Together(now, x.shape), Reply: &reply}) {
		r.reroute(x, turn, outbox.Payload{Texts: now, Actions: s.Pending}, x.due(false))
	}
	r.cfg.Wake()
	return nil
}

// follows reports whether a payload has to follow the response through the outbox: texts that
// it cannot carry, or actions that come behind those of a row which it carries.
func (w *way) follows(p outbox.Payload) bool {
	acts := slices.ContainsFunc(w.carried, func(c Carried) bool { return c.Acts })
	return len(p.Texts) > 0 || acts && len(p.Actions) > 0
}

// settleDeferred settles on the outbox route. A reply that must follow an earlier one, or
// a flow that plays, leaves the response silent if that is still open; this is fixed
// first, so that no acknowledgement comes between.
func (r *Runner) settleDeferred(ctx context.Context, w *way) error {
	silent := w.queued && w.x.Finish(Answer{})
	turn := w.turn
	turn.Path, turn.Replies = conversation.Outbox, w.texts
	row := r.row(w.x, turn, 0, outbox.Payload{Texts: w.texts, Actions: w.pending})
	row.NextAttemptAt = w.x.due(silent)
	s := Settlement{Turn: turn, Quiet: quiet(w.x.tenant), Row: &row}
	r.notify(w.x, &s, false)
	if err := r.write(ctx, w.x, s); err != nil {
		return err
	}
	r.freed(turn.ConversationID)
	return nil
}

// quiet is for how long a tenant's handoff is not said again to a contact who waits.
func quiet(t *tenant.Tenant) time.Duration {
	return time.Duration(t.Rules.EscalationQuietMinutes) * time.Minute
}

// write runs the settling transaction and logs the turn's one line.
func (r *Runner) write(ctx context.Context, x *Exchange, s Settlement) error {
	s.Turn.SettledAt = r.cfg.Now()
	s.Tagged, s.PauseUntil = person.Tag(x.tenant) != "", person.Until(x.tenant, s.Turn.SettledAt)
	s.Wish = aside.Noted(&s.Turn, x.wish())
	s.OpeningOver = x.over
	s.Turn.Timings.Total = conversation.Since(x.Started, s.Turn.SettledAt)
	if err := r.cfg.Store.Settle(ctx, s); err != nil {
		return err
	}
	t := s.Turn
	r.cfg.Log.Info("turn", "turn", t.ID, "conversation", t.ConversationID, "outcome", t.Outcome, "path", t.Path,
		"reason", string(t.Reason), "bound", t.Bound, "attempt", t.Attempt, "interventions", t.Interventions, "model", t.Model,
		"record_us", t.Timings.Record, "hold_us", t.Timings.Hold, "total_us", t.Timings.Total,
		"tokens_in", t.Spend.TokensIn, "tokens_out", t.Spend.TokensOut,
		"actions", len(t.Actions), "discarded", aside.Discarded(t.Actions))
	r.cfg.Observe(t)
	return nil
}

// reroute gives a reply that was settled inline, but that no response carries, to the
// outbox: the texts that the response would have carried, and what follows them.
func (r *Runner) reroute(x *Exchange, turn conversation.Turn, p outbox.Payload, due time.Time) {
	row := r.row(x, turn, 0, p)
	row.NextAttemptAt = due
	err := r.persist("reply not rerouted", turn.ID, func(ctx context.Context) error {
		return r.cfg.Store.Reroute(ctx, turn.ID, row)
	})
	if err == nil {
		r.cfg.Log.Info("turn rerouted", "turn", turn.ID, "path", conversation.Outbox)
		r.freed(turn.ConversationID)
	}
}

// row is the outbox row of a turn's reply. Part 0 is what a response could have
// carried and part 1 what follows it.
func (r *Runner) row(x *Exchange, turn conversation.Turn, part int, p outbox.Payload) outbox.Row {
	if until := x.flows.Until(); until.After(r.cfg.Now()) {
		p.PlaysUntil = until
	}
	return outbox.Row{
		ID:             uuid.Must(uuid.NewV7()).String(),
		ConversationID: turn.ConversationID,
		Key:            turn.Key,
		TurnID:         turn.ID,
		Kind:           outbox.Reply,
		Seq:            turn.Seq,
		Part:           part,
		Payload:        p,
		Status:         outbox.Pending,
		CreatedAt:      turn.ReceivedAt, // a reply is as old as the message it answers
	}
}

// hold waits for what the contact gets before the reply, and returns how long it did: the
// flows of the turn play to their end, and the gap behind the contact's last text is kept,
// since a flow reads the reply field when its step runs, and a reply that comes sooner
// may overtake it. When that ends past the deadline it does not wait, and reports that the
// reply must follow through the outbox.
func (r *Runner) hold(x *Exchange, lastSent time.Time) (held conversation.Micros, ok bool) {
	start := r.cfg.Now()
	until := x.flows.Until()
	if !lastSent.IsZero() && !lastSent.After(start) {
		until = race.Later(until, lastSent.Add(r.cfg.Gap))
	}
	if x.Closed() || !until.After(start) {
		return 0, true
	}
	if !until.Before(x.End()) {
		return 0, false
	}
	r.pause(until.Sub(start))
	return conversation.Since(start, r.cfg.Now()), true
}

// after does what follows a response: the reply it carried is final, or, when it was
// not written, the outbox's.
func (r *Runner) after(x *Exchange, written bool) {
	rec := x.recorded()
	if rec == nil {
		return
	}
	a := x.Answer()
	if !written {
		if a.Reply != nil {
			r.reroute(x, rec.Turn, outbox.Payload{Texts: a.Reply.texts, Actions: a.Reply.acts}, x.due(false))
		}
		return
	}
	stamp := Stamp{ConversationID: rec.Turn.ConversationID, At: r.cfg.Now(), Silent: len(a.Texts) == 0}
	if a.Reply != nil {
		stamp.TurnID, stamp.Acts, stamp.Carried = rec.Turn.ID, len(a.Reply.acts) > 0, a.Reply.carried
	}
	if (stamp.Silent || !rec.Turn.Bound) && stamp.TurnID == "" {
		return
	}
	err := r.persist("response not stamped", rec.Turn.ID, func(ctx context.Context) error { return r.cfg.Store.Stamp(ctx, stamp) })
	if stamp.Acts && err == nil {
		r.act(x, *rec, a.Reply.acts)
	}
	r.freed(rec.Turn.ConversationID)
}

// freed lets a contact's next turn start and its next reply go out.
func (r *Runner) freed(conversationID string) {
	r.waiters.Wake(conversationID)
	r.cfg.Freed(conversationID)
	r.cfg.Wake()
}

// persist runs a write until it works, or turns out not to be ours to make or the
// database's to take; it returns why it did not work.
func (r *Runner) persist(failing, turnID string, write func(context.Context) error) error {
	w := lane.Writes{Within: writeWithin, First: firstRetry, Last: lastRetry, GivenUp: r.givenUp, Log: r.cfg.Log}
	w.Final = []error{ErrNotOwner, ErrQuiet, ErrPaused, ErrOptedOut}
	w.Refused = ErrRefused
	return w.Persist(failing, turnID, write)
}

// pause waits, and reports false as soon as the process gives its turns up.
func (r *Runner) pause(d time.Duration) bool { return lane.Pause(d, r.givenUp) }
