package budget_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/internal/budget"
)

// Holds docs/spec/15-storage.md, "Storage and scale": losing the database, turns hand off,
// nothing hangs past its bound, and it recovers by itself.
func TestLedgerTrouble(t *testing.T) {
	tests := []struct {
		name  string
		fault fault
		heals time.Duration // 0: never
		by    time.Duration
		want  time.Duration
		ok    bool
	}{
		{"down", dead, 0, 8 * time.Second, 8 * time.Second, false},
		{"down, and no time", dead, 0, 0, 0, false},
		{"down for a while", dead, 2500 * time.Millisecond, 8 * time.Second, 3 * time.Second, true},
		{"hangs", hung, 0, 8 * time.Second, 8 * time.Second, false},
		{"hangs, and no time", hung, 0, 0, 3 * time.Second, false},
		{"hangs for a while", hung, 2500 * time.Millisecond, 8 * time.Second, 3 * time.Second, true},
		{"answers get lost", lost, 2500 * time.Millisecond, 8 * time.Second, 3 * time.Second, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p := w.start("a")
				p.ledger.set(tt.fault)
				if tt.heals > 0 {
					time.AfterFunc(tt.heals, func() { p.ledger.set(fine) })
				}
				start := time.Now()
				r, err := p.Reserve(t.Context(), call(1_000, 1_000, tt.by))
				if took := time.Since(start); took != tt.want || (err == nil) != tt.ok {
					t.Errorf("after %s: %v, want %s", took, err, tt.want)
				}
				if err != nil && !errors.Is(err, budget.ErrUnavailable) {
					t.Errorf("error = %v", err)
				}
				p.ledger.set(fine)
				if r != nil {
					r.Settle(tokens(10))
				}
				time.Sleep(6 * time.Second)
				if free := w.free(p, 1_000); free != 1_000 && !tt.ok || free != 990 && tt.ok {
					t.Errorf("%d tokens are free afterwards", free)
				}
				p.end()
				if n := strings.Count(p.log.String(), "cannot be written"); n != 1 {
					t.Errorf("%d warnings logged:\n%s", n, p.log)
				}
				if n := strings.Count(p.log.String(), "written again"); n != 1 {
					t.Errorf("%d recoveries logged:\n%s", n, p.log)
				}
			})
		})
	}
}

// Holds docs/spec/15-storage.md, "Storage and scale": what was spent during an outage is
// booked after it, and what was leased before it is handed out in it.
func TestBookingsOutliveAnOutage(t *testing.T) {
	for name, fault := range map[string]fault{"down": dead, "answers get lost": lost, "hangs": hung} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, w *world) {
				p := w.start("a")
				w.reserve(p, call(100_000, 100, 0)).Settle(tokens(50))
				p.ledger.set(fault)
				for range 9 {
					w.reserve(p, call(100_000, 100, 0)).Settle(tokens(50))
					time.Sleep(4 * time.Second)
				}
				p.ledger.set(fine)
				time.Sleep(10 * time.Second)
				if got := w.today(); got.Spent != tokens(500) {
					t.Errorf("the ledger has %+v", got)
				}
				before := p.ledger.stated()
				time.Sleep(time.Hour)
				if n := p.ledger.stated() - before; n > 1 {
					t.Errorf("%d statements when all is said", n)
				}
				p.end()
				if got := w.today(); got.Leased != tokens(0) {
					t.Errorf("the ledger has %+v", got)
				}
			})
		})
	}
}

// A settlement lets in what waits although the ledger does not answer.
func TestSettlementInAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		r := w.reserve(p, call(1_000, 1_000, 0))
		p.ledger.set(hung)
		time.AfterFunc(2*time.Second, func() { r.Settle(tokens(100)) })
		start := time.Now()
		w.reserve(p, call(1_000, 900, 8*time.Second))
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("let in after %s", took)
		}
	})
}

// What the ledger may have of a call that waited, and of which no answer came, is put
// right when nothing else is to say.
func TestLostAnswerIsPutRight(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		w.reserve(p, call(1_000, 900, 0))
		p.ledger.set(lost)
		if _, err := p.Reserve(t.Context(), call(1_000, 200, 0)); !errors.Is(err, budget.ErrUnavailable) {
			t.Errorf("Reserve returned %v", err)
		}
		p.ledger.set(fine)
		if got := w.today().Waiting; got != 1 {
			t.Errorf("%d processes wait, want 1", got)
		}
		time.Sleep(6 * time.Second)
		if got := w.today().Waiting; got != 0 {
			t.Errorf("%d processes wait, want none", got)
		}
	})
}

// Holds docs/spec/03-turn.md, "Crash recovery": at the end of a process everything it
// owns is handed back; what is in flight stays charged.
func TestStop(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		w.reserve(p, call(1_000, 100, 0)).Settle(tokens(30))
		late := w.reserve(p, call(1_000, 600, 0))
		refused := make(chan error)
		go func() {
			_, err := p.Reserve(t.Context(), call(1_000, 900, time.Minute))
			refused <- err
		}()
		synctest.Wait()
		p.stop()
		if err := <-refused; !errors.Is(err, budget.ErrUnavailable) {
			t.Errorf("the call that waited got %v", err)
		}
		<-p.ended
		if got := w.today(); got.Spent != tokens(30) || got.Leased != tokens(600) || got.Waiting != 0 {
			t.Errorf("the ledger has %+v", got)
		}
		late.Settle(tokens(1)) // abandoned by its turn, it comes back too late to be booked
		if _, err := p.Reserve(t.Context(), call(1_000, 1, time.Minute)); !errors.Is(err, budget.ErrUnavailable) {
			t.Errorf("a call behind the end got %v", err)
		}
		w.takeOver("b")
		if got := w.today(); got.Spent != tokens(630) || got.Leased != tokens(0) {
			t.Errorf("taken over, the ledger has %+v", got)
		}
	})
}

// A process that cannot say goodbye ends all the same, and says so.
func TestStopInAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		for _, tt := range []struct {
			heals, takes time.Duration
			says         int
		}{{900 * time.Millisecond, time.Second, 0}, {time.Minute, 10 * time.Second, 1}} {
			p := w.start("a")
			w.reserve(p, call(1_000, 100, 0)).Settle(tokens(30))
			synctest.Wait()
			r := w.reserve(p, call(1_000, 100, 0))
			p.ledger.set(dead)
			r.Settle(tokens(30))
			start := time.Now()
			time.AfterFunc(tt.heals, func() { p.ledger.set(fine) })
			p.end()
			if took := time.Since(start); took != tt.takes {
				t.Errorf("ended after %s, want %s", took, tt.takes)
			}
			if n := strings.Count(p.log.String(), "could not be returned"); n != tt.says {
				t.Errorf("said %d times:\n%s", n, p.log)
			}
			time.Sleep(time.Hour)
		}
	})
}

// Nothing of a call is logged but numbers and its model.
func TestErrorsNameTheirCause(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		p := w.start("a")
		p.ledger.set(dead)
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, errors.New("the abort"))
		defer cancel()
		_, err := p.Reserve(ctx, call(1_000, 1, time.Minute))
		if err == nil || !strings.Contains(err.Error(), errDatabase.Error()) || !strings.Contains(err.Error(), "the abort") {
			t.Errorf("error = %v", err)
		}
	})
}
