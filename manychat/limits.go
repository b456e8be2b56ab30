package manychat

import (
	"context"

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

// limits holds one limiter for each family.
type limits [len(perSecond)]*rate.Limiter

// newLimits gives every family a burst of one, so that no second holds more than
// the rate: going over may get an account refused for a day.
func newLimits(scale float64) *limits {
	var l limits
	for f, r := range perSecond {
		l[f] = rate.NewLimiter(r*rate.Limit(scale), 1)
	}
	return &l
}

// wait blocks until the family has a slot. It fails at once when the slot would come
// after the deadline of ctx, and takes none then.
func (l *limits) wait(ctx context.Context, f family) error { return l[f].Wait(ctx) }
