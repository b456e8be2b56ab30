package sweep_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/turn/sweep"
)

// bubble runs a test in a world whose time is its own.
func bubble(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, newWorld()) })
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process is dead once it was silent for the
// lease, and is then taken over from at once.
func TestSilentProcessIsDead(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, kill := context.WithCancel(t.Context())
		go w.live(ctx, "process-b")
		go w.live(t.Context(), "process-c")
		w.running(t)
		time.Sleep(time.Minute + time.Millisecond) // it has just beaten
		diff(t, "while it beats", []string(nil), w.dead())
		kill()
		time.Sleep(lease - time.Second)
		diff(t, "before the lease is over", []string(nil), w.dead())
		w.noted()
		time.Sleep(5*time.Second + 2*time.Second + time.Second) // a beat to see it, a sweep to act
		diff(t, "after it", []string{"process-b"}, w.dead())
		diff(t, "buried first, then the worker is woken", []string{"bury", "take over", "wake"}, w.noted())
		time.Sleep(time.Hour)
		diff(t, "once", 1, len(w.buried))
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a database outage expires nobody.
func TestOutageKillsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		go w.live(t.Context(), "process-b")
		w.running(t)
		for range 5 {
			time.Sleep(11 * time.Second)
			w.fail("Beat", errOutage)
			time.Sleep(time.Minute)
			w.fail("Beat", nil)
		}
		time.Sleep(time.Minute)
		diff(t, "dead", []string(nil), w.dead())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": only silence while the watcher's own beats
// succeeded counts. A machine that stood still let none of its processes beat.
func TestStandstillKillsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, stop := context.WithCancel(t.Context())
		go w.live(ctx, "process-b")
		w.running(t)
		time.Sleep(time.Minute)
		stop()
		w.mu.Lock()
		w.hangs = time.Hour
		w.mu.Unlock()
		time.Sleep(time.Hour + 3*time.Second) // one of its beats was due since
		diff(t, "dead at once", []string(nil), w.dead())
		go w.live(t.Context(), "process-b")
		time.Sleep(time.Minute)
		diff(t, "dead", []string(nil), w.dead())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a clock jump expires nobody, and brings nobody
// back.
func TestClockJumpKillsNobody(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		ctx, kill := context.WithCancel(t.Context())
		go w.live(ctx, "process-b")
		k := w.running(t)
		for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
			w.mu.Lock()
			w.jump = jump
			w.mu.Unlock()
			time.Sleep(time.Minute)
			diff(t, "dead, alive", []any{[]string(nil), true}, []any{w.dead(), k.Alive()})
		}
		kill()
		time.Sleep(2 * lease)
		diff(t, "dead", []string{"process-b"}, w.dead())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process whose last confirmed beat is over
// four fifths of the lease old starts nothing more.
func TestAlive(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		k := w.keeper(t, false)
		diff(t, "before its first beat", false, k.Alive())
		if _, err := k.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		w.fail("Beat", errOutage)
		go k.Run(t.Context(), w)
		time.Sleep(lease*4/5 - time.Millisecond)
		diff(t, "just before", true, k.Alive())
		time.Sleep(time.Millisecond)
		diff(t, "at four fifths", false, k.Alive())
		id := k.ID()
		w.fail("Beat", nil)
		time.Sleep(5 * time.Second)
		diff(t, "with its next beat, as whom it was", []any{true, id}, []any{k.Alive(), k.ID()})
		diff(t, "alone on its database", true, w.keeper(t, true).Alive())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a process that others may have taken for dead
// takes over nothing itself.
func TestSweepsOnlyAlive(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.running(t)
		w.fail("Beat", errOutage)
		time.Sleep(time.Minute)
		w.mu.Lock()
		w.left, w.owned = []string{"turn-1"}, []string{"turn-2"}
		w.mu.Unlock()
		time.Sleep(time.Minute)
		diff(t, "taken over", []string(nil), w.noted())
		w.fail("Beat", nil)
		time.Sleep(8 * time.Second)
		diff(t, "taken over then", []string{"take over", "wake", "wake", "resume turn-2", "resume turn-1"}, w.noted())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": it goes on if its row was not taken, else under
// a new id.
func TestTakenProcessGoesOnUnderANewID(t *testing.T) {
	for name, outage := range map[string]error{"handed back": nil, "not handed back": errOutage} {
		bubble(t, func(t *testing.T, w *world) {
			k := w.running(t)
			id := k.ID()
			time.Sleep(time.Minute)
			diff(t, name+": id while it beats", id, k.ID())
			w.vanish(id)
			w.fail("HandBack", outage)
			time.Sleep(6 * time.Second)
			w.fail("HandBack", nil)
			time.Sleep(5 * time.Second)
			if k.ID() == id {
				t.Errorf("%s: it goes on under the old id", name)
			}
			diff(t, name+": alive", true, k.Alive())
			if outage == nil {
				diff(t, "handed back", []sweep.Process{{ID: id, TenantID: "demo"}}, w.handed)
			}
			time.Sleep(time.Minute)
			diff(t, name+": processes", []string{k.ID()}, w.processes())
		})
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery": a live process sweeps those of its own turns
// that nothing in it works on.
func TestLostTurns(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		k := w.running(t)
		w.mu.Lock()
		w.owned, w.held = []string{"turn-1", "turn-2", "turn-3", "turn-4"}, map[string]bool{"turn-2": true}
		w.mu.Unlock()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		diff(t, "resumed, each once", []string{
			"take over", "wake", "take over", "wake", "take over", "wake", "resume turn-1", "resume turn-3", "resume turn-4",
		}, w.noted())
		first := w.asked[0]
		diff(t, "asked for", []any{[]string{"turn-1", "turn-3", "turn-4"}, k.ID(), "demo", 7, false},
			[]any{first.Lost, first.ID, first.TenantID, first.Window.HistoryLimit, first.All})
		time.Sleep(time.Minute)
		diff(t, "afterwards", []string(nil), w.noted())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": what the dead leased is settled before what
// they had is taken over.
func TestBuriedFirst(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.beats["process-b"] = 1
		w.fail("Buried", errOutage)
		w.running(t)
		time.Sleep(time.Minute)
		diff(t, "taken over", []string(nil), w.dead())
		w.fail("Buried", nil)
		w.fail("TakeOver", errOutage)
		time.Sleep(time.Minute)
		w.fail("TakeOver", nil)
		time.Sleep(3 * time.Second)
		diff(t, "taken over then", []string{"process-b"}, w.dead())
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": a starting process that is alone takes
// everything over at once, another one what is nobody's.
func TestStart(t *testing.T) {
	for _, alone := range []bool{true, false} {
		bubble(t, func(t *testing.T, w *world) {
			w.left = []string{"turn-1", "turn-2"}
			w.beats["process-b"] = 1
			k := w.keeper(t, alone)
			taken, err := k.Start(t.Context())
			if err != nil || len(taken) != 2 {
				t.Fatalf("Start returned %d turns, %v", len(taken), err)
			}
			diff(t, "everything", alone, len(w.asked) > 0 && w.asked[0].All)
			diff(t, "beats", int64(1), w.beats[k.ID()])
			w.fail("Beat", errOutage)
			if _, err := w.keeper(t, alone).Start(t.Context()); err == nil {
				t.Error("a process starts that cannot say that it lives")
			}
		})
	}
}

// Holds docs/spec/03-turn.md, "Crash recovery", Shutdown: everything owned is handed back.
func TestStop(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		k := w.running(t)
		if err := k.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		diff(t, "handed back", []sweep.Process{{ID: k.ID(), TenantID: "demo"}}, w.handed)
	})
}

func TestNewRefuses(t *testing.T) {
	if _, err := sweep.New(sweep.Config{}); err == nil {
		t.Error("New takes an empty config")
	}
}
