// Package expiry deletes what is kept no longer: whole turns and nudges past the retention, and
// rows of the outbox that were delivered or given up. It works in small batches with pauses
// between them, beside a service that answers.
package expiry

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/store/database"
)

const (
	// KeepOver is how long a row of the outbox is kept that was delivered or discarded,
	// whatever the retention.
	KeepOver = 7 * 24 * time.Hour

	firstAfter = time.Minute // not while a process starts
	sweepEvery = time.Hour
	// pause is between two batches: the service's writes wait for one batch at most.
	pause = 100 * time.Millisecond
	// batch is how many rows of the outbox, turns or conversations one statement reads.
	batch = 100
)

// Config is what a [Sweeper] needs; every field is required.
type Config struct {
	DB        *database.DB
	TenantID  string
	Retention time.Duration                 // RETENTION_DAYS; zero keeps every turn
	Since     func(now time.Time) time.Time // where the history that a model reads begins
	Now       func() time.Time
	Log       *slog.Logger
}

// Sweeper deletes what a tenant keeps no longer. Several processes may sweep at once.
type Sweeper struct{ cfg Config }

// New checks the config.
func New(cfg Config) (*Sweeper, error) {
	if cfg.DB == nil || cfg.TenantID == "" || cfg.Since == nil || cfg.Now == nil || cfg.Log == nil || cfg.Retention < 0 {
		return nil, errors.New("expiry: something is missing from the sweeper's config")
	}
	return &Sweeper{cfg}, nil
}

// Deleted is how much a sweep removed.
type Deleted struct {
	Turns int // with their messages and their rows of the outbox
	Rows  int // of the outbox, whose turns are kept
	// Nudges are those that ended; their turns are counted with the others.
	Nudges int
}

// Run sweeps every hour until ctx ends.
func (s *Sweeper) Run(ctx context.Context) {
	for wait := firstAfter; sleep(ctx, wait); wait = sweepEvery {
		d, err := s.Sweep(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.cfg.Log.Error("deleting what is kept no longer failed; it is tried again in an hour", "error", err)
		case d != Deleted{}:
			s.cfg.Log.Info("deleted what is kept no longer", "turns", d.Turns, "outboxRows", d.Rows, "nudges", d.Nudges)
		}
	}
}

// Sweep deletes everything that is due. What it did before an error stays done.
func (s *Sweeper) Sweep(ctx context.Context) (d Deleted, err error) {
	now := s.cfg.Now()
	if d.Rows, err = s.sweepOutbox(ctx, now.Add(-KeepOver)); err != nil || s.cfg.Retention == 0 {
		return d, err
	}
	before := now.Add(-s.cfg.Retention)
	if since := s.cfg.Since(now); since.Before(before) {
		before = since
	}
	if d.Turns, err = s.sweepTurns(ctx, limits{turns: before, rows: now.Add(-KeepOver)}); err != nil {
		return d, err
	}
	d.Nudges, err = s.sweepNudges(ctx, before)
	return d, err
}

// sleep returns false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
