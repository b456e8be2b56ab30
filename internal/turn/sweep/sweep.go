package sweep

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/manychat-agent/manychat-agent/internal/turn"
)

// The pace of docs/spec/03-turn.md, "Crash recovery".
const (
	// beatEvery is how often a process says that it lives, with the default lease; a shorter
	// lease beats three times within it.
	beatEvery = 5 * time.Second
	// sweepEvery is how often it looks for what was left behind.
	sweepEvery = 2 * time.Second
	// writeWithin bounds one of its transactions.
	writeWithin = 5 * time.Second
)

// Turns are the turns of this process.
type Turns interface {
	// Holds reports whether the process works on a turn.
	Holds(turnID string) bool
	// Resume takes up a turn that was left unfinished.
	Resume(turn.Recorded)
}

// Config is what a [Keeper] needs; every field is required, but Alone.
type Config struct {
	Store    Store
	TenantID string
	Alone    bool          // a lock keeps every other process off the database
	Lease    time.Duration // PROCESS_LEASE_MS: how long a process may be silent
	Window   func() turn.Window
	// Buried is told of processes that are dead, before what they had is taken over.
	Buried func(ctx context.Context, dead []string) error
	Wake   func() // tells the outbox worker that rows may be due
	Now    func() time.Time
	Log    *slog.Logger
}

// Keeper keeps a process. Its methods but Run are safe for concurrent use.
type Keeper struct {
	cfg   Config
	watch watch

	mu   sync.Mutex
	rest bool // nothing is taken over any more
	id   string
	beat time.Time // the start of the last beat that was confirmed; zero: none was
}

// New checks the config. The process gets its id.
func New(cfg Config) (*Keeper, error) {
	switch {
	case cfg.Store == nil, cfg.Window == nil, cfg.Buried == nil, cfg.Wake == nil, cfg.Now == nil, cfg.Log == nil:
		return nil, errors.New("sweep: a collaborator is missing from the keeper's config")
	case cfg.TenantID == "", cfg.Lease <= 0:
		return nil, errors.New("sweep: the tenant and a positive lease must be set")
	}
	return &Keeper{cfg: cfg, id: newID()}, nil
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// ID is what the process calls itself in the rows that it owns. It changes when others took
// over what it had.
func (k *Keeper) ID() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.id
}

// Alive reports whether no other process can have taken this one for dead: its last
// confirmed beat is less than four fifths of the lease old. A process that is alone always
// is.
func (k *Keeper) Alive() bool {
	if k.cfg.Alone {
		return true
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.beat.IsZero() && time.Since(k.beat) < k.cfg.Lease*4/5
}

// Start says that the process lives, and takes over what it may: everything when it is alone.
// The turns are to be resumed.
func (k *Keeper) Start(ctx context.Context) ([]turn.Recorded, error) {
	if err := k.pulse(ctx); err != nil {
		return nil, err
	}
	return k.takeOver(ctx, TakeOver{All: k.cfg.Alone})
}

// Run beats and sweeps until ctx ends.
func (k *Keeper) Run(ctx context.Context, turns Turns) {
	pulse := time.NewTicker(min(beatEvery, k.cfg.Lease/3))
	defer pulse.Stop()
	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	for failed := false; ; {
		var err error
		select {
		case <-pulse.C: // first, also when the process was held up and both are due
			err = k.beats(ctx)
		default:
			select {
			case <-ctx.Done():
				return
			case <-pulse.C:
				err = k.beats(ctx)
			case <-sweep.C:
				if !k.Alive() || k.rests() {
					continue // what others left is theirs, which this process may itself be taken for
				}
				err = k.sweep(ctx, turns)
			}
		}
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failed {
			k.cfg.Log.Error("the process could not say that it lives, or look for what others left; trying again", "error", err)
		}
		failed = err != nil
	}
}

// beats beats when it is time to.
func (k *Keeper) beats(ctx context.Context) error {
	if k.cfg.Alone { // nobody watches
		return nil
	}
	return k.pulse(ctx)
}

// Rest lets the process take nothing over any more: it stops, and what it took would wait
// until it is gone. It goes on beating.
func (k *Keeper) Rest() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.rest = true
}

