package manychat

import (
	"context"
	"time"

	"github.com/manychat-agent/manychat-agent/manychat/internal/slots"
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
var perSecond = [...]float64{flows: 20, reads: 10, writes: 10}

// limitNames are what the limits are called where processes share them.
var limitNames = [...]string{flows: "flows", reads: "reads", writes: "writes"}

// Class says what a call is for, and so which calls it goes before where a rate limit makes
// several wait; see [Client.For].
type Class int

// The classes, the most urgent first.
const (
	InTurn  Class = iota // a contact waits for the answer that waits for the call
	Replies              // delivers a text that is late already
	Tokens               // writes what the contact is known by from now on
	Actions              // follows a text that was delivered; nobody waits
	Reads                // reads contacts beside all of that
)

// Lease takes a stretch of one of the account's rate limits for one process: from the
// instant that it returns, for as long as length, nobody else makes calls of that limit. The
// stretches of all processes follow each other without overlap, and none begins in the past.
// limit is "flows", "reads" or "writes"; ctx ends after a few seconds. It is called for one
// stretch of a limit at a time, as long as calls wait.
//
// The instant is one of [ClientConfig].Now: processes whose clocks differ exceed the rate
// by what their clocks differ.
type Lease func(ctx context.Context, limit string, length time.Duration) (from time.Time, err error)

// limits holds the limiter of each family.
type limits [len(perSecond)]*slots.Limiter

func newLimits(cfg ClientConfig) *limits {
	var l limits
	for f, r := range perSecond {
		s := slots.Config{PerSecond: r * cfg.RPSScale, Classes: int(Reads) + 1, Now: cfg.Now}
		if cfg.Lease != nil {
			s.Lease = func(ctx context.Context, length time.Duration) (time.Time, error) {
				return cfg.Lease(ctx, limitNames[f], length)
			}
		}
		l[f] = slots.New(s)
	}
	return &l
}
