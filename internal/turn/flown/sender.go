package flown

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
)

// Why the store of a turn does not write a flow down; the turn knows them by the same names.
var (
	ErrNotOwner    = errors.New("the turn is not this process's to write any more")
	ErrQueuedAhead = errors.New("an earlier reply of the contact is queued")
	ErrPaused      = errors.New("a person has the conversation")
	ErrOptedOut    = errors.New("the contact asked not to be written to")
)

// noteWithin bounds the write of what became of a flow; settling writes it again.
const noteWithin = 2 * time.Second

// Door is how the flows of one turn get out.
type Door interface {
	// Note writes the record of the running turn, whose flow c is about, and claims the right to it
	// while it is about to be sent: [action.ErrSent], [action.ErrFlowLimit] and the errors of this
	// package say why it may not be.
	Note(ctx context.Context, record []action.Record, c action.Claim) error
	// Send makes the request for a flow whose right was claimed.
	Send(ctx context.Context, c action.Claim) action.Ended
}

// Sender sends flows of one turn before its reply: what its model calls for, and what the rules of
// the sale add. It fills [tool.Sender].
type Sender struct {
	Flows *Flows
	Door  Door
	Turn  action.Claim // what every claim of the turn has: conversation, turn, and since when a send counts
	Alive func() bool  // whether this process may still be taken for alive
	Now   func() time.Time
	Log   *slog.Logger
}

// Send fills [tool.Sender]: the flow is written down before its request, and again with
// what became of it.
func (s *Sender) Send(ctx context.Context, r action.Record) (action.Record, error) {
	if !s.Alive() {
		r.Status, r.Error = action.Failed, action.NotStarted
		return r, nil
	}
	r.Status = action.Sending
	if err := s.note(ctx, r); err != nil {
		return s.unsent(r, err)
	}
	s.Flows.Note(r)
	ended := s.Door.Send(ctx, s.claim(r))
	r.Status, r.Error, r.At = ended.Status, ended.Error, ended.At
	s.Flows.Note(r)
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), noteWithin)
	defer cancel()
	if err := s.note(last, r); err != nil && !errors.Is(err, ErrNotOwner) {
		s.Log.Error("what became of a flow was not written; settling writes it", "turn", s.Turn.TurnID, "error", err)
	}
	return r, nil
}

// unsent says what becomes of a flow that could not be claimed.
func (s *Sender) unsent(r action.Record, err error) (action.Record, error) {
	switch {
	case errors.Is(err, ErrQueuedAhead):
		r.Status = action.Staged // it follows the turn's own reply
		return r, nil
	case errors.Is(err, ErrPaused), errors.Is(err, ErrOptedOut):
		r.Status = action.Discarded
		s.Flows.Note(r)
		return r, nil
	case errors.Is(err, action.ErrSent):
		return r, action.ErrSent
	case errors.Is(err, action.ErrFlowLimit):
		r.Status, r.Error = action.Failed, action.FlowLimit
		return r, nil
	}
	s.Log.Warn("flow not sent: it could not be written down before", "turn", s.Turn.TurnID, "flow", r.ID, "error", err)
	r.Status, r.Error = action.Failed, delivery.NotRecorded
	return r, nil
}

// note writes a flow into the record of the running turn.
func (s *Sender) note(ctx context.Context, r action.Record) error {
	return s.Door.Note(ctx, s.Flows.With(r), s.claim(r))
}

// claim is the contact's right to a flow.
func (s *Sender) claim(r action.Record) action.Claim {
	c := s.Turn
	c.Flow, c.At = r.ID, s.Now()
	if flow, found := s.Flows.tools.Flow(r.ID); found {
		c = delivery.Sent{Flow: flow, Origin: r.Origin, Asked: r.ContactAsked}.Right(c)
	}
	return c
}
