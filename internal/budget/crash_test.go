package budget_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/budget"
)

// Holds docs/spec/06-contact.md, "Caps": a dead process's blocks come back less what was
// booked and the worst case of what it had in flight; and docs/spec/17-quality.md,
// "Reliability": never less is charged than that, so nothing is overspent.
func TestCrash(t *testing.T) {
	const worst, used = 100, 30
	type settling struct{ settled, running int }
	tests := []struct {
		name   string
		cap    int64
		before settling      // calls, one after another, and calls left in flight
		quiet  time.Duration // from then to
		after  settling      // what ends and begins as the process dies, its statements lost
		leaks  int64         // at most: what is charged beyond what was spent and in flight
	}{
		{"no call", 1_000, settling{}, 0, settling{}, 0},
		{"in flight", 1_000, settling{running: 3}, 0, settling{}, 0},
		{"in flight, long ago", 1_000, settling{running: 3}, time.Minute, settling{}, 0},
		{"spent", 1_000, settling{settled: 3}, 0, settling{}, 0},
		{"spent and in flight", 1_000, settling{3, 3}, 0, settling{}, 0},
		{"spent and in flight, a little ago", 1_000, settling{3, 3}, 3 * time.Second, settling{}, 0},
		{"settled while it dies", 1_000, settling{3, 3}, time.Second, settling{settled: 2}, 2 * (worst - used)},

		{"one block: in flight", 100_000, settling{running: 3}, 0, settling{}, 1_000 - 3*worst},
		{"one block: spent and in flight", 100_000, settling{3, 3}, 0, settling{}, 1_000 - 3*used - 3*worst},
		{"one block: booked", 100_000, settling{settled: 3}, 6 * time.Second, settling{}, 1_000 - 3*used},
		{"one block: idle", 100_000, settling{settled: 3}, 11 * time.Second, settling{}, 0},
		{"one block: settled while it dies", 100_000, settling{3, 3}, time.Second, settling{settled: 3, running: 2}, 1_000},
		{"some blocks", 100_000, settling{settled: 3, running: 25}, time.Second, settling{}, 1_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p := w.start("dies")
				var spent int64
				var running []*budget.Reservation
				begin := func() { running = append(running, w.reserve(p, call(tt.cap, worst, 0))) }
				settle := func() {
					running[0].Settle(tokens(used))
					running, spent = running[1:], spent+used
				}
				for range tt.before.settled {
					begin()
					settle()
				}
				for range tt.before.running {
					begin()
				}
				synctest.Wait()
				time.Sleep(tt.quiet)
				p.ledger.set(dead)
				for range tt.after.settled {
					settle()
				}
				for range tt.after.running {
					begin()
				}
				p.crash()

				next := w.takeOver("next")
				exact := tt.cap - spent - int64(len(running))*worst
				if free := w.free(next, tt.cap); free > exact || free < exact-tt.leaks {
					t.Errorf("%d tokens are free, want %d or up to %d less", free, exact, tt.leaks)
				}
				next.end()
				if got := w.today().Leased; got != tokens(0) {
					t.Errorf("%+v is still leased", got)
				}
			})
		})
	}
}

// What a statement on its way sets aside is not handed out, so that it may come back.
func TestCrashInTheMiddleOfAStatement(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("dies")
		r := w.reserve(p, call(100_000, 1_500, 0)) // of two blocks of 1000
		p.ledger.set(late)
		r.Settle(tokens(100)) // all but one block is given back
		synctest.Wait()
		go func() {
			if _, err := p.Reserve(t.Context(), call(100_000, 400, time.Minute)); err == nil {
				t.Error("a call was let in")
			}
		}()
		synctest.Wait()
		p.crash()
		if free := w.free(w.takeOver("next"), 100_000); free != 99_900 {
			t.Errorf("%d tokens are free, want 99900", free)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": a crash behind midnight is charged to the day
// before it.
func TestCrashBehindMidnight(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		time.Sleep(12*time.Hour - time.Second)
		p := w.start("dies")
		first := budget.DayOf(time.Now())
		w.reserve(p, call(1_000, 100, 0)).Settle(tokens(10))
		w.reserve(p, call(1_000, 100, 0))
		time.Sleep(20 * time.Second)
		w.reserve(p, call(1_000, 300, 0))
		p.crash()
		next := w.takeOver("next")
		if free := w.free(next, 1_000); free != 700 {
			t.Errorf("%d tokens are free on the new day, want 700", free)
		}
		next.end()
		if d := cmp.Diff(budget.Total{Spent: tokens(110)}, w.day(first)); d != "" {
			t.Errorf("the first day (-want +got):\n%s", d)
		}
	})
}

// A process that starts again and again leaves the day as it found it.
func TestCrashAgainAndAgain(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("0")
		for i := range 20 {
			w.reserve(p, call(1_000, 100, 0)).Settle(tokens(1))
			synctest.Wait()
			p.crash()
			p = w.takeOver(string(rune('a' + i)))
		}
		if free := w.free(p, 1_000); free != 980 {
			t.Errorf("%d tokens are free, want 980", free)
		}
	})
}

// The calls of a process that died while one of its own waited ask nobody for room.
func TestCrashWhileWaiting(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("dies")
		w.reserve(p, call(1_000, 900, 0))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			_, _ = p.Reserve(t.Context(), call(1_000, 200, time.Minute))
		}()
		synctest.Wait()
		if got := w.today().Waiting; got != 1 {
			t.Errorf("%d processes wait, want 1", got)
		}
		p.crash()
		<-ended
		w.takeOver("next")
		if got := w.today().Waiting; got != 0 {
			t.Errorf("%d processes wait, want none", got)
		}
	})
}
