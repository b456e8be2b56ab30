package joint

import (
	"context"

	"github.com/manychat-agent/manychat-agent/internal/nudge"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/follow"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// Nudging is what a process does about contacts who went quiet: it looks for due nudges, and
// runs their turns.
type Nudging struct {
	*nudge.Poller
	follower *follow.Follower
}

// NewNudging checks the configs. Turns of p are f's.
func NewNudging(f follow.Config, p nudge.Config) (*Nudging, error) {
	follower, err := follow.New(f)
	if err != nil {
		return nil, err
	}
	p.Turns = follower
	poller, err := nudge.New(p)
	return &Nudging{poller, follower}, err
}

// Turns are the turns that a process works on, those of nudges among them.
func (n *Nudging) Turns(turns *turn.Runner) sweep.Turns { return hands{turns, n.follower} }

type hands struct {
	*turn.Runner
	follower *follow.Follower
}

// Holds fills [sweep.Turns].
func (h hands) Holds(turnID string) bool { return h.Runner.Holds(turnID) || h.follower.Holds(turnID) }

// Recording is the store of a process whose messages end nudges: [Nudging] aborts what it has
// under way for a contact as soon as a message of theirs is recorded.
type Recording struct {
	turn.Store
	Nudging func() *Nudging
}

// Record fills [turn.Store].
func (r Recording) Record(ctx context.Context, a turn.Arrival) (turn.Recorded, error) {
	rec, err := r.Store.Record(ctx, a)
	if err == nil {
		r.Nudging().follower.Wrote(rec.Turn.ConversationID)
	}
	return rec, err
}

// Planning keeps the nudges that are planned, and has the poller look at each: it may be due soon.
// It fills [delivery.Nudges].
type Planning struct {
	Store   nudge.Store
	Nudging func() *Nudging
}

// Schedule fills [delivery.Nudges].
func (p Planning) Schedule(ctx context.Context, plan nudge.Plan) error {
	err := p.Store.Schedule(ctx, plan)
	if err == nil {
		p.Nudging().Wake()
	}
	return err
}
