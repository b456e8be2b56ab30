package attempt_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

const ms = time.Millisecond

// Holds docs/spec/04-agent.md, "Loop": provider retries on 429, 5xx, overload and network
// errors, with jitter and Retry-After, while the abort allows.
func TestRetries(t *testing.T) {
	again := []time.Duration{0, 300 * ms}
	once := []time.Duration{0}
	tests := []struct {
		name  string
		steps []llmtest.Step
		asked []time.Duration // when
		fails bool
	}{
		{"answered", []llmtest.Step{fine()}, once, false},
		{"rate limited", []llmtest.Step{busy(0), fine()}, again, false},
		{"server", []llmtest.Step{fails(llm.KindServer, 500), fine()}, again, false},
		{"overloaded", []llmtest.Step{fails(llm.KindOverloaded, 529), fine()}, again, false},
		{"network", []llmtest.Step{fails(llm.KindNetwork, 0), fine()}, again, false},
		{"rejected", []llmtest.Step{fails(llm.KindRejected, 400), fine()}, once, true},
		{"unauthorized", []llmtest.Step{fails(llm.KindUnauthorized, 401), fine()}, once, true},
		{"protocol", []llmtest.Step{fails(llm.KindProtocol, 200), fine()}, once, true},
		{"an error of no kind", []llmtest.Step{{Err: errors.New("odd")}, fine()}, once, true},
		{"panic", []llmtest.Step{{Panic: "odd"}, fine()}, once, true},
		{"retryable, then not", []llmtest.Step{busy(0), fails(llm.KindRejected, 400), fine()}, again, true},

		{"waits double to 5 s", []llmtest.Step{busy(0), busy(0), busy(0), busy(0), busy(0), busy(0), fine()},
			[]time.Duration{0, 300 * ms, 900 * ms, 2100 * ms, 4500 * ms, 9300 * ms, 14300 * ms}, false},
		{"waits are behind the answers", []llmtest.Step{{After: time.Second, Err: busy(0).Err}, {After: 2 * time.Second, Err: busy(0).Err}, fine()},
			[]time.Duration{0, 1300 * ms, 3900 * ms}, false},
		{"Retry-After is longer", []llmtest.Step{busy(2 * time.Second), fine()}, []time.Duration{0, 2 * time.Second}, false},
		{"Retry-After is shorter", []llmtest.Step{busy(100 * ms), fine()}, again, false},
		{"Retry-After beyond the longest wait", []llmtest.Step{busy(20 * time.Second), fine()}, []time.Duration{0, 20 * time.Second}, false},
		{"Retry-After just before the abort", []llmtest.Step{busy(abort - 1), fine()}, []time.Duration{0, abort - 1}, false},
		{"Retry-After at the abort", []llmtest.Step{busy(abort), fine()}, once, true},
		{"Retry-After past the abort", []llmtest.Step{busy(time.Hour), fine()}, once, true},
		{"wait past the abort", []llmtest.Step{{After: 29800 * ms, Err: busy(0).Err}, fine()}, once, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := plays(t, tt.steps...)
				r := start(t, alone(m))
				resp, made, err := r.call(abort)
				if (err != nil) != tt.fails || !tt.fails && resp.Text != "yes" {
					t.Errorf("answer = %+v, %v", resp, err)
				}
				if d := cmp.Diff(tt.asked, m.when()); d != "" {
					t.Errorf("asked at (-want +got):\n%s", d)
				}
				if took := r.since(); tt.fails && took != tt.asked[len(tt.asked)-1]+tt.steps[len(tt.asked)-1].After {
					t.Errorf("gave up at %v", took)
				}
				if len(made) != len(tt.asked) {
					t.Errorf("%d attempts listed, want %d", len(made), len(tt.asked))
				}
				r.spent()
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": retries while the abort allows; a turn without one
// goes on.
func TestRetriesWithoutAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := plays(t, busy(time.Hour), fine())
		r := start(t, alone(m))
		if _, _, err := r.turn().Call(context.Background(), question()); err != nil || r.since() != time.Hour {
			t.Errorf("after %v: %v", r.since(), err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": with jitter and Retry-After. What is spread is the
// wait, and never below what the provider asked for.
func TestRetryJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var spread []time.Duration
		m := plays(t, busy(0), busy(0), busy(0), busy(0), busy(0), busy(0), busy(300*ms), fine())
		o := alone(m)
		o.jitter = func(d time.Duration) time.Duration { spread = append(spread, d); return d / 100 }
		r := start(t, o)
		if _, _, err := r.call(abort); err != nil {
			t.Fatal(err)
		}
		want := []time.Duration{300 * ms, 600 * ms, 1200 * ms, 2400 * ms, 4800 * ms, 5 * time.Second, 5 * time.Second}
		if d := cmp.Diff(want, spread); d != "" {
			t.Errorf("spread (-want +got):\n%s", d)
		}
		asked := []time.Duration{0, 3 * ms, 9 * ms, 21 * ms, 45 * ms, 93 * ms, 143 * ms, 443 * ms}
		if d := cmp.Diff(asked, m.when()); d != "" {
			t.Errorf("asked at (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": with jitter.
func TestJitter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "wait"))
		if got := attempt.Jitter(d); got > d || got < d/2 {
			t.Errorf("%v became %v", d, got)
		}
	})
	seen := map[time.Duration]bool{}
	for range 100 {
		seen[attempt.Jitter(time.Hour)] = true
	}
	if len(seen) < 50 {
		t.Errorf("a hundred waits were %d different ones", len(seen))
	}
}

// Holds docs/spec/03-turn.md, "The race": the abort ends whatever a turn is at, and so
// does a turn that is given up. None of it is settled twice, or never.
func TestCallEndsWithItsTurn(t *testing.T) {
	hangs := llmtest.Step{Hang: llmtest.UntilAbort}
	deaf := llmtest.Step{Hang: llmtest.Forever, Response: fine().Response}
	tests := []struct {
		name    string
		step    llmtest.Step
		given   time.Duration // the turn is given up then; negative: before it began
		want    error
		asked   int
		elapsed time.Duration
	}{
		{"hangs until the abort", hangs, time.Hour, context.DeadlineExceeded, 1, abort},
		{"hangs past the abort", deaf, time.Hour, context.DeadlineExceeded, 1, abort},
		{"given up before it began", fine(), -1, context.Canceled, 0, 0},
		{"given up while it is asked", hangs, time.Second, context.Canceled, 1, time.Second},
		{"given up while it is asked and does not heed", deaf, time.Second, context.Canceled, 1, time.Second},
		{"given up in a wait", busy(10 * time.Second), time.Second, nil, 1, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &llmtest.Scripted{Steps: []llmtest.Step{tt.step, fine()}}
				r := start(t, alone(m))
				ctx, cancel := context.WithTimeout(context.Background(), abort)
				defer cancel()
				if tt.given < 0 {
					cancel()
				}
				defer time.AfterFunc(tt.given, cancel).Stop()
				_, made, err := r.turn().Call(ctx, question())
				if took := r.since(); took != tt.elapsed || err == nil || !errors.Is(err, tt.want) && tt.want != nil {
					t.Errorf("after %v: %v", took, err)
				}
				if told := strings.Count(r.log.String(), "trying again"); told > 0 && tt.step.Err == nil {
					t.Errorf("the log tells of %d retries", told)
				}
				if len(made) != tt.asked || len(m.Requests()) != tt.asked {
					t.Errorf("%d attempts listed, %d made, want %d", len(made), len(m.Requests()), tt.asked)
				}
				m.Release()
				r.spent()
			})
		})
	}
}

