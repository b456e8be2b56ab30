package manychat_test

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// traffic is what goes out for an account, and when. Who sent it is read off the tag.
type traffic struct {
	t     *testing.T
	start time.Time
	mu    sync.Mutex
	at    []time.Duration
	sent  map[string]int
}

// withTraffic runs a test in a bubble with a client that is watched.
func withTraffic(t *testing.T, test func(*traffic, *manychat.Client)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tr := &traffic{t: t, start: time.Now(), sent: map[string]int{}}
		test(tr, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.at = append(tr.at, time.Since(tr.start))
			return answering(200, `{"status":"success"}`, nil)(r)
		}), func(cfg *manychat.ClientConfig) { cfg.Timeout = time.Hour }))
	})
}

// keeps has n callers each tag a contact again and again until ctx ends.
func (tr *traffic) keeps(ctx context.Context, wg *sync.WaitGroup, n int, c *manychat.Client, who string) {
	for range n {
		wg.Go(func() {
			for c.AddTagByName(ctx, testSubscriber, "lead") == nil {
				tr.mu.Lock()
				tr.sent[who]++
				tr.mu.Unlock()
			}
		})
	}
}

// classes are all there are, the most urgent first.
var classes = []manychat.Class{manychat.InTurn, manychat.Replies, manychat.Tokens, manychat.Actions, manychat.Reads}

// Holds docs/spec/05-delivery.md, "ManyChat client": a call inside a turn waits for one other
// call at most, however many of every other class are queued; so does one of any class that
// comes alone, when only what nobody waits for is queued.
func TestUrgentCallsGoFirst(t *testing.T) {
	tests := []struct {
		name   string
		queued []manychat.Class
		alone  manychat.Class
	}{
		{"inside a turn, behind all others", classes[1:], manychat.InTurn},
		{"a reply behind actions", []manychat.Class{manychat.Actions}, manychat.Replies},
		{"a token behind actions and reads", []manychat.Class{manychat.Actions, manychat.Reads}, manychat.Tokens},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withTraffic(t, func(tr *traffic, c *manychat.Client) {
				ctx, cancel := context.WithCancel(tr.t.Context())
				var wg sync.WaitGroup
				for _, class := range tt.queued {
					for range 400 {
						wg.Go(func() { _ = c.For(class).AddTagByName(ctx, testSubscriber, "lead") })
						wg.Go(func() { _ = c.For(class).SendFlow(ctx, testSubscriber, testFlow) })
					}
				}
				for range 20 {
					<-time.After(330 * time.Millisecond)
					begun := time.Now()
					if err := c.For(tt.alone).SetCustomFieldByName(ctx, testSubscriber, "ai_message", "hello"); err != nil {
						t.Fatal(err)
					}
					if took := time.Since(begun); took > 200*time.Millisecond {
						t.Errorf("a write took %v", took)
					}
					begun = time.Now()
					if err := c.For(tt.alone).SendFlow(ctx, testSubscriber, testFlow); err != nil {
						t.Fatal(err)
					}
					if took := time.Since(begun); took > 100*time.Millisecond {
						t.Errorf("a flow took %v", took)
					}
				}
				cancel()
				wg.Wait()
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": together the classes keep to the rate and
// use it, whatever calls there are of each; each has a tenth at least, and what is left goes to
// the most urgent.
func TestSharesOfClasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		callers := rapid.SliceOfN(rapid.SampledFrom([]int{0, 0, 1, 2, 12, 60}), len(classes), len(classes)).Draw(rt, "callers of each class")
		const seconds, rate = 40, 10
		withTraffic(t, func(tr *traffic, c *manychat.Client) {
			ctx, cancel := context.WithTimeout(tr.t.Context(), seconds*time.Second)
			defer cancel()
			var wg sync.WaitGroup
			for i, class := range classes {
				tr.keeps(ctx, &wg, callers[i], c.For(class), fmt.Sprint(class))
			}
			wg.Wait()
			most, all := -1, 0
			for i, class := range classes {
				got := tr.sent[fmt.Sprint(class)]
				all += got
				if most < 0 && callers[i] > 0 {
					most = i
				}
				if callers[i] > 0 && got < seconds*rate/10-1 {
					rt.Errorf("class %v: %d calls in %d s, want a tenth at least", class, got, seconds)
				}
			}
			if all > 0 && all < seconds*rate-1 {
				rt.Errorf("%d calls in %d s, want %d", all, seconds, seconds*rate)
			}
			if most >= 0 {
				if got, want := tr.sent[fmt.Sprint(classes[most])], seconds*rate*4/10; got < want {
					rt.Errorf("the most urgent class has %d calls, want %d at least", got, want)
				}
			}
			for i := 1; i < len(tr.at); i++ {
				if between := tr.at[i] - tr.at[i-1]; between < time.Second/rate-time.Microsecond {
					rt.Fatalf("call %d went out %v behind the one before", i, between)
				}
			}
		})
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": a call's timeout includes its wait for a
// slot; nothing was sent then, and others do not wait for it.
func TestCallThatGivesUp(t *testing.T) {
	withTraffic(t, func(tr *traffic, c *manychat.Client) {
		var wg sync.WaitGroup
		late := 0
		for range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(tr.t.Context(), 2*time.Second)
				defer cancel()
				err := c.For(manychat.Actions).AddTagByName(ctx, testSubscriber, "lead")
				if err == nil {
					return
				}
				if e := asError(t, err); e.Kind != manychat.KindTimeout || e.OutcomeUnknown() || !e.Retryable() {
					t.Errorf("error is %#v", e)
				}
				tr.mu.Lock()
				late++
				tr.mu.Unlock()
			})
		}
		wg.Wait()
		if late < 79 || late+len(tr.at) != 100 {
			t.Errorf("%d calls gave up and %d went out", late, len(tr.at))
		}
		begun := time.Now()
		if err := c.For(manychat.Actions).AddTagByName(tr.t.Context(), testSubscriber, "lead"); err != nil || time.Since(begun) > 200*time.Millisecond {
			t.Errorf("afterwards a call took %v, %v", time.Since(begun), err)
		}
	})
}
