package app

import (
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/expiry"
	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// newSweeper makes what deletes, behind the worker, what the service keeps no longer.
func newSweeper(s *Service) (*expiry.Sweeper, error) {
	c := s.opts.Config
	return expiry.New(expiry.Config{
		DB: s.db.DB, TenantID: c.Tenant.ID, Retention: c.Outbox.Retention, Now: s.opts.Now, Log: s.opts.Log,
		Since: func(now time.Time) time.Time { return turn.HistorySince(s.tenant(), now) },
	})
}