// Holds docs/spec/03-turn.md, "The race": a turn that is over asks nobody any more, and
// tells nothing of the provider.
func TestTurnThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, fallback := plays(t, fine()), plays(t, fine())
		o := both(first, fallback)
		o.budget = func(attempt.Budget) attempt.Budget { return budget.Unlimited{} }
		r := start(t, o)
		for range 20 {
			turn := r.turn()
			ctx, cancel := context.WithTimeout(context.Background(), -1)
			if _, made, err := turn.Call(ctx, question()); !errors.Is(err, context.DeadlineExceeded) || len(made) != 0 || turn.Model() != "one:a" {
				t.Errorf("with %s: %+v, %v", turn.Model(), made, err)
			}
			cancel()
			time.Sleep(time.Second)
		}
		if _, _, err := r.call(abort); err != nil || first.requests() != 1 || fallback.requests() != 0 {
			t.Errorf("first asked %d times, fallback %d, %v", first.requests(), fallback.requests(), err)
		}
	})
}

// Holds docs/spec/06-contact.md, "Caps": a call waits inside the deadline for a
// settlement. What it waits is not the model's time.
func TestWaitForRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fallback := plays(t, fine())
		o := both(plays(t, llmtest.Step{Hang: llmtest.UntilAbort}), fallback)
		waits := 6 * time.Second
		o.budget = func(b attempt.Budget) attempt.Budget {
			return &turnstile{b, func(budget.Call) error { time.Sleep(waits); waits = 0; return nil }}
		}
		r := start(t, o)
		_, made, err := r.call(abort)
		if err != nil || made[0].Took != 12*time.Second {
			t.Errorf("the first had %v, %v", made[0].Took, err)
		}
		if d := cmp.Diff([]time.Duration{18 * time.Second}, fallback.when()); d != "" {
			t.Errorf("fallback asked at (-want +got):\n%s", d)
		}
	})
}
