package mock

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"
)

// Mode is how the model behaves.
type Mode string

// The modes. OK is the front desk; the others are what a real model can do wrong.
const (
	OK          Mode = "ok"
	Fail        Mode = "fail"         // a server error of the provider
	RateLimit   Mode = "rate_limit"   // the provider asks to come again in a second
	Refuse      Mode = "refuse"       // a refusal without text
	Empty       Mode = "empty"        // an answer without text
	Garbage     Mode = "garbage"      // text that is no reply
	Length      Mode = "length"       // a reply cut off half-way
	Leak        Mode = "leak"         // a reply that quotes the prompt
	InventPrice Mode = "invent_price" // a reply with a price that the catalog does not hold
	InventLink  Mode = "invent_link"  // a reply with a link that neither catalog nor persona holds
	Echo        Mode = "echo"         // a reply that writes one of its fields into a message
	Unsure      Mode = "unsure"       // a reply of little confidence
	TooLong     Mode = "too_long"     // more and longer messages than asked for, all of the catalog
	ToolCall    Mode = "tool_call"    // a call of a tool that was not offered, in every step
	UnknownID   Mode = "unknown_id"   // calls with an id that the tools do not have, in every step
	EveryTool   Mode = "every_tool"   // calls of every tool with everything it takes
	Hang        Mode = "hang"         // no answer until the request is aborted
	Panic       Mode = "panic"
)

// Modes lists every mode, in the order a page may offer them.
func Modes() []Mode {
	return []Mode{OK, Fail, RateLimit, Refuse, Empty, Garbage, Length, Leak, InventPrice, InventLink,
		Echo, Unsure, TooLong, ToolCall, UnknownID, EveryTool, Hang, Panic}
}

// Directive tells the model how to behave from the next request on. As JSON it is
// {"latencyMs": 1500, "mode": "fail", "failTimes": 2}; the zero value is an honest
// model that answers at once.
type Directive struct {
	Latency   time.Duration // wait before anything else, once a turn
	Mode      Mode          // empty: OK
	FailTimes int           // requests that get Mode, then OK; 0: all of them
}

type directiveJSON struct {
	LatencyMs int64 `json:"latencyMs"`
	Mode      Mode  `json:"mode"`
	FailTimes int   `json:"failTimes"`
}

// MarshalJSON writes the latency in whole milliseconds.
func (d Directive) MarshalJSON() ([]byte, error) {
	return json.Marshal(directiveJSON{d.Latency.Milliseconds(), d.Mode, d.FailTimes})
}

// UnmarshalJSON reads what MarshalJSON writes and refuses what [Directive.Validate] does.
func (d *Directive) UnmarshalJSON(b []byte) error {
	var w directiveJSON
	if err := json.Unmarshal(b, &w); err != nil {
		return fmt.Errorf("mock model directive: %w", err)
	}
	read := Directive{time.Duration(w.LatencyMs) * time.Millisecond, w.Mode, w.FailTimes}
	if err := read.Validate(); err != nil {
		return err
	}
	*d = read
	return nil
}

// maxLatency bounds a directive's latency: well past every time limit of a turn.
const maxLatency = 10 * time.Minute

// Validate reports what is wrong with the directive.
func (d Directive) Validate() error {
	switch {
	case d.Mode != "" && !slices.Contains(Modes(), d.Mode):
		return fmt.Errorf("mock model directive: mode %q is not one of %v", d.Mode, Modes())
	case d.Latency < 0 || d.Latency > maxLatency:
		return fmt.Errorf("mock model directive: latency %v is not between 0 and %v", d.Latency, maxLatency)
	case d.FailTimes < 0:
		return fmt.Errorf("mock model directive: failTimes %d is negative", d.FailTimes)
	}
	return nil
}
