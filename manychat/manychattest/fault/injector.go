package fault

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"
)

// Injector decides for each call what goes wrong. The zero value lets everything
// pass; it is safe for concurrent use.
type Injector struct {
	mu    sync.Mutex
	set   Set
	used  []int          // how often each fault struck
	calls map[string]int // throws of the dice per fault, path and contact
}

// Set replaces the faults; counts start again.
func (in *Injector) Set(s Set) error {
	if err := s.Validate(); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.set = Set{Seed: s.Seed, Faults: slices.Clone(s.Faults)}
	in.used = make([]int, len(s.Faults))
	in.calls = map[string]int{}
	return nil
}

// Current is the set in force, as it was given.
func (in *Injector) Current() Set {
	in.mu.Lock()
	defer in.mu.Unlock()
	return Set{Seed: in.set.Seed, Faults: slices.Clone(in.set.Faults)}
}

// Call is what a fault is matched with.
type Call struct {
	Path    string
	Family  string
	Contact string
	Names   []string // fields and flows that the call names
}

// Plan is what goes wrong with one call.
type Plan struct {
	Latency time.Duration
	Fault   Fault // the zero Kind: nothing
}

// API decides for a call of the public API.
func (in *Injector) API(c Call) Plan {
	return in.decide(c, func(k Kind) bool { return !slices.Contains(inbound, k) })
}

// Inbound decides for a message of a contact.
func (in *Injector) Inbound(contact string) Plan {
	return in.decide(Call{Contact: contact}, func(k Kind) bool { return slices.Contains(inbound, k) })
}

// Missing reports whether the field or flow is hidden from a block of the contact.
func (in *Injector) Missing(kind Kind, contact, name string) bool {
	c := Call{Contact: contact, Names: []string{name}}
	return in.decide(c, func(k Kind) bool { return k == kind }).Fault.Kind != ""
}

func (in *Injector) decide(c Call, want func(Kind) bool) Plan {
	in.mu.Lock()
	defer in.mu.Unlock()
	var p Plan
	for i, f := range in.set.Faults {
		if !want(f.Kind) || !f.matches(c) || (f.Kind != Latency && p.Fault.Kind != "") {
			continue
		}
		if !in.strikes(i, f, c) {
			continue
		}
		if f.Kind == Latency {
			p.Latency += f.Delay()
		} else {
			p.Fault = f
		}
	}
	return p
}

func (in *Injector) strikes(i int, f Fault, c Call) bool {
	if f.Times > 0 && in.used[i] >= f.Times {
		return false
	}
	if f.Probability > 0 && f.Probability < 1 {
		key := fmt.Sprintf("%d %d %s %s", in.set.Seed, i, c.Path, c.Contact)
		in.calls[key]++
		if dice(key, in.calls[key]) >= f.Probability {
			return false
		}
	}
	in.used[i]++
	return true
}

// dice is a number from 0 to 1 that depends on its arguments alone.
func dice(key string, n int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", key, n)
	x := h.Sum64()
	x ^= x >> 33 // spread the last bytes over the high bits
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

func (f Fault) matches(c Call) bool {
	switch {
	case f.Contact != "" && f.Contact != c.Contact:
		return false
	case f.Name != "" && !slices.ContainsFunc(c.Names, func(n string) bool { return strings.EqualFold(n, f.Name) }):
		return false
	case f.Path == "" || f.Path == c.Path || f.Path == c.Family:
		return true
	}
	prefix, wild := strings.CutSuffix(f.Path, "*")
	return wild && strings.HasPrefix(c.Path, prefix)
}

// Delay is DelayMS, or for a slow success without one 21 s: longer than clients wait
// (platform notes, 2.5).
func (f Fault) Delay() time.Duration {
	if f.DelayMS == 0 && f.Kind == SlowSuccess {
		return 21 * time.Second
	}
	return time.Duration(f.DelayMS) * time.Millisecond
}
