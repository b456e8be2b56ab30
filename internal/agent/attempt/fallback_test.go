package attempt_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
	"github.com/manychat-agent/manychat-agent/internal/llm/llmtest"
)

// Holds docs/spec/04-agent.md, "Loop": with a fallback model set, one attempt of the first
// gets at most half of what is left of the abort; then the fallback.
func TestFallback(t *testing.T) {
	late := func(d time.Duration) llmtest.Step { s := fine(); s.After = d; return s }
	deaf := llmtest.Step{Hang: llmtest.Forever, Response: fine().Response}
	const never = -1
	tests := []struct {
		name  string
		first llmtest.Step
		asked time.Duration // when the fallback is; never: it is not
	}{
		{"answered", fine(), never},
		{"answered within the half", late(14999 * ms), never},
		{"rate limited", busy(0), 0},
		{"rate limited, asked to wait", busy(time.Second), 0},
		{"server", fails(llm.KindServer, 503), 0},
		{"network", fails(llm.KindNetwork, 0), 0},
		{"rejected", fails(llm.KindRejected, 400), 0},
		{"unauthorized", fails(llm.KindUnauthorized, 401), 0},
		{"protocol", fails(llm.KindProtocol, 200), 0},
		{"panic", llmtest.Step{Panic: "odd"}, 0},
		{"fails late", llmtest.Step{After: 10 * time.Second, Err: errors.New("odd")}, 10 * time.Second},
		{"too late", late(15001 * ms), 15 * time.Second},
		{"hangs", llmtest.Step{Hang: llmtest.UntilAbort}, 15 * time.Second},
		{"hangs and does not heed", deaf, 15 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Scripted{Steps: []llmtest.Step{tt.first}, Repeat: true}
				first, fallback := &player{start: time.Now(), play: s.Generate}, plays(t, fine())
				r := start(t, both(first, fallback))
				_, made, err := r.call(abort)
				if err != nil {
					t.Error(err)
				}
				var want []time.Duration
				models := []string{"one:a"}
				if tt.asked != never {
					want, models = []time.Duration{tt.asked}, []string{"one:a", "two:b"}
				}
				if d := cmp.Diff(want, fallback.when()); d != "" || first.requests() != 1 {
					t.Errorf("first asked %d times, fallback at (-want +got):\n%s", first.requests(), d)
				}
				var got []string
				for _, m := range made {
					got = append(got, m.Model)
				}
				if d := cmp.Diff(models, got); d != "" {
					t.Errorf("attempts (-want +got):\n%s", d)
				}
				s.Release()
				r.spent()
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": then the fallback, then handoff. The fallback has
// the rest of the abort, retries and all.
func TestFallbackRetries(t *testing.T) {
	tests := []struct {
		name  string
		steps []llmtest.Step
		asked []time.Duration
		took  time.Duration
		fails bool
	}{
		{"and answers", []llmtest.Step{busy(0), busy(time.Second), fine()}, []time.Duration{0, 300 * ms, 1300 * ms}, 1300 * ms, false},
		{"until the abort", []llmtest.Step{{Hang: llmtest.UntilAbort}}, []time.Duration{0}, abort, true},
		{"while the abort allows", []llmtest.Step{busy(20 * time.Second), busy(10 * time.Second)}, []time.Duration{0, 20 * time.Second}, 20 * time.Second, true},
		{"not in vain", []llmtest.Step{fails(llm.KindUnauthorized, 401)}, []time.Duration{0}, 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, fallback := plays(t, down()), plays(t, tt.steps...)
				r := start(t, both(first, fallback))
				_, _, err := r.call(abort)
				if (err != nil) != tt.fails || r.since() != tt.took {
					t.Errorf("after %v: %v", r.since(), err)
				}
				if d := cmp.Diff(tt.asked, fallback.when()); d != "" || first.requests() != 1 {
					t.Errorf("first asked %d times, fallback at (-want +got):\n%s", first.requests(), d)
				}
				r.spent()
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": one attempt of the first gets at most half of what
// is left of the abort. Of a second call less is left.
func TestHalfOfWhatIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fine()
		slow.After = 10 * time.Second
		first, fallback := plays(t, slow, llmtest.Step{Hang: llmtest.UntilAbort}), plays(t, fine())
		r := start(t, both(first, fallback))
		ctx, cancel := context.WithTimeout(context.Background(), abort)
		defer cancel()
		turn := r.turn()
		for range 2 {
			if _, _, err := turn.Call(ctx, question()); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff([]time.Duration{20 * time.Second}, fallback.when()); d != "" {
			t.Errorf("fallback asked at (-want +got):\n%s", d)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": a turn without an abort leaves the first its time.
func TestNoHalfWithoutAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := fine()
		slow.After = time.Hour
		fallback := plays(t, fine())
		r := start(t, both(plays(t, slow), fallback))
		if _, _, err := r.turn().Call(context.Background(), question()); err != nil || fallback.requests() != 0 {
			t.Errorf("fallback asked %d times, %v", fallback.requests(), err)
		}
	})
}

// Holds docs/spec/04-agent.md, "Loop": then AGENT_FALLBACK_MODEL. A turn stays with it,
// and the next one begins with the first again.
func TestTurnStaysWithTheFallback(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, fallback := plays(t, down(), fine()), plays(t, fine(), down())
		r := start(t, both(first, fallback))
		ctx, cancel := context.WithTimeout(context.Background(), abort)
		defer cancel()
		turn := r.turn()
		if turn.Model() != "one:a" {
			t.Errorf("begins with %s", turn.Model())
		}
		for i, fails := range []bool{false, true} {
			if _, _, err := turn.Call(ctx, question()); (err != nil) != fails || turn.Model() != "two:b" {
				t.Errorf("call %d, of %s: %v", i+1, turn.Model(), err)
			}
		}
		next := r.turn()
		if _, made, err := next.Call(ctx, question()); err != nil || next.Model() != "one:a" || len(made) != 1 {
			t.Errorf("next turn, of %s: %+v, %v", next.Model(), made, err)
		}
		if first.requests() != 2 || fallback.requests() != 2 {
			t.Errorf("first asked %d times, fallback %d", first.requests(), fallback.requests())
		}
	})
}

var errNoRoom = errors.New("no room")

// doorman counts calls, and refuses those that a test says.
type doorman struct {
	attempt.Budget
	refuses func(n int) error // n from 1
	calls   []budget.Call
}

func (d *doorman) Reserve(ctx context.Context, call budget.Call) (*budget.Reservation, error) {
	d.calls = append(d.calls, call)
	if err := d.refuses(len(d.calls)); err != nil {
		return nil, err
	}
	return d.Budget.Reserve(ctx, call)
}

// nth refuses one call.
func nth(n int) func(int) error {
	return func(i int) error {
		if i == n {
			return errNoRoom
		}
		return nil
	}
}

// Holds docs/spec/06-contact.md, "Caps": each model call reserves its worst case, at its
// own model's price; one that is not let in is not made, nor is another in its place.
func TestBudgetRefuses(t *testing.T) {
	tests := []struct {
		name            string
		refuses         int // 0: none
		first, fallback int // requests
	}{
		{"none", 0, 1, 2},
		{"the first", 1, 0, 0},
		{"the fallback", 2, 1, 0},
		{"the fallback again", 3, 1, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				first, fallback := plays(t, down()), plays(t, busy(0), fine())
				o, d := both(first, fallback), &doorman{refuses: nth(tt.refuses)}
				o.budget = func(b attempt.Budget) attempt.Budget { d.Budget = b; return d }
				r := start(t, o)
				_, made, err := r.call(abort)
				if refused := tt.refuses > 0; errors.Is(err, attempt.ErrBudget) != refused || errors.Is(err, errNoRoom) != refused {
					t.Errorf("error = %v", err)
				}
				if first.requests() != tt.first || fallback.requests() != tt.fallback || len(made) != tt.first+tt.fallback {
					t.Errorf("first asked %d times, fallback %d; attempts %+v", first.requests(), fallback.requests(), made)
				}
				for i, call := range d.calls {
					model := []string{"one:a", "two:b", "two:b"}[i]
					terms := budget.TermsOf(rules(), model)
					want := budget.Call{Terms: terms, Worst: budget.Worst(question(), terms.Price), By: call.By}
					if diff := cmp.Diff(want, call); diff != "" {
						t.Errorf("call %d (-want +got):\n%s", i+1, diff)
					}
					if by := call.By.Sub(r.start); by != race {
						t.Errorf("call %d waits until %v", i+1, by)
					}
				}
				r.spent()
			})
		})
	}
}

