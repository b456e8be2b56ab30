package attempt_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/agent/attempt"
	"github.com/manychat-agent/manychat-agent/internal/budget"
	"github.com/manychat-agent/manychat-agent/internal/llm"
)

// Holds docs/spec/04-agent.md, "Loop" and "Models", and docs/spec/06-contact.md, "Caps":
// whatever becomes of whatever attempt, turns that go on at once try the models in the
// order, at the times and as often as the rules say, none of them past its abort, and all
// that was reserved is settled.
func TestRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		models := [][]string{{"one:a"}, {"one:a", "two:b"}, {"one:a", "one:b"}}[rapid.IntRange(0, 2).Draw(rt, "models")]
		stories := drawStories(rt)
		var got []account
		synctest.Test(t, func(t *testing.T) { got = perform(t, models, stories) })
		if d := cmp.Diff(newReference(models, stories).play(), got); d != "" {
			rt.Errorf("turns (-reference +made):\n%s", d)
		}
	})
}

// drawStories draws turns of which no two things happen at the same time: each has a
// thousand nanoseconds to itself, of which each of its attempts takes 13; it is given up at
// the fifth.
func drawStories(t *rapid.T) []story {
	some := rapid.SliceOfNDistinct(rapid.SampledFrom(kinds), 1, 5, rapid.ID[string]).Draw(t, "kinds")
	millis := func(from, to int) *rapid.Generator[time.Duration] {
		return rapid.Custom(func(t *rapid.T) time.Duration { return time.Duration(rapid.IntRange(from, to).Draw(t, "ms")) * ms })
	}
	happenings := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) happening {
		return happening{
			Kind:  rapid.SampledFrom(some).Draw(t, "kind"),
			After: rapid.OneOf(millis(0, 500), millis(0, 20_000)).Draw(t, "after") + 13,
			Asks:  rapid.SampledFrom([]time.Duration{0, 0, 100 * ms, 2 * time.Second, 10 * time.Second}).Draw(t, "asks"),
		}
	}), 1, 6)
	turns := rapid.SampledFrom([]int{1, 5, 20, 60}).Draw(t, "turns at once")
	stories := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) story {
		s := story{
			Start: millis(0, 120_000).Draw(t, "start"), Abort: millis(1_000, 40_000).Draw(t, "abort"),
			Calls: rapid.IntRange(1, 3).Draw(t, "calls"), Happenings: happenings.Draw(t, "happenings"),
		}
		if rapid.IntRange(0, 4).Draw(t, "quits") == 0 {
			s.Quits = millis(1, int(s.Abort/ms)-1).Draw(t, "after") + 5
		}
		return s
	}), turns, turns).Draw(t, "turns")
	for i := range stories {
		stories[i].Start += time.Duration(i+1) * 1009
	}
	return stories
}

// acting is a turn that is performed; its context carries it.
type acting struct {
	story
	tried  atomic.Int32
	begins []asked
}

type actingKey struct{}

func actor(ctx context.Context) *acting { return ctx.Value(actingKey{}).(*acting) }

// stage is models and a budget that follow the stories.
type stage struct {
	attempt.Budget
	start time.Time
	over  chan struct{} // releases who is deaf
}

func (s *stage) Reserve(ctx context.Context, call budget.Call) (*budget.Reservation, error) {
	a := actor(ctx)
	if a.happening(int(a.tried.Add(1))-1).Kind == "no room" {
		return nil, errNoRoom
	}
	a.begins = append(a.begins, asked{Model: call.Terms.Model, At: time.Since(s.start)})
	return s.Budget.Reserve(ctx, call)
}

func (s *stage) Generate(ctx context.Context, _ llm.Request) (llm.Response, error) {
	a := actor(ctx)
	h := a.happening(int(a.tried.Load()) - 1)
	after := time.After(h.After)
	switch h.Kind {
	case "deaf":
		<-s.over
		return llm.Response{Usage: llm.Usage{Input: 5}}, nil
	case "hangs":
		after = nil
	}
	select {
	case <-ctx.Done():
		return llm.Response{}, &llm.Error{Kind: llm.KindNetwork, Err: ctx.Err()}
	case <-after:
	}
	switch h.Kind {
	case "answers":
		return llm.Response{Text: "yes", Usage: llm.Usage{Input: 10, Output: 1}}, nil
	case "busy":
		return llm.Response{}, &llm.Error{Kind: llm.KindRateLimited, RetryAfter: h.Asks}
	case "server":
		return llm.Response{}, &llm.Error{Kind: llm.KindServer, RetryAfter: h.Asks}
	case "rejected":
		return llm.Response{}, &llm.Error{Kind: llm.KindRejected}
	case "no schema":
		return llm.Response{}, &llm.Error{Kind: llm.KindRejected, Unsupported: llm.Schema}
	case "panics":
		panic("odd")
	}
	return llm.Response{}, &llm.Error{Kind: llm.KindProtocol}
}

// perform makes the calls of the stories, and accounts for them.
func perform(t *testing.T, names []string, stories []story) []account {
	s := &stage{start: time.Now(), over: make(chan struct{})}
	o := options{budget: func(b attempt.Budget) attempt.Budget { s.Budget = b; return s }}
	for _, name := range names {
		o.models = append(o.models, attempt.Model{Name: name, Model: s})
	}
	r := start(t, o)
	accounts := make([]account, len(stories))
	costs := make([]int64, len(stories))
	var turns sync.WaitGroup
	for i, story := range stories {
		turns.Go(func() { accounts[i], costs[i] = s.act(t, r, story) })
	}
	turns.Wait()
	close(s.over)
	spent, deaf := r.spent(), false
	for i, story := range stories {
		spent.Micros -= costs[i]
		deaf = deaf || slices.ContainsFunc(story.Happenings, func(h happening) bool { return h.Kind == "deaf" })
	}
	if spent.Micros != 0 && !deaf || spent.Micros > 0 {
		t.Errorf("the day was charged %d more than the attempts", spent.Micros)
	}
	return accounts
}

func (s *stage) act(t *testing.T, r *rig, story story) (got account, cost int64) {
	time.Sleep(story.Start)
	a := &acting{story: story}
	ctx, cancel := context.WithTimeout(context.WithValue(context.Background(), actingKey{}, a), story.Abort)
	defer cancel()
	if story.Quits > 0 {
		defer time.AfterFunc(story.Quits, cancel).Stop()
	}
	req := question()
	req.Schema = []byte(`{}`)
	turn := r.turn()
	for range story.Calls {
		_, made, err := turn.Call(ctx, req)
		got.Ended = append(got.Ended, ended{time.Since(s.start), why(ctx, err)})
		for _, m := range made {
			n := len(got.Asked)
			if n == len(a.begins) || a.begins[n].Model != m.Model {
				t.Errorf("listed %+v as attempt %d of %+v", m, n+1, a.begins)
				return got, cost
			}
			got.Asked = append(got.Asked, asked{m.Model, a.begins[n].At, m.Took})
			cost += m.Cost
		}
		if err != nil {
			break
		}
	}
	if len(got.Asked) != len(a.begins) {
		t.Errorf("%d attempts made, %d listed", len(a.begins), len(got.Asked))
	}
	return got, cost
}

func why(ctx context.Context, err error) string {
	switch {
	case err == nil:
		return ""
	case ctx.Err() != nil:
		return "over"
	case errors.Is(err, attempt.ErrBudget):
		return "budget"
	case refused(err) != nil:
		return "open"
	}
	return "failed"
}
