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
	seeds = flag.Int("seeds", 40, "how many seeds the random test runs")
	seed  = flag.Int("seed", -1, "the one seed that the random test replays, with its trace when it fails")
)

// Holds docs/spec/17-quality.md, "Reliability": turns, outbox and database together,
// on a fake clock, under seeded faults and crashes, keep every invariant of [invariants].
// In every second seed a contact does not wait for an answer before writing again.
func TestRandom(t *testing.T) {
	from, to := 0, *seeds
	if *seed >= 0 {
		from, to = *seed, *seed+1
	}
	for n := from; n < to; n++ {
		t.Run(fmt.Sprint("seed ", n), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { runSeed(t, n) })
		})
	}
}

func runSeed(t *testing.T, n int) {
	w := newWorld(t, uint64(n))
	w.live(n%2 == 1)
	w.settleDown()
	w.end()
	w.seenOf() // everything that was noted was noted before
	for _, holds := range invariants {
		holds(w)
	}
	if len(w.broken) == 0 {
		return
	}
	if *seed < 0 {
		t.Errorf("%s\nreplay with: go test ./internal/turn -run TestRandom -seed %d", strings.Join(w.broken, "\n"), n)
		return
	}
	t.Errorf("%s\ntrace:\n%s", strings.Join(w.broken, "\n"), strings.Join(w.lines, "\n"))
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
		w.crash()
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
		if w.idle() {
			return
		}
	}
}

// end stops the last process and closes the database.
func (w *world) end() {
	grace, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := w.process().runner.Drain(grace); err != nil {
		w.violate("drained: %v", err)
	}
	w.process().stop()
	synctest.Wait()
	w.read()
	time.Sleep(time.Minute) // what the dead still try ends
	if err := w.db.Close(); err != nil {
		w.t.Error(err)
	}
}
