package turn_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/delivery"
	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// late reports whether a write arrives behind the take-over.
func (p *process) late() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead && p.lingers
}

// errDead is what a dead process hears. It says that nothing is the process's any more, so
// that what a real process would take with it comes to an end here too.
var errDead = fmt.Errorf("this process is dead: %w; %w", turn.ErrNotOwner, outbox.ErrNotOwner)

// call is one call of a process to the database: what it is for the trace, whether it
// names its owner and so must be refused behind a take-over.
type call struct {
	method, about string
	owned         bool
	prompt        bool // never arrives behind the take-over
}

// do makes a call under the faults of the seed: it is slow, it fails, it is done but
// reported as failed, or the process is dead by the time that it arrives.
//
// Holds docs/spec/05-delivery.md, "Outbox": a write that finds another owner changes
// nothing.
func (p *process) do(ctx context.Context, c call, write func() error) error {
	w, stream := p.w, p.name+c.method+c.about
	time.Sleep(w.lag(stream))
	p.here(stream)
	late := p.late() && !c.prompt
	switch {
	case p.isDead() && !late:
		return errDead
	case w.dice.chance(stream, 0.05):
		w.trace("%s: %s of %s fails", p.name, c.method, c.about)
		return errDatabase
	case ctx.Err() != nil:
		return ctx.Err()
	}
	over := p.isOver()
	err := write()
	w.trace("%s: %s of %s: %v", p.name, c.method, c.about, innermost(err))
	if late && over && c.owned && err == nil {
		w.violate("%s of %s by %s was taken behind the take-over", c.method, c.about, p.name)
	}
	if w.dice.chance(stream, 0.03) {
		w.trace("%s: the outcome of that %s is lost", p.name, c.method)
		return errDatabase
	}
	time.Sleep(w.lag(stream))
	p.here(stream)
	if p.isDead() && !late {
		return errDead
	}
	return err
}

// innermost is an error without what it was wrapped in, which names random ids.
func innermost(err error) error {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err
}

// turnStore is the database as the runner of a process reaches it.
type turnStore struct{ *process }

func (s turnStore) Record(ctx context.Context, a turn.Arrival) (rec turn.Recorded, err error) {
	err = s.do(ctx, call{method: "record", about: a.FirstName, prompt: true}, func() (err error) {
		if rec, err = s.w.db.Record(ctx, a); err == nil {
			s.w.isRecorded(s.name, a, rec)
		}
		return err
	})
	return rec, err
}

func (s turnStore) Settle(ctx context.Context, v turn.Settlement) error {
	about := v.Turn.FirstName + " " + string(v.Turn.Path)
	return s.do(ctx, call{method: "settle", about: about, owned: true}, func() error {
		err := s.w.db.Settle(ctx, v)
		if err == nil {
			s.w.ownerSettles(v.Turn)
		}
		if err == nil && v.Turn.Path == conversation.Inline {
			s.w.settledInline(v.Turn)
		}
		return err
	})
}

func (s turnStore) Stamp(ctx context.Context, v turn.Stamp) error {
	return s.do(ctx, call{method: "stamp", about: s.w.message(v.TurnID)}, func() error {
		err := s.w.db.Stamp(ctx, v)
		if err == nil && !v.Silent && (v.TurnID == "" || s.w.responded(v)) {
			s.w.sent(v.ConversationID, v.At)
		}
		return err
	})
}

func (s turnStore) Reroute(ctx context.Context, turnID string, row outbox.Row) error {
	return s.do(ctx, call{method: "reroute", about: s.w.message(turnID), owned: true}, func() error {
		return s.w.db.Reroute(ctx, turnID, row)
	})
}

// outboxStore is the database as the worker of a process reaches it.
type outboxStore struct{ *process }

func (s outboxStore) Claim(ctx context.Context, c outbox.Claim) (rows []outbox.Row, err error) {
	stream := fmt.Sprint(s.name, "claim", time.Since(s.w.start)) // a claim more or less changes no other
	time.Sleep(s.w.lag(stream))
	s.here(stream)
	switch {
	case s.isDead():
		return nil, errDead
	case !s.keeper.Alive(): // the worker does not ask yet (planned, docs/spec/03-turn.md, "Crash recovery")
		return nil, errDatabase
	case s.w.dice.chance(stream, 0.05):
		return nil, errDatabase
	}
	if rows, err = s.w.db.Claim(ctx, c); len(rows) > 0 {
		s.w.claimed(s.name, rows)
	}
	return rows, err
}

func (s outboxStore) Progress(ctx context.Context, r outbox.Row, at time.Time) error {
	return s.do(ctx, call{method: "progress", about: s.w.part(r), owned: true}, func() error {
		err := s.w.db.Progress(ctx, r, at)
		if err == nil {
			s.w.sent(r.ConversationID, at)
		}
		return err
	})
}

func (s outboxStore) Release(ctx context.Context, r outbox.Row, ended []action.Ended) error {
	about := fmt.Sprint(s.w.part(r), " as ", r.Status)
	return s.do(ctx, call{method: "release", about: about, owned: true}, func() error { return s.w.db.Release(ctx, r, ended) })
}

func (s outboxStore) NextDue(ctx context.Context, gap time.Duration, kinds []outbox.Kind) (time.Time, bool, error) {
	s.here(s.name + "due")
	if s.isDead() {
		return time.Time{}, false, errDead
	}
	return s.w.db.NextDue(ctx, gap, kinds)
}

// message is the text that a turn answers.
func (w *world) message(turnID string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.recorded[turnID]
}

// part names a row for the trace.
func (w *world) part(r outbox.Row) string {
	if r.Kind == outbox.HandoffNotice {
		return noticePart(w.message(r.TurnID), r.Payload.Actions[0].ID)
	}
	return fmt.Sprintf("%s part %d, %d of %d", w.message(r.TurnID), r.Part, r.Payload.Sent, len(r.Payload.Texts))
}

// responded reports whether it was this stamp that settled its turn.
func (w *world) responded(v turn.Stamp) bool {
	t, err := w.db.Turn(context.Background(), v.TurnID)
	if err != nil {
		w.t.Error(err)
	}
	return t.Bound && t.RespondedAt.Equal(v.At.Truncate(instant))
}

// sent notes a committed last-sent time.
func (w *world) sent(conversationID string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if at.After(w.lastSent[conversationID]) {
		w.lastSent[conversationID] = at
	}
}

// jitter is [outbox.Jitter] by the seed.
func (w *world) jitter(d time.Duration) time.Duration { return d/2 + w.duration("jitter", d/2) }

func shapes(t *testing.T) delivery.Shapes {
	t.Helper()
	s, err := delivery.ShapesOf(true)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
