package gate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/manychat-agent/manychat-agent/internal/inbound/gate"
)

// Holds docs/spec/02-inbound.md, "Order of checks": 300 a minute, all of them at once if
// need be, and as many again a minute later.
func TestRefill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate(t, func(c *gate.Config) { c.Now = time.Now })
		ask := func() gate.Verdict { return g.Admit(from("192.0.2.1:5000")) }
		untilRefused := func() (allowed int, wait int) {
			for {
				v := ask()
				if v.Status != 401 {
					return allowed, v.RetryAfter
				}
				allowed++
			}
		}
		for _, step := range []struct {
			after   time.Duration
			allowed int
		}{
			{0, 300}, {0, 0}, {199 * time.Millisecond, 0}, {time.Millisecond, 1}, {time.Second, 5}, {30 * time.Second, 150},
			{time.Minute, 300}, {time.Hour, 300}, {59 * time.Second, 295},
		} {
			time.Sleep(step.after)
			if allowed, wait := untilRefused(); allowed != step.allowed || wait != 1 {
				t.Errorf("%v later %d were allowed and then Retry-After %d, want %d and 1", step.after, allowed, wait, step.allowed)
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks": Retry-After is true.
func TestRetryAfter(t *testing.T) {
	for name, perMinute := range map[string]int{"one a minute": 1, "seven": 7, "the usual": 300, "many": 60_000} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newGate(t, func(c *gate.Config) { c.PerMinute, c.Now = perMinute, time.Now })
				ask := func() gate.Verdict { return g.Admit(from("192.0.2.1:5000")) }
				v := ask()
				for ; v.Status == 401; v = ask() {
				}
				for second := v.RetryAfter; second > 0; second-- {
					if v := ask(); v.Status != 429 || v.RetryAfter != second {
						t.Errorf("%d s before its time the verdict is %+v", second, v)
					}
					time.Sleep(time.Second)
				}
				if v := ask(); v.Status != 401 {
					t.Errorf("in its time the verdict is %+v", v)
				}
			})
		})
	}
}

// A clock that was set back keeps nobody out for longer than a minute.
func TestClockSetBack(t *testing.T) {
	c := noon()
	g := newGate(t, func(cfg *gate.Config) { cfg.PerMinute, cfg.Now = 1, c.now })
	g.Admit(from("192.0.2.1:5000"))
	c.at = c.at.Add(-time.Hour)
	if v := g.Admit(from("192.0.2.1:5000")); v.Status != 429 || v.RetryAfter != 60 {
		t.Errorf("verdict is %+v, want Retry-After of 60 s", v)
	}
}

// gaps are the times between requests of so many a minute: bursts, just too fast, about
// the rate, and long silences.
func gaps(perMinute int) *rapid.Generator[time.Duration] {
	return rapid.OneOf(
		rapid.Just(time.Duration(0)),
		rapid.Just((time.Minute-1)/time.Duration(perMinute)),
		rapid.Map(rapid.Int64Range(0, int64(3*time.Second)), func(n int64) time.Duration { return time.Duration(n) }),
		rapid.Map(rapid.IntRange(0, 150), func(n int) time.Duration { return time.Duration(n) * time.Second }),
	)
}

// Holds docs/spec/02-inbound.md, "Order of checks": in no span of time are more allowed
// than the budget and what has come back in it; and what is refused had to be.
func TestNeverMoreThanTheBudget(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 40).Draw(t, "a minute")
		c := noon()
		g, err := gate.New(gate.Config{Secrets: []string{secret}, PerMinute: perMinute, Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		var allowed []time.Time
		// limit is how many may be allowed from one instant to another.
		limit := func(from, to time.Time) int {
			return perMinute + int(to.Sub(from)*time.Duration(perMinute)/time.Minute)
		}
		atOnce := rapid.SampledFrom([]int{0, perMinute}).Draw(t, "at once")
		for n := range atOnce + rapid.IntRange(1, 200).Draw(t, "requests") {
			if n >= atOnce {
				c.at = c.at.Add(gaps(perMinute).Draw(t, "gap"))
			}
			if g.Admit(from("192.0.2.1:5000")).Status == 401 {
				allowed = append(allowed, c.at)
				for i, first := range allowed {
					if n := len(allowed) - i; n > limit(first, c.at) {
						t.Fatalf("%d requests were allowed within %v", n, c.at.Sub(first))
					}
				}
				continue
			}
			// One more was too many. A request comes back a nanosecond late, by rounding, and
			// the last of a minute's as many as there are.
			before, forced := c.at.Add(-time.Duration(perMinute)), false
			for i, first := range allowed {
				forced = forced || len(allowed)-i+1 > limit(first, before)
			}
			if !forced {
				t.Fatalf("refused after %d allowed requests, though no span of time was full", len(allowed))
			}
		}
	})
}

// Holds docs/spec/02-inbound.md, "Order of checks": no address notices another.
func TestNoAddressNoticesAnother(t *testing.T) {
	peers := []string{"192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8:0:1::1]:1", "pipe"}
	rapid.Check(t, func(t *rapid.T) {
		perMinute := rapid.IntRange(1, 5).Draw(t, "a minute")
		c := noon()
		build := func() *gate.Gate {
			g, err := gate.New(gate.Config{Secrets: []string{secret}, PerMinute: perMinute, Now: c.now})
			if err != nil {
				t.Fatal(err)
			}
			return g
		}
		shared, alone := build(), map[string]*gate.Gate{}
		for _, peer := range peers {
			alone[peer] = build()
		}
		for range rapid.IntRange(1, 100).Draw(t, "requests") {
			c.at = c.at.Add(gaps(perMinute).Draw(t, "gap"))
			peer := rapid.SampledFrom(peers).Draw(t, "peer")
			if diff := cmp.Diff(alone[peer].Admit(from(peer)), shared.Admit(from(peer))); diff != "" {
				t.Fatalf("%s: verdict alone and beside others (-alone +beside):\n%s", peer, diff)
			}
		}
	})
}