func (k *Keeper) rests() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.rest
}

// Stop hands back what is unfinished, for other processes or the next start.
func (k *Keeper) Stop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	return k.cfg.Store.HandBack(ctx, k.process())
}

func (k *Keeper) process() Process { return Process{ID: k.ID(), TenantID: k.cfg.TenantID} }

// pulse beats once. A process whose row was gone goes on under a new id: what it had is
// others' now.
func (k *Keeper) pulse(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, writeWithin)
	defer cancel()
	start, stood := time.Now(), !k.Alive()
	k.mu.Lock()
	id, first := k.id, k.beat.IsZero()
	k.mu.Unlock()
	beats, known, err := k.cfg.Store.Beat(ctx, Process{ID: id, TenantID: k.cfg.TenantID})
	if err != nil {
		k.watch.lose()
		return err
	}
	if !known && !first {
		return k.rename(ctx, id)
	}
	if stood {
		k.watch.lose() // whatever kept this process from beating may have kept the others
	}
	delete(beats, id)
	k.watch.see(beats, start, time.Now())
	k.mu.Lock()
	k.beat = start
	k.mu.Unlock()
	return nil
}

// rename goes on under a new id, whose first beat it makes. The beat before it has made a row
// of the old id, which goes with what is handed back; should that fail it falls silent.
func (k *Keeper) rename(ctx context.Context, taken string) error {
	k.cfg.Log.Warn("others took this process for dead and took over what it had; it goes on under a new id")
	k.mu.Lock()
	k.id, k.beat = newID(), time.Time{}
	k.mu.Unlock()
	if err := k.cfg.Store.HandBack(ctx, Process{ID: taken, TenantID: k.cfg.TenantID}); err != nil {
		return err
	}
	return k.pulse(ctx)
}

// sweep takes over what the dead, nobody, or this process without knowing it, left.
func (k *Keeper) sweep(ctx context.Context, turns Turns) error {
	owned, unowned, err := k.cfg.Store.Unfinished(ctx, k.process())
	if err != nil {
		return err
	}
	dead, beats := k.watch.silent(k.cfg.Lease)
	t := TakeOver{Dead: dead, Beats: beats}
	for _, id := range owned {
		if !turns.Holds(id) {
			t.Lost = append(t.Lost, id)
		}
	}
	if len(t.Dead) == 0 && len(t.Lost) == 0 && !unowned {
		return nil
	}
	if len(t.Dead) > 0 {
		k.cfg.Log.Warn("processes are silent, taking over what they had", "processes", len(t.Dead))
		if err := k.cfg.Buried(ctx, t.Dead); err != nil {
			return err
		}
	}
	taken, err := k.takeOver(ctx, t)
	for _, rec := range taken {
		turns.Resume(rec)
	}
	if err == nil && len(t.Dead) > 0 {
		k.watch.forget(t.Dead)
		k.cfg.Wake()
	}
	return err
}

// takeOver takes everything, a bounded number at a time. What was taken before an error is
// returned with it.
func (k *Keeper) takeOver(ctx context.Context, t TakeOver) (all []turn.Recorded, err error) {
	t.Process, t.Window = k.process(), k.cfg.Window()
	for more := true; more && err == nil; {
		var taken []turn.Recorded
		step, cancel := context.WithTimeout(ctx, writeWithin)
		taken, more, err = k.cfg.Store.TakeOver(step, t)
		cancel()
		all = append(all, taken...)
		t.Lost = slices.DeleteFunc(t.Lost, func(id string) bool { // they are in hand from now on
			return slices.ContainsFunc(taken, func(r turn.Recorded) bool { return r.Turn.ID == id })
		})
		if len(taken) > 0 {
			k.cfg.Wake()
		}
	}
	if len(all) > 0 {
		k.cfg.Log.Info("turns taken over", "count", len(all))
	}
	return all, err
}
