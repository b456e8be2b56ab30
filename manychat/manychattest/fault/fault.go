// Package fault says what goes wrong in the ManyChat emulator, and when.
//
// Faults are plain JSON, so a page can post them and a test can keep them in a
// file. Each one may be narrowed to a path, a contact, the next few calls, or a
// probability. The dice are seeded and thrown per contact and path, so that a seed
// gives the same faults however the calls of different contacts interleave.
package fault

import (
	"fmt"
	"slices"
)

// Kind is what goes wrong.
type Kind string

// Faults of the public API. "Done" means that the emulator does what was asked.
const (
	Latency         Kind = "latency"           // done and answered DelayMS later
	SlowSuccess     Kind = "slow_success"      // done at once, answered after DelayMS (21 s when 0)
	Timeout         Kind = "timeout"           // not done, never answered
	RateLimited     Kind = "rate_limited"      // not done, 429
	ServerError     Kind = "server_error"      // not done, 500 as JSON
	ServerErrorHTML Kind = "server_error_html" // not done, 502 as a web page
	Dropped         Kind = "dropped"           // not done, the connection breaks
	LostAnswer      Kind = "lost_answer"       // done, the connection breaks
	RefusedKey      Kind = "refused_key"       // not done, 401 as if the API key was replaced
	OKWithError     Kind = "ok_with_error"     // not done, 200 with an error status
	SilentSuccess   Kind = "silent_success"    // not done, answered as a success
	FalseMissing    Kind = "false_missing"     // done, answered "Subscriber does not exist"
	MissingField    Kind = "missing_field"     // the custom field Name was renamed
	MissingFlow     Kind = "missing_flow"      // the flow with the namespace Name is gone
)

// Faults of the way from a contact to the server under test.
const (
	LostInbound      Kind = "lost_inbound"      // the message shows on the phone, no request is made
	DuplicateInbound Kind = "duplicate_inbound" // the same request is made twice at once
)

var (
	inbound = []Kind{LostInbound, DuplicateInbound}
	named   = []Kind{MissingField, MissingFlow}
	kinds   = append([]Kind{Latency, SlowSuccess, Timeout, RateLimited, RefusedKey, ServerError, ServerErrorHTML, Dropped,
		LostAnswer, OKWithError, SilentSuccess, FalseMissing}, append(named, inbound...)...)
)

// Kinds lists every kind.
func Kinds() []Kind { return slices.Clone(kinds) }

// Fault is one thing that goes wrong.
type Fault struct {
	Kind Kind `json:"kind"`
	// Path narrows the fault to a path of the public API (/fb/sending/sendFlow), to
	// the paths below one (/fb/sending/*), or to a family: "sendFlow",
	// "sendContent", "subscriber reads", "subscriber writes", "system field reads",
	// "page reads", "flow reads", "page writes". Empty: all.
	Path        string  `json:"path,omitempty"`
	Contact     string  `json:"contact,omitempty"`     // subscriber id; empty: all
	Name        string  `json:"name,omitempty"`        // of the missing field or flow; required there
	Times       int     `json:"times,omitempty"`       // only the next so many; 0: until the faults change
	Probability float64 `json:"probability,omitempty"` // from 0 to 1; 0 is the same as 1: always
	DelayMS     int     `json:"delay_ms,omitempty"`    // milliseconds, for latency and slow_success
	Status      int     `json:"status,omitempty"`      // instead of 500 or 502
}

// Set is all that goes wrong. Latencies add up; of the other faults that match a
// call, the first one counts. The zero value is a healthy ManyChat.
type Set struct {
	Seed   uint64  `json:"seed,omitempty"`
	Faults []Fault `json:"faults,omitempty"`
}

// Validate says what is wrong with the set.
func (s Set) Validate() error {
	for i, f := range s.Faults {
		if err := f.validate(); err != nil {
			return fmt.Errorf("fault %d: %w", i+1, err)
		}
	}
	return nil
}

func (f Fault) validate() error {
	switch {
	case !slices.Contains(kinds, f.Kind):
		return fmt.Errorf("unknown kind %q", f.Kind)
	case slices.Contains(named, f.Kind) && f.Name == "":
		return fmt.Errorf("%s needs the name of what is missing", f.Kind)
	case f.Probability < 0 || f.Probability > 1:
		return fmt.Errorf("the probability %v is not between 0 and 1", f.Probability)
	case f.Times < 0 || f.DelayMS < 0:
		return fmt.Errorf("times and delay_ms must not be negative")
	case f.Status != 0 && (f.Status < 500 || f.Status > 599):
		return fmt.Errorf("status %d is not 5xx", f.Status)
	case f.Kind == Latency && f.DelayMS == 0:
		return fmt.Errorf("latency needs delay_ms")
	}
	return nil
}
