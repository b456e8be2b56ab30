package app

import (
	"context"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// pauses gives conversations to people and back, in the database. It fills [inbound.Pauses].
type pauses struct{ db *store.DB }

// Pause fills [inbound.Pauses].
func (p pauses) Pause(ctx context.Context, who contact.Key, until time.Time) (withheld int, err error) {
	paused, err := p.db.Pause(ctx, who, until)
	return paused.Withheld, err
}

// Resume fills [inbound.Pauses].
func (p pauses) Resume(ctx context.Context, who contact.Key) error {
	_, err := p.db.Resume(ctx, who)
	return err
}
