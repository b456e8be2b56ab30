package simtest

import (
	"hash/fnv"
	"math/rand/v2"
	"sync"
	"time"
)

// dice are the chances of a seed. Each kind of event draws from a stream of its own, so that
// a replay meets the same chances whatever order goroutines run in. It is safe for
// concurrent use.
type dice struct {
	seed    uint64
	mu      sync.Mutex
	streams map[string]*rand.Rand
}

func newDice(seed uint64) *dice { return &dice{seed: seed, streams: map[string]*rand.Rand{}} }

// draw lets f draw from a stream; f draws as often as it likes and calls nothing else.
func (d *dice) draw(stream string, f func(*rand.Rand)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r, ok := d.streams[stream]
	if !ok {
		h := fnv.New64a()
		_, _ = h.Write([]byte(stream)) // a hash takes every write
		r = rand.New(rand.NewPCG(d.seed, h.Sum64()))
		d.streams[stream] = r
	}
	f(r)
}

// chance is true with probability p.
func (d *dice) chance(stream string, p float64) (hit bool) {
	d.draw(stream, func(r *rand.Rand) { hit = r.Float64() < p })
	return hit
}

// below is a number from 0 to n-1.
func (d *dice) below(stream string, n int) (drawn int) {
	d.draw(stream, func(r *rand.Rand) { drawn = r.IntN(n) })
	return drawn
}

// span is a time between two, to the nanosecond, so that no two events coincide.
func (d *dice) span(stream string, from, to time.Duration) (drawn time.Duration) {
	d.draw(stream, func(r *rand.Rand) { drawn = between(r, from, to) })
	return drawn
}

func between(r *rand.Rand, from, to time.Duration) time.Duration {
	return from + time.Duration(r.Int64N(int64(to-from)))
}

// at is a number that follows from a name and an instant alone, from 0 to 1. It serves where
// several goroutines may ask at one instant.
func (d *dice) at(name string, now time.Time) float64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name)) // a hash takes every write
	return rand.New(rand.NewPCG(d.seed^uint64(now.UnixNano()), h.Sum64())).Float64()
}

// fresh lets f draw from the beginning of a stream: the same, however often it is asked.
func (d *dice) fresh(stream string, f func(*rand.Rand)) {
	h := fnv.New64a()
	_, _ = h.Write([]byte(stream)) // a hash takes every write
	f(rand.New(rand.NewPCG(d.seed, h.Sum64())))
}
