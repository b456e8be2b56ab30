package manychat_test

import (
	"context"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

// Holds docs/spec/05-delivery.md, "ManyChat client": a reply's write and a flow inside a turn
// do not wait for what is queued in the background.
func TestBackgroundGivesWay(t *testing.T) {
	withTraffic(t, func(tr *traffic, c *manychat.Client) {
		ctx, cancel := context.WithCancel(tr.t.Context())
		var wg sync.WaitGroup
		for range 800 {
			wg.Go(func() { _ = c.Background().AddTagByName(ctx, testSubscriber, "lead") })
			wg.Go(func() { _ = c.Background().SendFlow(ctx, testSubscriber, testFlow) })
		}
		for range 20 {
			<-time.After(330 * time.Millisecond)
			begun := time.Now()
			if err := c.SetCustomFieldByName(ctx, testSubscriber, "ai_message", "hello"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 200*time.Millisecond {
				t.Errorf("behind 800 queued actions a write took %v", took)
			}
			begun = time.Now()
			if err := c.SendFlow(ctx, testSubscriber, testFlow); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 100*time.Millisecond {
				t.Errorf("behind 800 queued flows a flow took %v", took)
			}
		}
		cancel()
		wg.Wait()
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": either class may use what the other
// leaves, together they keep to the rate, and neither starves the other.
func TestShareOfTheBackground(t *testing.T) {
	const seconds, rate = 60, 10
	tests := []struct {
		name               string
		urgent, background int // callers that always have a call under way
		atLeast            map[string]int
	}{
		{"urgent calls alone", 36, 0, map[string]int{"urgent": seconds*rate - 1}},
		{"background alone", 0, 36, map[string]int{"background": seconds*rate - 1}},
		{"few urgent calls", 1, 800, map[string]int{"urgent": seconds * rate * 2 / 5, "background": seconds * rate * 2 / 5}},
		{"many of both", 36, 800, map[string]int{"urgent": seconds * rate * 2 / 5, "background": seconds * rate * 2 / 5}},
		{"much more urgent", 400, 1, map[string]int{"urgent": seconds * rate / 2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			withTraffic(t, func(tr *traffic, c *manychat.Client) {
				ctx, cancel := context.WithTimeout(tr.t.Context(), seconds*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				tr.keeps(ctx, &wg, tt.urgent, c, "urgent")
				tr.keeps(ctx, &wg, tt.background, c.Background(), "background")
				wg.Wait()
				for who, want := range tt.atLeast {
					if tr.sent[who] < want {
						t.Errorf("%s: %d calls in %d s, want %d at least", who, tr.sent[who], seconds, want)
					}
				}
				for i := 1; i < len(tr.at); i++ {
					if between := tr.at[i] - tr.at[i-1]; between < time.Second/rate-time.Microsecond {
						t.Fatalf("call %d went out %v behind the one before", i, between)
					}
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": a call's timeout includes its wait for a
// slot, in the background too; nothing was sent then, and others do not wait for it.
func TestBackgroundThatGivesUp(t *testing.T) {
	withTraffic(t, func(tr *traffic, c *manychat.Client) {
		var wg sync.WaitGroup
		late := 0
		for range 100 {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(tr.t.Context(), 2*time.Second)
				defer cancel()
				err := c.Background().AddTagByName(ctx, testSubscriber, "lead")
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
		if err := c.Background().AddTagByName(tr.t.Context(), testSubscriber, "lead"); err != nil || time.Since(begun) > 200*time.Millisecond {
			t.Errorf("afterwards a call took %v, %v", time.Since(begun), err)
		}
	})
}