// Holds docs/spec/06-contact.md, "Caps": each model call settles after it; and
// docs/spec/17-quality.md, "Reliability": whatever it came to, and however late.
func TestSpend(t *testing.T) {
	micros := func(in, out int64) int64 { return in + 10*out } // of the first; twice that of the fallback
	worst := budget.Worst(question(), llm.Price{Input: 1e6, Cached: 1e6, Output: 10e6})
	reported := fails(llm.KindServer, 500)
	reported.Response.Usage = llm.Usage{Input: 7}
	usage := llm.Usage{Input: 100, Cached: 40, Output: 10}
	deaf := llmtest.Step{Hang: llmtest.Forever, Response: fine().Response}
	type part struct { // of an attempt
		Model string
		Usage llm.Usage
		Cost  int64
	}
	tests := []struct {
		name  string
		first llmtest.Step
		want  []part
		spent int64 // micro-dollars of the day; 0: what the attempts cost
	}{
		{"answered", fine(), []part{{"one:a", usage, micros(100, 10)}}, 0},
		{"answered without a report", llmtest.Step{Text: "yes"}, []part{{"one:a", llm.Usage{}, worst.Micros}}, 0},
		{"refused", busy(0), []part{{"one:a", llm.Usage{}, 0}, {"two:b", usage, 2 * micros(100, 10)}}, 0},
		{"failed, and reported", reported, []part{{"one:a", llm.Usage{Input: 7}, 7}, {"two:b", usage, 2 * micros(100, 10)}}, 0},
		{"not readable", down(), []part{{"one:a", llm.Usage{}, worst.Micros}, {"two:b", usage, 2 * micros(100, 10)}}, 0},
		{"panic", llmtest.Step{Panic: "odd"}, []part{{"one:a", llm.Usage{}, worst.Micros}, {"two:b", usage, 2 * micros(100, 10)}}, 0},
		{"cut off", llmtest.Step{Hang: llmtest.UntilAbort}, []part{{"one:a", llm.Usage{}, worst.Micros}, {"two:b", usage, 2 * micros(100, 10)}}, 0},
		{"answers when it is too late", deaf, []part{{"one:a", llm.Usage{}, worst.Micros}, {"two:b", usage, 2 * micros(100, 10)}}, 3 * micros(100, 10)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &llmtest.Scripted{Steps: []llmtest.Step{tt.first}}
				r := start(t, both(s, plays(t, fine())))
				_, made, err := r.call(abort)
				if err != nil {
					t.Error(err)
				}
				var got []part
				var cost int64
				for _, m := range made {
					got = append(got, part{m.Model, m.Usage, m.Cost})
					cost += m.Cost
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Errorf("attempts (-want +got):\n%s", d)
				}
				synctest.Wait()
				if tt.spent != 0 && r.ledger.total.Leased.Micros == 0 {
					t.Error("nothing is held for a call that has not returned")
				} else if tt.spent == 0 {
					tt.spent = cost
				}
				s.Release()
				synctest.Wait()
				if spent := r.spent(); spent.Micros != tt.spent {
					t.Errorf("the day was charged %d, want %d", spent.Micros, tt.spent)
				}
			})
		})
	}
}

// Holds docs/spec/04-agent.md, "Loop": each attempt is told of, with what it took.
func TestMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(s llmtest.Step, d time.Duration) llmtest.Step { s.After = d; return s }
		r := start(t, both(plays(t, slow(down(), time.Second)), plays(t, slow(busy(0), 2*time.Second), slow(fine(), 3*time.Second))))
		_, made, _ := r.call(abort)
		var took []time.Duration
		var failed []bool
		for _, m := range made {
			took, failed = append(took, m.Took), append(failed, m.Err != nil)
		}
		if d := cmp.Diff([]time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, took); d != "" {
			t.Errorf("took (-want +got):\n%s", d)
		}
		if d := cmp.Diff([]bool{true, true, false}, failed); d != "" {
			t.Errorf("failed (-want +got):\n%s", d)
		}
	})
}
