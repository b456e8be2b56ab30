package manychat_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/manychat"
)

// rates is what the processes of a deployment share: until when each limit is used up.
type rates struct {
	mu    sync.Mutex
	used  map[string]time.Time
	takes time.Duration // until it decides
	sends time.Duration // until its answer is known then
	fails error
}

func (r *rates) lease(ctx context.Context, limit string, length time.Duration) (time.Time, error) {
	select {
	case <-time.After(r.takes):
	case <-ctx.Done():
		return time.Time{}, ctx.Err()
	}
	defer time.Sleep(r.sends)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fails != nil {
		return time.Time{}, r.fails
	}
	from := time.Now()
	if u := r.used[limit]; u.After(from) {
		from = u
	}
	r.used[limit] = from.Add(length)
	return from, nil
}

// deployment is some processes on one account, and when their requests went out.
type deployment struct {
	rates     *rates
	processes []*manychat.Client
	start     time.Time
	mu        sync.Mutex
	at        []time.Duration
}

func deploy(t *testing.T, n int, change ...func(*manychat.ClientConfig)) *deployment {
	t.Helper()
	d := &deployment{rates: &rates{used: map[string]time.Time{}}, start: time.Now()}
	for range n {
		d.processes = append(d.processes, newClient(t, transport(func(r *http.Request) (*http.Response, error) {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.at = append(d.at, time.Since(d.start))
			return answering(200, `{"status":"success"}`, nil)(r)
		}), append([]func(*manychat.ClientConfig){func(cfg *manychat.ClientConfig) {
			cfg.Timeout, cfg.Lease = time.Hour, d.rates.lease
		}}, change...)...))
	}
	return d
}

// Holds docs/spec/05-delivery.md, "ManyChat client": the limits hold for the whole
// deployment. Whatever the processes call and when, and however slow the database, no span of
// time holds more requests than its length allows, and one.
func TestProcessesShareTheRate(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(rt, "processes")
		takes := time.Duration(rapid.IntRange(0, 150).Draw(rt, "milliseconds that the database takes")) * time.Millisecond
		sends := time.Duration(rapid.IntRange(0, 400).Draw(rt, "milliseconds until its answer is known")) * time.Millisecond
		type burst struct{ Process, After, Calls int }
		bursts := rapid.SliceOfN(rapid.Custom(func(rt *rapid.T) burst {
			return burst{rapid.IntRange(0, n-1).Draw(rt, "process"), rapid.IntRange(0, 3000).Draw(rt, "after"), rapid.IntRange(1, 25).Draw(rt, "calls")}
		}), 1, 12).Draw(rt, "bursts")
		synctest.Test(t, func(t *testing.T) {
			d := deploy(t, n)
			d.rates.takes, d.rates.sends = takes, sends
			var wg sync.WaitGroup
			want := 0
			for _, b := range bursts {
				want += b.Calls
				for range b.Calls {
					wg.Go(func() {
						<-time.After(time.Duration(b.After) * time.Millisecond)
						if err := d.processes[b.Process].AddTagByName(t.Context(), testSubscriber, "lead"); err != nil {
							rt.Error(err)
						}
					})
				}
			}
			wg.Wait()
			if len(d.at) != want {
				rt.Errorf("%d requests, want %d", len(d.at), want)
			}
			const every = time.Second / 10
			slices.Sort(d.at)
			for i := range d.at {
				for j := i + 1; j < len(d.at); j++ {
					if span := d.at[j] - d.at[i]; time.Duration(j-i) > span/every+1 {
						rt.Fatalf("%d requests within %v: %v", j-i+1, span, d.at)
					}
				}
			}
		})
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": a process that calls alone has the whole
// rate, and several have it together.
func TestSharedRateIsUsed(t *testing.T) {
	const seconds = 20
	for _, tt := range []struct {
		name  string
		busy  int
		takes time.Duration
		sends time.Duration
		least int
	}{
		{"alone", 1, 0, 0, seconds * 10},
		{"alone, with a database that takes a while", 1, 50 * time.Millisecond, 10 * time.Millisecond, seconds*10 - 1},
		{"alone, with a slow database", 1, 50 * time.Millisecond, 150 * time.Millisecond, seconds * 6},
		{"three", 3, 20 * time.Millisecond, 20 * time.Millisecond, seconds*10 - 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := deploy(t, 3)
				d.rates.takes, d.rates.sends = tt.takes, tt.sends
				ctx, cancel := context.WithTimeout(t.Context(), seconds*time.Second)
				defer cancel()
				var wg sync.WaitGroup
				for _, c := range d.processes[:tt.busy] {
					for range 20 {
						wg.Go(func() {
							for c.AddTagByName(ctx, testSubscriber, "lead") == nil {
								<-time.After(time.Millisecond)
							}
						})
					}
				}
				wg.Wait()
				if len(d.at) < tt.least || len(d.at) > seconds*10+1 {
					t.Errorf("%d requests in %d s, want %d", len(d.at), seconds, tt.least)
				}
			})
		})
	}
}

// Holds docs/spec/05-delivery.md, "ManyChat client": a call inside a turn waits for little of
// what other processes have queued.
func TestTurnBehindAnotherProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, 2)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 400 {
			wg.Go(func() { _ = d.processes[0].For(manychat.Actions).AddTagByName(ctx, testSubscriber, "lead") })
		}
		for range 10 {
			<-time.After(730 * time.Millisecond)
			begun := time.Now()
			if err := d.processes[1].AddTagByName(ctx, testSubscriber, "lead"); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(begun); took > 400*time.Millisecond {
				t.Errorf("took %v", took)
			}
		}
		cancel()
		wg.Wait()
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": while the database does not answer
// nothing goes out, a call says at the end of its time why, and it goes on by itself
// afterwards.
func TestRateThatCannotBeLeased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, 1)
		d.rates.fails = errors.New("the disk is full")
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		err := d.processes[0].AddTagByName(ctx, testSubscriber, "lead")
		e := asError(t, err)
		if e.Kind != manychat.KindTimeout || e.OutcomeUnknown() || !e.Retryable() || !strings.Contains(e.Message, "the rate that the processes share could not be asked for: the disk is full") {
			t.Errorf("error is %#v", e)
		}
		if took := time.Since(d.start); took != 10*time.Second || len(d.at) != 0 {
			t.Errorf("%d requests in %v", len(d.at), took)
		}
		go func() {
			<-time.After(3 * time.Second)
			d.rates.mu.Lock()
			defer d.rates.mu.Unlock()
			d.rates.fails = nil
		}()
		if err := d.processes[0].AddTagByName(t.Context(), testSubscriber, "lead"); err != nil {
			t.Error(err)
		}
		if took := time.Since(d.start); took > 13*time.Second+300*time.Millisecond {
			t.Errorf("went out after %v", took)
		}
	})
}

// Holds docs/spec/05-delivery.md, "ManyChat client": MANYCHAT_RPS_SCALE scales the shared
// rate as well.
func TestSharedRateIsScaled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := deploy(t, 2, func(cfg *manychat.ClientConfig) { cfg.RPSScale = 0.5 })
		var wg sync.WaitGroup
		for i := range 20 {
			wg.Go(func() {
				if err := d.processes[i%2].SendFlow(t.Context(), testSubscriber, testFlow); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var want []string
		for i := range 20 {
			want = append(want, (time.Duration(i) * time.Second / 10).String())
		}
		if got, want := fmt.Sprint(d.at), fmt.Sprint(want); got != want {
			t.Errorf("requests at %s, want %s", got, want)
		}
	})
}
