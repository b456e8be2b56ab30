package delivery

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/action"
	"github.com/manychat-agent/manychat-agent/internal/nudge"
)

// nudge plans a follow-up, which makes no request. Of a contact who has written again, or whom a
// person has by now, it is discarded: nobody went quiet.
func (p *Performer) nudge(ctx context.Context, log *slog.Logger, b Batch, a action.Pending) action.Ended {
	delay, ok := nudge.DelayOf(b.Tools, a.ID)
	if !ok {
		return failed(log, Unconfigured)
	}
	err := p.cfg.Nudges.Schedule(ctx, nudge.Plan{
		ConversationID: b.Claim.ConversationID, TurnID: b.Claim.TurnID, Delay: delay.ID, After: time.Duration(delay.Minutes) * time.Minute,
	})
	switch {
	case errors.Is(err, nudge.ErrOver):
		return action.Ended{Status: action.Discarded}
	case errors.Is(err, nudge.ErrLate):
		return failed(log, TooLate)
	case err != nil:
		return failed(log.With("error", err), NotRecorded)
	}
	return action.Ended{Status: action.Performed}
}
