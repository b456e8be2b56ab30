package manychat

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// family is a group of endpoints that share one of ManyChat's rate limits.
type family int

const (
	flows  family = iota // sendFlow
	reads                // subscriber reads
	writes               // subscriber writes
)

// perSecond holds ManyChat's rates, the lower figure where its OpenAPI file and its
// help article differ.
var perSecond = [...]rate.Limit{flows: 20, reads: 10, writes: 10}

// limits holds the limiter of each family, and the gate through which calls in the
// background come to it.
type limits struct {
	slots [len(perSecond)]*rate.Limiter
	gates [len(perSecond)]chan struct{}
}

// newLimits gives every family a burst of one, so that no second holds more than
// the rate: going over may get an account refused for a day.
func newLimits(scale float64) *limits {
	var l limits
	for f, r := range perSecond {
		l.slots[f] = rate.NewLimiter(r*rate.Limit(scale), 1)
		l.gates[f] = make(chan struct{}, 1)
	}
	return &l
}

// wait blocks until the family has a slot. It fails at once when the slot would come
// after the deadline of ctx, and takes none then.
func (l *limits) wait(ctx context.Context, f family) error { return l.slots[f].Wait(ctx) }

// waitBehind is wait for a call in the background. Slots are given in the order of asking,
// so whoever asks early is in everybody's way: one call at a time asks, the next as soon as
// it has its slot. Where others fill the queue it asks after two slots' time, which leaves
// the background half the rate.
func (l *limits) waitBehind(ctx context.Context, f family) error {
	gate := l.gates[f]
	select {
	case gate <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	leave := sync.OnceFunc(func() { <-gate })
	defer leave()
	turn := time.Duration(2 * float64(time.Second) / float64(l.slots[f].Limit()))
	defer time.AfterFunc(turn, leave).Stop()
	return l.wait(ctx, f)
}
