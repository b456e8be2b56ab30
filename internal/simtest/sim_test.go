package simtest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
)

var (
	one    = flag.Int64("seed", -1, "the one seed to replay, with its trace")
	seeds  = flag.Int("seeds", 20, "how many seeds to play")
	from   = flag.Int("from", 0, "the first of them")
	shard  = flag.Int("shard", 0, "which of the shards to play")
	shards = flag.Int("shards", 1, "into how many shards the seeds are divided")
	twice  = flag.Bool("twice", false, "play each seed twice, and compare")
	counts = flag.Bool("counts", false, "print what happened in all of them")
)

// found are seeds that once broke an invariant; every run plays them.
func found() []int { return []int{4, 13, 22, 30, 51, 53, 193, 1197, 3631, 6012, 9562} }

// Holds docs/spec/17-quality.md, "Reliability": the whole service under seeded faults keeps
// every invariant. A play has one processor: the goroutines of one instant then run in one
// order, nearly always.
func TestSimulation(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	template, err := newTemplate(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	total := map[string]int{}
	for i, seed := range chosen() {
		if i%*shards != *shard {
			continue
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { play(t, template, seed, total) })
	}
	if *counts {
		t.Log(total)
	}
}

// chosen are the seeds to play.
func chosen() (all []int) {
	if *one >= 0 {
		return []int{int(*one)}
	}
	for _, seed := range found() {
		if seed < *from || seed >= *from+*seeds {
			all = append(all, seed)
		}
	}
	for n := range *seeds {
		all = append(all, *from+n)
	}
	return all
}

func play(t *testing.T, template template, seed int, total map[string]int) {
	t.Helper()
	r := Play(t, uint64(seed), template, folder(t))
	for what, n := range r.Counts {
		total[what] += n
	}
	if *twice {
		again := Play(t, uint64(seed), template, folder(t))
		if difference := Diverge(r.Trace, again.Trace); difference != "" {
			t.Errorf("two plays of seed %d differ: %s", seed, difference)
		}
	}
	if *one >= 0 {
		t.Logf("trace %s:\n%s", hashOf(r.Trace), strings.Join(r.Trace, "\n"))
		for name, log := range r.Logs {
			t.Logf("log of %s:\n%s", name, log)
		}
	}
	for _, broken := range r.Broken {
		t.Errorf("seed %d, %s", seed, broken)
	}
	if t.Failed() && *one < 0 {
		t.Logf("replay with: make sim SEED=%d", seed)
	}
}

// folder is a folder for one play: in memory where the machine has such a place, since a play
// commits often.
func folder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("/dev/shm", "play")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) }) // what stays of it ends with the machine
	return folder
}
