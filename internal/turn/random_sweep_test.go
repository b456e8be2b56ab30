package turn_test

import (
	"context"
	"fmt"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/outbox"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// laneStore is the database as the waiting turns of a process reach it.
type laneStore struct{ *process }

func (s laneStore) Start(ctx context.Context, v turn.Start) (rec turn.Recorded, err error) {
	err = s.do(ctx, call{method: "start", about: s.w.message(v.TurnID)}, func() (err error) {
		rec, err = s.w.db.Start(ctx, v)
		return err
	})
	return rec, err
}

func (s laneStore) Ahead(ctx context.Context, conversationID string) (rows []outbox.Row, err error) {
	err = s.do(ctx, call{method: "look ahead", about: s.w.contactOf(conversationID)}, func() (err error) {
		rows, err = s.w.db.Ahead(ctx, conversationID)
		return err
	})
	return rows, err
}

// sweepStore is the database as the keeper of a process reaches it.
type sweepStore struct{ *process }

func (s sweepStore) Beat(ctx context.Context, p sweep.Process) (beats map[string]int64, known bool, err error) {
	s.w.knows(p.ID, s.name)
	err = s.do(ctx, call{method: "beat"}, func() (err error) {
		beats, known, err = s.w.db.Beat(ctx, p)
		return err
	})
	return beats, known, err
}

func (s sweepStore) TakeOver(ctx context.Context, t sweep.TakeOver) (taken []turn.Recorded, more bool, err error) {
	about := fmt.Sprintf("all %t, %d dead, %d lost", t.All, len(t.Dead), len(t.Lost))
	err = s.do(ctx, call{method: "take over", about: about}, func() (err error) {
		taken, more, err = s.w.db.TakeOver(ctx, t)
		if err == nil && t.All {
			s.w.allOver(s.process)
		}
		for _, rec := range taken {
			s.w.takes(s.name, rec)
		}
		return err
	})
	return taken, more, err
}

func (s sweepStore) Unfinished(ctx context.Context, p sweep.Process) (owned []string, unowned bool, err error) {
	err = s.do(ctx, call{method: "unfinished"}, func() (err error) {
		owned, unowned, err = s.w.db.Unfinished(ctx, p)
		return err
	})
	return owned, unowned, err
}

func (s sweepStore) HandBack(ctx context.Context, p sweep.Process) error {
	return s.do(ctx, call{method: "hand back"}, func() error { return s.w.db.HandBack(ctx, p) })
}

// knows notes what a process calls itself.
func (w *world) knows(id, name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.owners[id] = name
}

// takes notes a turn that a process took over.
func (w *world) takes(name string, rec turn.Recorded) {
	w.trace("%s: takes %q over, %s, attempt %d", name, rec.Turn.FirstName, rec.Turn.State, rec.Turn.Attempt)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.taken[rec.Turn.ID] = rec.Turn.Owner
}

// allOver notes that a process has everything that others had.
func (w *world) allOver(p *process) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.living {
		if o != p {
			o.mu.Lock()
			o.over = true
			o.mu.Unlock()
		}
	}
}

// contactOf is whose a conversation is.
func (w *world) contactOf(conversationID string) string {
	for _, t := range w.recent() {
		if t.ConversationID == conversationID {
			return string(t.Key.SubscriberID)
		}
	}
	return ""
}

// mishap is what happens to a process: it is killed, it stops in order, or of two one is away
// for a while.
func (w *world) mishap() {
	w.mu.Lock()
	p := w.living[w.dice.upTo("mishap", int64(len(w.living)))]
	w.mu.Unlock()
	switch {
	case w.dice.chance("mishap", 0.25):
		w.restart(p)
	case w.pair && w.dice.chance("mishap", 0.6):
		w.away(p)
	default:
		w.crash(p)
	}
}

// away takes a process away, mostly for longer than others wait for it.
func (w *world) away(p *process) {
	long := w.duration("away", 3*lease)
	w.trace("AWAY: %s for %s", p.name, long)
	w.allowRepeats()
	w.mu.Lock()
	w.strayed[p.name] = true
	w.mu.Unlock()
	back := p.leave()
	time.Sleep(long)
	w.allowRepeats()
	back()
	w.trace("BACK: %s", p.name)
}

// restart stops a process in order and starts the next one. Messages arrive meanwhile.
func (w *world) restart(p *process) {
	w.trace("STOP of %s", p.name)
	p.keeper.Rest()
	grace, cancel := context.WithTimeout(context.Background(), w.duration("restart", 25*time.Second))
	defer cancel()
	if err := p.runner.Drain(grace); err != nil {
		w.trace("%s: gives up turns", p.name)
	}
	p.stop()
	p.work.Wait()
	w.allowRepeats()
	if err := p.keeper.Stop(context.Background()); err != nil {
		w.trace("%s: hands nothing back: %v", p.name, innermost(err))
	}
	w.trace("END of %s", p.name)
	p.die(false)
	w.allowRepeats()
	w.replace(p)
}

// replace starts a process in place of one that is gone.
func (w *world) replace(gone *process) {
	if w.pair {
		w.mu.Lock()
		w.living = without(w.living, gone)
		w.mu.Unlock()
		time.Sleep(w.duration("replace", 2*lease))
		w.boot()
		return
	}
	w.boot()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.living = without(w.living, gone)
}

func without(living []*process, gone *process) (left []*process) {
	for _, p := range living {
		if p != gone {
			left = append(left, p)
		}
	}
	return left
}
