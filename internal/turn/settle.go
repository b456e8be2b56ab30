package turn

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/tenant"
)

// settle writes the turn's end and the one route of its reply: in the response while
// the deadline has not passed and the caller waits, else an outbox row. A write that
// fails is tried again, on the route that is then open, for as long as the process
// runs: an outage of the database delays a reply and loses none.
func (r *Runner) settle(x *Exchange, rec Recorded, v verdict) {
	turn := r.ended(rec, v)
	texts := x.shape.Texts(v.messages)
	if len(texts) == 0 {
		r.settleSilent(x, turn)
		return
	}
	held, ok := conversation.Micros(0), true
	if rec.Turn.Bound {
		held, ok = r.hold(x, rec.Conversation.LastSentAt)
	}
	turn.Timings.Hold = held
	w := way{x: x, turn: turn, texts: texts, queued: !ok}
	err := r.persist("turn not settled", turn.ID, w.settle)
	switch {
	case errors.Is(err, ErrRefused):
		w.turn, w.texts = r.bare(x, rec)
		if errors.Is(r.persist("handoff not settled", turn.ID, w.settle), ErrQuiet) {
			r.settleSilent(x, w.turn)
		}
	case errors.Is(err, ErrQuiet):
		r.settleSilent(x, turn)
	}
}

// settleSilent settles a turn that says nothing.
func (r *Runner) settleSilent(x *Exchange, turn conversation.Turn) {
	turn.Path, turn.Replies = conversation.Silent, nil
	r.persist("turn not settled", turn.ID, func(ctx context.Context) error {
		return r.write(ctx, x, Settlement{Turn: turn})
	})
	x.finish(Answer{})
}

// bare is the handoff of a turn whose values the database refuses: nothing but what
// was recorded, and the escalation copy.
func (r *Runner) bare(x *Exchange, rec Recorded) (conversation.Turn, []string) {
	v := x.handoff(conversation.EscalatedError, conversation.ByError)
	return r.ended(rec, v), x.shape.Texts(v.messages)
}

// way is a reply on its way to a route.
type way struct {
	x      *Exchange
	turn   conversation.Turn
	texts  []string
	queued bool // it must follow an earlier text through the outbox
}

// settle tries the route that is open, and the other one when it turns out not to be.
func (w *way) settle(ctx context.Context) error {
	r := w.x.r
	if !w.queued && w.x.claim() {
		err := r.settleInline(ctx, w.x, w.turn, w.texts)
		var soon *TooSoonError
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrNotOwner):
			w.x.unclaim()
			w.reroute(w.x.due(w.x.finish(Answer{}))) // follows a silent response at once
			return err
		case errors.Is(err, ErrQueuedAhead):
			w.x.unclaim()
			w.queued = true
		case errors.As(err, &soon):
			w.x.unclaim()
			held, ok := r.hold(w.x, soon.LastSent)
			w.turn.Timings.Hold += held
			w.queued = !ok
			return w.settle(ctx)
		default:
			w.x.unclaim()
			return err
		}
	}
	err := r.settleDeferred(ctx, w.x, w.turn, w.texts, w.queued)
	if errors.Is(err, ErrNotOwner) {
		w.reroute(w.x.due(false))
	}
	return err
}

// reroute gives the outbox the reply of a turn that is not to be settled any more. When an
// earlier inline try was committed although it reported a failure, nothing was written
// to the caller for it; in every other case the turn is not answering, and stays as it is.
func (w *way) reroute(due time.Time) {
	now, _ := w.x.shape.Cut(w.texts)
	w.x.r.reroute(w.turn, now, due)
}

// settleInline settles the claimed inline route and hands the reply to the response.
// When the response has left without it, the reply is rerouted.
func (r *Runner) settleInline(ctx context.Context, x *Exchange, turn conversation.Turn, texts []string) error {
	now, later := x.shape.Cut(texts)
	turn.Path, turn.Replies = conversation.Inline, texts
	s := Settlement{Turn: turn, Gap: r.cfg.Gap, Quiet: quiet(x.tenant)}
	if len(later) > 0 {
		// It is claimable once the turn is no longer answering and the gap behind the
		// response has passed: the claim sees to both.
		due := r.cfg.Now()
		if !turn.Bound { // its response moves no last-sent time for the claim to see
			due = x.due(false)
		}
		row := r.row(turn, 1, later, due)
		s.Row = &row
	}
	if err := r.write(ctx, x, s); err != nil {
		return err
	}
	if !x.finish(Answer{Texts: now, inline: true}) {
		r.reroute(turn, now, x.due(false))
	}
	r.cfg.Wake()
	return nil
}

// settleDeferred settles on the outbox route. silent says that the response, if it
// is still open, must carry nothing because the reply follows an earlier one; that is
// fixed first, so that no acknowledgement comes between.
func (r *Runner) settleDeferred(ctx context.Context, x *Exchange, turn conversation.Turn, texts []string, silent bool) error {
	silent = silent && x.finish(Answer{})
	turn.Path, turn.Replies = conversation.Outbox, texts
	row := r.row(turn, 0, texts, x.due(silent))
	if err := r.write(ctx, x, Settlement{Turn: turn, Quiet: quiet(x.tenant), Row: &row}); err != nil {
		return err
	}
	r.cfg.Wake()
	return nil
}

