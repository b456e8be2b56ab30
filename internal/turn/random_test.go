package turn_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

var (
	seeds = flag.Int("seeds", 40, "how many seeds the random test runs; half as many with a pair of processes")
	twice = flag.Bool("twice", false, "whether the random test plays every seed twice, to see whether it repeats itself")
	seed  = flag.Int("seed", -1, "the one seed that the random test replays, with its trace when it fails")
)

// Holds docs/spec/17-quality.md, "Reliability": turns, outbox and database together,
// on a fake clock, under seeded faults and crashes, keep every invariant of [invariants].
// In every second seed a contact does not wait for an answer before writing again.
func TestRandom(t *testing.T) { runSeeds(t, "TestRandom", false) }

// Holds docs/spec/03-turn.md, "Crash recovery": two processes on one database keep them too,
// when one is killed, or is away for longer than its lease and comes back.
func TestRandomPair(t *testing.T) { runSeeds(t, "TestRandomPair", true) }

func runSeeds(t *testing.T, test string, pair bool) {
	from, to := 0, *seeds
	if pair {
		to = (to + 1) / 2
	}
	if *seed >= 0 {
		from, to = *seed, *seed+1
	}
	for n := from; n < to; n++ {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			runSeed(t, n, pair)
			if t.Failed() {
				t.Logf("replay with: go test ./internal/turn -run '^%s$' -seed %d", test, n)
			}
		})
	}
}

// runSeed plays a seed, and with -twice once more, to say where the two differ.
func runSeed(t *testing.T, n int, pair bool) {
	var first *world
	synctest.Test(t, func(t *testing.T) { first = play(t, n, pair) })
	lines := first.ordered()
	if *seed >= 0 {
		t.Logf("the trace of the seed is %s", digest(lines))
	}
	if len(first.broken) > 0 {
		t.Error(strings.Join(first.broken, "\n"))
		if *seed >= 0 {
			t.Logf("trace:\n%s", strings.Join(lines, "\n"))
		}
	}
	if !*twice {
		return
	}
	var second *world
	synctest.Test(t, func(t *testing.T) { second = play(t, n, pair) })
	if where := diverge(lines, second.ordered()); where != "" {
		t.Errorf("the seed does not repeat itself:\n%s", where)
	}
}

// play plays a seed to its end and looks what is broken.
func play(t *testing.T, n int, pair bool) *world {
	w := newWorld(t, uint64(n), pair)
	w.live(n%2 == 1)
	w.settleDown()
	w.end()
	w.seenOf() // everything that was noted was noted before
	for _, holds := range invariants {
		holds(w)
	}
	return w
}

// seenOf notes how much was seen, under the locks of what was noted: the invariants read
// without.
func (w *world) seenOf() {
	w.phone.mu.Lock()
	seen := len(w.phone.seen)
	w.phone.mu.Unlock()
	w.trace("%d texts were seen", seen)
}

// What a seed plays.
const (
	contacts = 3
	messages = 6 // of each contact
	crashes  = 2 // at most
)

// live lets every contact write, and processes crash meanwhile.
func (w *world) live(impatient bool) {
	for c := range contacts {
		subscriber := fmt.Sprint(900 + c)
		w.going.Go(func() { w.talk(subscriber, impatient) })
	}
	for range w.dice.upTo("crashes", crashes+1) {
		w.awaitCrash()
		w.mishap()
	}
	w.going.Wait()
}

// settleDown waits for what is under way, first among the same faults and then without
// any, so that the longest retry of the outbox comes to its end.
func (w *world) settleDown() {
	time.Sleep(30 * time.Second)
	w.dice.stop()
	for range 400 {
		time.Sleep(3 * time.Second)
		if w.idle() || w.repeatsForEver() {
			return
		}
	}
}

// repeatsForEver looks for a text that arrives again and again, and ends the seed then.
func (w *world) repeatsForEver() bool {
	w.phone.mu.Lock()
	seen := w.phone.count()
	w.phone.mu.Unlock()
	for text, n := range seen {
		if n > oftenAtMost && text != ackCopy {
			w.violate("%q arrived %d times", short(text), n)
			return true
		}
	}
	return false
}

// oftenAtMost is how often a text arrives whatever went wrong.
const oftenAtMost = 8

// end stops the last processes and closes the database.
func (w *world) end() {
	for _, p := range w.living {
		grace, cancel := context.WithTimeout(context.Background(), time.Minute)
		if err := p.runner.Drain(grace); err != nil {
			w.violate("drained: %v", err)
		}
		cancel()
		p.stop()
	}
	synctest.Wait()
	w.read()
	time.Sleep(time.Minute) // what the dead still try ends
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}
