package manychat_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// Holds docs/spec/05-delivery.md, "ManyChat client": rate limits as ManyChat states
// them, a family each, scaled by RPSScale; no second holds more.
func TestRateLimits(t *testing.T) {
	flow := func(c *manychat.Client) error { return c.SendFlow(context.Background(), testSubscriber, testFlow) }
	read := func(c *manychat.Client) error { _, err := c.GetInfo(context.Background(), testSubscriber); return err }
	tag := func(c *manychat.Client) error {
		return c.AddTagByName(context.Background(), testSubscriber, "lead")
	}
	field := func(c *manychat.Client) error {
		return c.SetCustomFieldByName(context.Background(), testSubscriber, "visits", 1)
	}
	tests := []struct {
		name  string
		calls []func(*manychat.Client) error // in turn
		scale float64
		gap   time.Duration // between two requests
	}{
		{"flows", []func(*manychat.Client) error{flow}, 1, time.Second / 20},
		{"reads", []func(*manychat.Client) error{read}, 1, time.Second / 10},
		{"writes share a limit", []func(*manychat.Client) error{tag, field}, 1, time.Second / 10},
		{"half", []func(*manychat.Client) error{flow}, 0.5, time.Second / 10},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				const n = 40
				start := time.Now()
				var mu sync.Mutex
				var at []time.Duration
				c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
					mu.Lock()
					defer mu.Unlock()
					at = append(at, time.Since(start))
					return aContact(r)
				}), func(cfg *manychat.ClientConfig) { cfg.RPSScale = tt.scale })
				var wg sync.WaitGroup
				for i := range n {
					wg.Go(func() {
						if err := tt.calls[i%len(tt.calls)](c); err != nil {
							t.Error(err)
						}
					})
				}
				wg.Wait()
				for i, got := range at {
					if want := time.Duration(i) * tt.gap; (got - want).Abs() > time.Microsecond {
						t.Errorf("request %d went out after %v, want %v", i, got, want)
					}
				}
			})
		})
	}
}

// The families do not wait for each other.
func TestFamiliesAreApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, transport(aContact))
		start := time.Now()
		err := errors.Join(
			c.SetCustomFieldByName(t.Context(), testSubscriber, "ai_message", "hello"),
			c.SendFlow(t.Context(), testSubscriber, testFlow),
		)
		_, readErr := c.GetInfo(t.Context(), testSubscriber)
		if err := errors.Join(err, readErr); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("one call of each family took %v", took)
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": a call's timeout includes its wait
// for a slot. A slot that would come too late is refused at once and not used up.
func TestNoSlotInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		c := newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			requests++
			return answering(200, `{"status":"success"}`, nil)(r)
		}), func(cfg *manychat.ClientConfig) { cfg.RPSScale, cfg.Timeout = 0.1, 500*time.Millisecond })
		tag := func() error { return c.AddTagByName(t.Context(), testSubscriber, "lead") }
		if err := tag(); err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		for range 3 {
			err := tag()
			e := asError(t, err)
			if e.Kind != manychat.KindTimeout || !e.Retryable() || e.OutcomeUnknown() || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error is %#v", e)
			}
		}
		if took := time.Since(start); took != 0 || requests != 1 {
			t.Errorf("refused after %v and %d requests, want at once and 1", took, requests)
		}
		<-time.After(600 * time.Millisecond)
		if err := tag(); err != nil {
			t.Errorf("a slot less than the timeout away: %v", err)
		}
		if took := time.Since(start); took != time.Second || requests != 2 {
			t.Errorf("second request after %v, want 1s", took)
		}
	})
}
