package sweep_test

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/conversation"
	"github.com/manychat-agent/manychat-agent/internal/turn"
	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

const lease = 15 * time.Second

var errOutage = errors.New("the database is away")

// world is what several processes share, and the turns of the one under test. Nothing of it
// is a database: it notes what it is asked, and answers what a test put there.
type world struct {
	mu     sync.Mutex
	beats  map[string]int64
	owned  []string
	held   map[string]bool
	left   []string         // turns that nobody owns
	fails  map[string]error // by the method's name
	hangs  time.Duration    // of Unfinished, once
	asked  []sweep.TakeOver // take-overs that found somebody dead or something lost
	handed []sweep.Process
	buried [][]string
	events []string
	jump   time.Duration // of the wall clock
}

func (w *world) fail(method string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails[method] = err
}

func (w *world) note(event string) { w.events = append(w.events, event) }

func (w *world) Beat(_ context.Context, p sweep.Process) (map[string]int64, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails["Beat"]; err != nil {
		return nil, false, err
	}
	_, known := w.beats[p.ID]
	w.beats[p.ID]++
	return maps.Clone(w.beats), known, nil
}

// TakeOver hands out one turn at a time.
func (w *world) TakeOver(_ context.Context, t sweep.TakeOver) ([]turn.Recorded, bool, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails["TakeOver"]; err != nil {
		return nil, false, err
	}
	if t.All || len(t.Dead)+len(t.Lost) > 0 {
		t.Lost = slices.Clone(t.Lost)
		w.asked = append(w.asked, t)
		w.note("take over")
	}
	var id string
	switch {
	case len(t.Lost) > 0:
		id = t.Lost[0]
	case len(w.left) > 0:
		id, w.left = w.left[0], w.left[1:]
	default:
		for _, dead := range t.Dead {
			delete(w.beats, dead)
		}
		return nil, false, nil
	}
	return []turn.Recorded{{Turn: conversation.Turn{ID: id}}}, true, nil
}

func (w *world) Unfinished(context.Context, sweep.Process) ([]string, bool, error) {
	w.mu.Lock()
	hangs := w.hangs
	w.hangs = 0
	w.mu.Unlock()
	time.Sleep(hangs)
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.owned), len(w.left) > 0, w.fails["Unfinished"]
}

func (w *world) HandBack(_ context.Context, p sweep.Process) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails["HandBack"]; err != nil {
		return err
	}
	w.handed = append(w.handed, p)
	delete(w.beats, p.ID)
	return nil
}

func (w *world) Holds(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.held[id]
}

func (w *world) Resume(r turn.Recorded) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held[r.Turn.ID] = true
	w.note("resume " + r.Turn.ID)
}

func (w *world) bury(_ context.Context, dead []string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.fails["Buried"]; err != nil {
		return err
	}
	w.buried = append(w.buried, dead)
	w.note("bury")
	return nil
}

// dead are the processes that were taken over from.
func (w *world) dead() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, t := range w.asked {
		all = append(all, t.Dead...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// noted are the events since the last call.
func (w *world) noted() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	events := w.events
	w.events = nil
	return events
}

// processes are those that have a row.
func (w *world) processes() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.beats))
}

// vanish lets others take over from a process.
func (w *world) vanish(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.beats, id)
}

// live lets another process beat every five seconds until it is stopped.
func (w *world) live(ctx context.Context, id string) {
	for ctx.Err() == nil {
		w.mu.Lock()
		if w.fails["Beat"] == nil {
			w.beats[id]++
		}
		w.mu.Unlock()
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Second):
		}
	}
}

func newWorld() *world {
	return &world{beats: map[string]int64{}, held: map[string]bool{}, fails: map[string]error{}}
}

func (w *world) keeper(t *testing.T, alone bool) *sweep.Keeper {
	t.Helper()
	k, err := sweep.New(sweep.Config{
		Store: w, TenantID: "demo", Alone: alone, Lease: lease, Window: func() turn.Window { return turn.Window{HistoryLimit: 7} },
		Buried: w.bury, Log: slog.New(slog.DiscardHandler),
		Wake: func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.note("wake")
		},
		Now: func() time.Time {
			w.mu.Lock()
			defer w.mu.Unlock()
			return time.Now().Add(w.jump)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// running is a keeper that has started and runs until the test ends.
func (w *world) running(t *testing.T) *sweep.Keeper {
	t.Helper()
	k := w.keeper(t, false)
	if _, err := k.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	go k.Run(t.Context(), w)
	return k
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}
