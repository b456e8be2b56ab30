package joint

import (
	"context"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/contact"
	"github.com/manychat-agent/manychat-agent/internal/store"
)

// Pauses gives conversations to people and back, in the database. It fills [inbound.Pauses].
type Pauses struct{ DB *store.DB }

// Pause fills [inbound.Pauses].
func (p Pauses) Pause(ctx context.Context, who contact.Key, until time.Time) (withheld int, err error) {
	paused, err := p.DB.Pause(ctx, who, until)
	return paused.Withheld, err
}

// Resume fills [inbound.Pauses].
func (p Pauses) Resume(ctx context.Context, who contact.Key) error {
	_, err := p.DB.Resume(ctx, who)
	return err
}
