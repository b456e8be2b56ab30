package attempt_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

// refused is the error of a call that the breaker did not let through; nil: it was.
func refused(err error) *attempt.OpenError {
	var open *attempt.OpenError
	if errors.As(err, &open) {
		return open
	}
	return nil
}

// opened is a rig whose only provider has just been left alone, and its model. It fails
// until a test says otherwise.
func opened(t *testing.T, o options) (*rig, *player) {
	t.Helper()
	m := plays(t, down())
	o.models = []attempt.Model{one(m)}
	r := start(t, o)
	for _, at := range []time.Duration{0, 1, 2, 3, 10} {
		r.at(at * time.Second)
		if _, _, err := r.call(abort); err == nil || refused(err) != nil {
			t.Fatalf("at %v s: %v", at, err)
		}
	}
	return r, m
}

// until is when a probe is let through first.
const until = 25 * time.Second

// Holds docs/spec/04-agent.md, "Loop": a circuit breaker per provider opens after repeated
// failures: five in a row, over at least 10 s.
func TestBreakerOpens(t *testing.T) {
	type step struct {
		at time.Duration
		llmtest.Step
		gives time.Duration // how long the turn has; 0: the usual
		quits bool          // it is given up then
	}
	fail := func(at time.Duration) step { return step{at: at * ms, Step: down()} }
	of := func(at time.Duration, s llmtest.Step) step { return step{at: at * ms, Step: s} }
	hang := llmtest.Step{Hang: llmtest.UntilAbort}
	tests := []struct {
		name  string
		steps []step
		open  bool // at the last step's end
	}{
		{"five over ten seconds", []step{fail(0), fail(1), fail(2), fail(3), fail(10_000)}, true},
		{"five over less", []step{fail(0), fail(1), fail(2), fail(3), fail(9_999)}, false},
		{"six, and then it is ten seconds", []step{fail(0), fail(1), fail(2), fail(3), fail(4), fail(10_000)}, true},
		{"four", []step{fail(0), fail(20_000), fail(40_000), fail(60_000)}, false},
		{"a success between", []step{fail(0), fail(3_000), fail(6_000), of(7_000, fine()), fail(9_000), fail(12_000)}, false},
		{"five behind a success", []step{fail(0), of(1_000, fine()), fail(2_000), fail(3_000), fail(4_000), fail(5_000), fail(12_000)}, true},
		{"too soon behind a success", []step{fail(0), of(1_000, fine()), fail(2_000), fail(3_000), fail(4_000), fail(5_000), fail(11_999)}, false},
		{"a rejected request is none", []step{fail(0), fail(1), fail(2), fail(3), of(10_000, fails(llm.KindRejected, 400))}, false},
		{"a rejected request ends no row", []step{fail(0), fail(1), fail(2), fail(3), of(4, fails(llm.KindRejected, 400)), fail(10_000)}, true},
		{"a turn given up is none", []step{fail(0), fail(1), fail(2), fail(3), {at: 10_000 * ms, Step: hang, gives: time.Second, quits: true}}, false},
		{"a turn that ran into its abort is one", []step{fail(0), fail(1), fail(2), fail(3), {at: 9_000 * ms, Step: hang, gives: time.Second}}, true},
		{"from when the first began", []step{of(0, llmtest.Step{After: 5 * time.Second, Err: down().Err}), fail(5_001), fail(5_002), fail(5_003), fail(10_000)}, true},
		{"a panic is one", []step{fail(0), fail(1), fail(2), fail(3), of(10_000, llmtest.Step{Panic: "odd"})}, true},
		{"a wrong key is one", []step{fail(0), fail(1), fail(2), fail(3), of(10_000, fails(llm.KindUnauthorized, 401))}, true},
		{"an error of no kind is one", []step{fail(0), fail(1), fail(2), fail(3), of(10_000, llmtest.Step{Err: errors.New("odd")})}, true},
		{"retries are", []step{of(0, busy(2500*ms))}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &player{}
				r := start(t, alone(m))
				for i, s := range tt.steps {
					r.at(s.at)
					m.becomes(s.Step)
					ctx, cancel := context.WithTimeout(context.Background(), abort)
					if s.quits {
						time.AfterFunc(s.gives, cancel)
					} else if s.gives > 0 {
						ctx, cancel = context.WithTimeout(context.Background(), s.gives)
					}
					if _, _, err := r.turn().Call(ctx, question()); refused(err) != nil && i < len(tt.steps)-1 {
						t.Fatalf("open already at step %d", i)
					}
					cancel()
				}
				m.becomes(fine())
				if _, _, err := r.call(abort); (refused(err) != nil) != tt.open {
					t.Errorf("after it: %v", err)
				}
				if told := strings.Count(r.log.String(), "left alone for a while"); (told == 1) != tt.open {
					t.Errorf("the log tells of it %d times", told)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": turns hand off at once instead of each waiting out
// the abort, and a probe is let through: after 15 s, doubled to 2 min. A success closes.
func TestBreakerProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, m := opened(t, options{})
		at := until
		for i, next := range []time.Duration{30, 60, 120, 120, 120} {
			r.at(at - 1)
			if _, made, err := r.call(abort); refused(err) == nil || len(made) != 0 || r.since() != at-1 {
				t.Fatalf("before probe %d: %v, %+v", i+1, err, made)
			} else if got := refused(err); got.Provider != "one" || got.Until.Sub(r.start) != at {
				t.Errorf("before probe %d: %+v", i+1, got)
			}
			r.at(at)
			if _, made, err := r.call(abort); refused(err) != nil || len(made) != 1 {
				t.Fatalf("probe %d: %v", i+1, err)
			}
			at += next * time.Second
		}
		r.at(at)
		m.becomes(fine())
		for range 3 {
			if _, _, err := r.call(abort); err != nil {
				t.Fatalf("it answers again, and yet: %v", err)
			}
		}
		if got := r.log.String(); strings.Count(got, "answers again") != 1 || !strings.Contains(got, "provider=one") {
			t.Errorf("log: %s", got)
		}
		m.becomes(down())
		for i := range 5 {
			r.at(at + time.Duration(i)*4*time.Second)
			if _, _, err := r.call(abort); refused(err) != nil {
				t.Fatalf("failure %d opened it", i)
			}
		}
		if _, _, err := r.call(abort); refused(err) == nil || time.Until(refused(err).Until) != 15*time.Second {
			t.Errorf("opened again: %v", err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": lets a probe through, one of a thousand.
func TestOneProbe(t *testing.T) {
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprint("answers: ", answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, m := opened(t, options{})
				before := m.requests()
				slow := down()
				if answers {
					slow = fine()
				}
				slow.After = 3 * time.Second
				m.becomes(slow)
				r.at(until)
				var turns sync.WaitGroup
				var handedOff, answered atomic.Int32
				for range 1000 {
					turns.Go(func() {
						_, _, err := r.call(abort)
						switch {
						case err == nil:
							answered.Add(1)
						case refused(err) != nil && r.since() == until:
							handedOff.Add(1)
						}
					})
				}
				turns.Wait()
				if got := m.requests() - before; got != 1 || handedOff.Load() != 999 || (answered.Load() == 1) != answers {
					t.Errorf("%d probes; %d turns handed off at once, %d answered", got, handedOff.Load(), answered.Load())
				}
				if _, _, err := r.call(abort); (err == nil) != answers {
					t.Errorf("after the probe: %v", err)
				}
				r.spent()
			})
		})
	}
}

// turnstile refuses or panics as told.
type turnstile struct {
	attempt.Budget
	how func(budget.Call) error // nil: as the budget says
}

func (s *turnstile) Reserve(ctx context.Context, call budget.Call) (*budget.Reservation, error) {
	if s.how != nil {
		if err := s.how(call); err != nil {
			return nil, err
		}
	}
	return s.Budget.Reserve(ctx, call)
}

// Holds docs/spec/04-agent.md, "Loop": lets a probe through. Whatever becomes of it, the
// next one is let through in its time.
func TestProbeBlocksNoOther(t *testing.T) {
	deaf := llmtest.Step{Hang: llmtest.Forever}
	hang := llmtest.Step{Hang: llmtest.UntilAbort}
	tests := []struct {
		name   string
		step   llmtest.Step
		quits  bool // the turn is given up after a second
		budget func(budget.Call) error
		next   time.Duration // when the next probe is
	}{
		{"fails", down(), false, nil, until + 30*time.Second},
		{"panics", llmtest.Step{Panic: "odd"}, false, nil, until + 30*time.Second},
		{"hangs until the abort", hang, false, nil, until + abort + 30*time.Second},
		{"hangs past the abort", deaf, false, nil, until + abort + 30*time.Second},
		{"is given up", hang, true, nil, until + time.Second},
		{"is given up and does not heed", deaf, true, nil, until + time.Second},
		{"is rejected", fails(llm.KindRejected, 400), false, nil, until},
		{"is not within the budget", fine(), false, func(budget.Call) error { return errNoRoom }, until},
		{"meets a budget that panics", fine(), false, func(budget.Call) error { panic("odd") }, until},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				stile := &turnstile{}
				r, m := opened(t, options{budget: func(b attempt.Budget) attempt.Budget { stile.Budget = b; return stile }})
				r.at(until)
				s := &llmtest.Scripted{Steps: []llmtest.Step{tt.step}}
				m.plays(s)
				stile.how = tt.budget
				func() {
					defer func() { _ = recover() }() // of the turn
					ctx, cancel := context.WithTimeout(context.Background(), abort)
					defer cancel()
					if tt.quits {
						defer time.AfterFunc(time.Second, cancel).Stop()
					}
					if _, _, err := r.turn().Call(ctx, question()); err == nil || refused(err) != nil {
						t.Errorf("probe: %v", err)
					}
				}()
				stile.how = nil
				m.becomes(fine())
				if tt.next > r.since() {
					r.at(tt.next - 1)
					if _, _, err := r.call(abort); refused(err) == nil {
						t.Errorf("before the next probe: %v", err)
					}
				}
				r.at(tt.next)
				if _, _, err := r.call(abort); err != nil {
					t.Errorf("next probe: %v", err)
				}
				s.Release()
				r.spent()
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": a circuit breaker per provider. Its models share
// it, and another provider's do not.
func TestBreakerOfAProvider(t *testing.T) {
	for fallback, shares := range map[string]bool{"one:b": true, "two:a": false} {
		t.Run(fallback, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := plays(t, down()), plays(t, fine())
				r := start(t, options{models: []attempt.Model{one(a), {Name: fallback, Model: b}}})
				for i := range 5 { // each fails over to the fallback, whose success is one of the provider
					r.at(time.Duration(i) * 4 * time.Second)
					if _, _, err := r.call(abort); err != nil {
						t.Fatal(err)
					}
				}
				asked := a.requests()
				if _, _, err := r.call(abort); err != nil {
					t.Error(err)
				}
				if left := a.requests() == asked; left == shares {
					t.Errorf("the first is left alone: %v", left)
				}
				b.becomes(down())
				for i := range 10 {
					r.at(time.Duration(20+2*i) * time.Second)
					_, _, _ = r.call(abort)
				}
				if _, made, err := r.call(abort); refused(err) == nil || len(made) != 0 {
					t.Errorf("with all left alone: %+v, %v", made, err)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": with the breaker open, turns hand off at once; a
// wait behind which no attempt would be let through is not begun either.
func TestNoWaitForALeftAloneProvider(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plays(t, busy(0))
		r := start(t, alone(m))
		_, made, err := r.call(time.Hour)
		if refused(err) == nil || r.since() != 14300*ms || len(made) != 7 {
			t.Errorf("after %v and %d attempts: %v", r.since(), len(made), err)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a wait that ends when the probe is due is begun
		m := plays(t, busy(0), busy(0), busy(0), busy(0), busy(0), busy(0), busy(15*time.Second), fine())
		r := start(t, alone(m))
		if _, _, err := r.call(time.Hour); err != nil || r.since() != 29300*ms {
			t.Errorf("after %v: %v", r.since(), err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": lets a probe through, one at a time, also when one
// of an earlier outage comes back in the middle of the next.
func TestProbeOfAnEarlierOutage(t *testing.T) {
	const long = time.Hour
	for _, ends := range []llmtest.Step{down(), fails(llm.KindRejected, 400)} {
		synctest.Test(t, func(t *testing.T) {
			gates := map[string]chan llmtest.Step{"old": make(chan llmtest.Step), "first": make(chan llmtest.Step), "second": make(chan llmtest.Step)}
			asked := map[string]bool{}
			r := start(t, alone(&player{play: func(ctx context.Context, req llm.Request) (llm.Response, error) {
				s, held := down(), gates[req.System]
				asked[req.System] = true
				if held != nil {
					s = <-held
				}
				return (&llmtest.Scripted{Steps: []llmtest.Step{s}}).Generate(ctx, req)
			}}))
			call := func(who string) error {
				ctx, cancel := context.WithTimeout(context.Background(), long)
				defer cancel()
				_, _, err := r.turn().Call(ctx, llm.Request{System: who, MaxOutputTokens: 1})
				return err
			}
			outage := func() {
				for range 5 {
					_ = call("")
					time.Sleep(3 * time.Second)
				}
				time.Sleep(15 * time.Second)
			}
			var turns sync.WaitGroup
			begin := func(who string) { turns.Go(func() { _ = call(who) }); synctest.Wait() }
			begin("old")
			outage()
			begin("first")
			gates["old"] <- fine() // closes the breaker
			synctest.Wait()
			outage()
			begin("second")
			gates["first"] <- ends
			synctest.Wait()
			if err := call("third"); refused(err) == nil || asked["third"] {
				t.Errorf("beside a probe: %v", err)
			}
			gates["second"] <- fine()
			synctest.Wait()
			if err := call("fourth"); refused(err) != nil {
				t.Errorf("after the probe answered: %v", err)
			}
			turns.Wait()
			want := map[string]bool{"": true, "old": true, "first": true, "second": true, "fourth": true}
			if d := cmp.Diff(want, asked); d != "" {
				t.Errorf("asked (-want +got):\n%s", d)
			}
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": opens after repeated failures; what comes back
// late of the time before it opened does not make the pause longer.
func TestFailuresBehindAnOpenBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plays(t, llmtest.Step{Hang: llmtest.UntilAbort})
		r := start(t, alone(m))
		var turns sync.WaitGroup
		for range 20 {
			turns.Go(func() { _, _, _ = r.call(14 * time.Second) })
		}
		synctest.Wait()
		m.becomes(down())
		for _, at := range []time.Duration{0, 1, 2, 3, 10} {
			r.at(at * time.Second)
			_, _, _ = r.call(abort)
		}
		turns.Wait()
		if _, _, err := r.call(abort); refused(err) == nil || refused(err).Until.Sub(r.start) != until {
			t.Errorf("error = %v", err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": opens after repeated failures. They count from when
// the first of them began, also when it ends last.
func TestFailuresOutOfOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plays(t, llmtest.Step{Hang: llmtest.UntilAbort})
		r := start(t, alone(m))
		var slow sync.WaitGroup
		slow.Go(func() { _, _, _ = r.call(10 * time.Second) })
		synctest.Wait()
		m.becomes(down())
		for _, at := range []time.Duration{5, 6, 7, 8} {
			r.at(at * time.Second)
			_, _, _ = r.call(abort)
		}
		slow.Wait()
		if _, _, err := r.call(abort); refused(err) == nil {
			t.Errorf("error = %v", err)
		}
	})
}