// quiet is for how long a tenant's handoff is not said again to a contact who waits.
func quiet(t *tenant.Tenant) time.Duration {
	return time.Duration(t.Rules.EscalationQuietMinutes) * time.Minute
}

// write runs the settling transaction and logs the turn's one line.
func (r *Runner) write(ctx context.Context, x *Exchange, s Settlement) error {
	s.Turn.SettledAt = r.cfg.Now()
	s.Turn.Timings.Total = conversation.Since(x.started, s.Turn.SettledAt)
	if err := r.cfg.Store.Settle(ctx, s); err != nil {
		return err
	}
	t := s.Turn
	r.cfg.Log.Info("turn", "turn", t.ID, "conversation", t.ConversationID, "outcome", t.Outcome, "path", t.Path,
		"reason", string(t.Reason), "bound", t.Bound, "attempt", t.Attempt, "interventions", t.Interventions, "model", t.Model,
		"record_us", t.Timings.Record, "hold_us", t.Timings.Hold, "total_us", t.Timings.Total,
		"tokens_in", t.Spend.TokensIn, "tokens_out", t.Spend.TokensOut)
	r.cfg.Observe(t)
	return nil
}

// reroute gives a reply that was settled inline, but that no response carries, to the
// outbox. The texts are those the response would have carried.
func (r *Runner) reroute(turn conversation.Turn, texts []string, due time.Time) {
	row := r.row(turn, 0, texts, due)
	err := r.persist("reply not rerouted", turn.ID, func(ctx context.Context) error {
		return r.cfg.Store.Reroute(ctx, turn.ID, row)
	})
	if err == nil {
		r.cfg.Log.Info("turn rerouted", "turn", turn.ID, "path", conversation.Outbox)
		r.cfg.Wake()
	}
}

// row is the outbox row of a turn's reply. Part 0 is what a response could have
// carried and part 1 what follows it.
func (r *Runner) row(turn conversation.Turn, part int, texts []string, due time.Time) outbox.Row {
	return outbox.Row{
		ID:             uuid.Must(uuid.NewV7()).String(),
		ConversationID: turn.ConversationID,
		Key:            turn.Key,
		TurnID:         turn.ID,
		Kind:           outbox.Reply,
		Seq:            turn.Seq,
		Part:           part,
		Payload:        outbox.Payload{Texts: texts},
		Status:         outbox.Pending,
		NextAttemptAt:  due,
		CreatedAt:      turn.ReceivedAt, // a reply is as old as the message it answers
	}
}

// hold keeps the gap behind the contact's last text and returns how long it did: a
// flow reads the reply field when its step runs, and a reply that comes sooner may
// overtake it. When the gap ends past the deadline it does not wait, and reports
// that the reply must follow through the outbox.
func (r *Runner) hold(x *Exchange, lastSent time.Time) (held conversation.Micros, ok bool) {
	start := r.cfg.Now()
	until := lastSent.Add(r.cfg.Gap)
	if lastSent.IsZero() || lastSent.After(start) || x.isClosed() || !until.After(start) {
		return 0, true
	}
	if !until.Before(x.deadline()) {
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
	a := x.response()
	if !written {
		if a.inline {
			r.reroute(rec.Turn, a.Texts, x.due(false))
		}
		return
	}
	stamp := Stamp{ConversationID: rec.Turn.ConversationID, At: r.cfg.Now(), Silent: len(a.Texts) == 0}
	if a.inline {
		stamp.TurnID = rec.Turn.ID
	}
	if (stamp.Silent || !rec.Turn.Bound) && stamp.TurnID == "" {
		return
	}
	r.persist("response not stamped", rec.Turn.ID, func(ctx context.Context) error { return r.cfg.Store.Stamp(ctx, stamp) })
	r.cfg.Wake()
}

// persist runs a write until it works, or turns out not to be ours to make or the
// database's to take; it returns why it did not work. A process that stops gives the
// write up, and the next one takes the turn over.
func (r *Runner) persist(failing, turnID string, write func(context.Context) error) error {
	for wait := firstRetry; ; wait = min(2*wait, lastRetry) {
		ctx, cancel := context.WithTimeout(context.Background(), writeWithin)
		err := write(ctx)
		cancel()
		switch {
		case err == nil, errors.Is(err, ErrNotOwner), errors.Is(err, ErrQuiet):
			return err
		case errors.Is(err, ErrRefused):
			r.cfg.Log.Error(failing, "turn", turnID, "error", err)
			return err
		case wait == firstRetry:
			r.cfg.Log.Error(failing+", trying until the database takes it", "turn", turnID, "error", err)
		}
		if !r.pause(wait) {
			r.cfg.Log.Error(failing+"; the next start takes it over", "turn", turnID, "error", err)
			return err
		}
	}
}

// pause waits, and reports false as soon as the process gives its turns up.
func (r *Runner) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-r.givenUp:
		return false
	}
}
